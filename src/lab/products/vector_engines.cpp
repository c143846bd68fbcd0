// Tiles of sums by AVX2, AVX-512 and VNNI.
//
// AVX2's vpmaddubsw adds pairs of products in int16, which saturates: 2 x 128 x 128 does not fit.
// So AVX2 and plain AVX-512 multiply pairs of int16, whose sums are int32. VNNI multiplies unsigned
// by signed bytes and adds four products to an int32: A is stored with 128 added, and 128 x the sum
// of each column of B is subtracted in advance.
#include <algorithm>

#include "lab/products/integer_engine.hpp"

#ifdef __x86_64__
#include <immintrin.h>

#include "host/loops.hpp"

namespace gpufilter::lab {
namespace {

using std::size_t;

void widen_numbers(const std::int8_t* numbers, size_t count, void* prepared) {
  std::copy_n(numbers, count, static_cast<std::int16_t*>(prepared));
}

// Pairs of numbers along k, for one column after the other.
template <size_t width>
void pack_pairs(const std::int8_t* b, size_t pitch, size_t columns, size_t depth, void* panel) {
  auto* const to = static_cast<std::int16_t*>(panel);
  for (size_t n = 0; n < width; ++n) {
    for (size_t k = 0; k < depth; ++k)
      to[k / 2 * 2 * width + n * 2 + k % 2] = n < columns ? b[n * pitch + k] : std::int8_t{0};
  }
}

constexpr size_t avx2_rows = 4;
constexpr size_t avx2_columns = 16;

[[gnu::target("avx2")]] void avx2_sums(const void* a, size_t pitch, const void* panel, size_t depth,
                                       std::int32_t* sums) {
  const auto* const rows = static_cast<const char*>(a);
  const auto* b = static_cast<const __m256i*>(panel);
  __m256i tile[avx2_rows][2] = {};
  for (size_t k = 0; k < depth; k += 2, b += 2) {
    const __m256i left = _mm256_loadu_si256(b);
    const __m256i right = _mm256_loadu_si256(b + 1);
    for (size_t m = 0; m < avx2_rows; ++m) {
      const __m256i pair = _mm256_set1_epi32(load<std::int32_t>(rows + m * pitch + 2 * k));
      tile[m][0] = _mm256_add_epi32(tile[m][0], _mm256_madd_epi16(pair, left));
      tile[m][1] = _mm256_add_epi32(tile[m][1], _mm256_madd_epi16(pair, right));
    }
  }
  for (size_t m = 0; m < avx2_rows; ++m) {
    for (size_t v = 0; v < 2; ++v) {
      void* const to = sums + m * avx2_columns + 8 * v;
      _mm256_storeu_si256(static_cast<__m256i*>(to), tile[m][v]);
    }
  }
}

constexpr size_t wide_rows = 6;
constexpr size_t wide_columns = 64;
constexpr size_t wide_vectors = wide_columns / 16;

[[gnu::target("avx512f,avx512bw")]] void avx512_sums(const void* a, size_t pitch, const void* panel,
                                                     size_t depth, std::int32_t* sums) {
  const auto* const rows = static_cast<const char*>(a);
  const auto* b = static_cast<const char*>(panel);
  __m512i tile[wide_rows][wide_vectors] = {};
  for (size_t k = 0; k < depth; k += 2, b += 4 * wide_columns) {
    __m512i columns[wide_vectors];
    for (size_t v = 0; v < wide_vectors; ++v)
      columns[v] = _mm512_loadu_si512(b + 64 * v);
    for (size_t m = 0; m < wide_rows; ++m) {
      const __m512i pair = _mm512_set1_epi32(load<std::int32_t>(rows + m * pitch + 2 * k));
      for (size_t v = 0; v < wide_vectors; ++v)
        tile[m][v] = _mm512_add_epi32(tile[m][v], _mm512_madd_epi16(pair, columns[v]));
    }
  }
  for (size_t m = 0; m < wide_rows; ++m) {
    for (size_t v = 0; v < wide_vectors; ++v)
      _mm512_storeu_si512(sums + m * wide_columns + 16 * v, tile[m][v]);
  }
}

void add_128(const std::int8_t* numbers, size_t count, void* prepared) {
  auto* const to = static_cast<std::uint8_t*>(prepared);
  for (size_t i = 0; i < count; ++i)
    to[i] = static_cast<std::uint8_t>(static_cast<std::uint8_t>(numbers[i]) ^ 0x80U);
}

// -128 x the sum of each column, then fours of numbers along k, for one column after the other.
void pack_fours(const std::int8_t* b, size_t pitch, size_t columns, size_t depth, void* panel) {
  auto* const corrections = static_cast<std::int32_t*>(panel);
  auto* const to = static_cast<std::int8_t*>(panel) + wide_columns * sizeof(std::int32_t);
  for (size_t n = 0; n < wide_columns; ++n) {
    std::int32_t sum = 0;
    for (size_t k = 0; k < depth; k += 4) {
      const auto four = n < columns ? load<std::int32_t>(b + n * pitch + k) : 0;
      store(to + k * wide_columns + 4 * n, four);
      if (four == 0) continue;
      for (size_t i = 0; i < 4; ++i)
        sum += b[n * pitch + k + i];
    }
    corrections[n] = -128 * sum;
  }
}

[[gnu::target("avx512f,avx512bw,avx512vnni")]] void vnni_sums(const void* a, size_t pitch,
                                                              const void* panel, size_t depth,
                                                              std::int32_t* sums) {
  const auto* const rows = static_cast<const char*>(a);
  const auto* b = static_cast<const char*>(panel);
  __m512i tile[wide_rows][wide_vectors];
  for (size_t m = 0; m < wide_rows; ++m) {
    for (size_t v = 0; v < wide_vectors; ++v)
      tile[m][v] = _mm512_loadu_si512(b + 64 * v);
  }
  b += 4 * wide_columns;
  for (size_t k = 0; k < depth; k += 4, b += 4 * wide_columns) {
    __m512i columns[wide_vectors];
    for (size_t v = 0; v < wide_vectors; ++v)
      columns[v] = _mm512_loadu_si512(b + 64 * v);
    for (size_t m = 0; m < wide_rows; ++m) {
      const __m512i four = _mm512_set1_epi32(load<std::int32_t>(rows + m * pitch + k));
      for (size_t v = 0; v < wide_vectors; ++v)
        tile[m][v] = _mm512_dpbusd_epi32(tile[m][v], four, columns[v]);
    }
  }
  for (size_t m = 0; m < wide_rows; ++m) {
    for (size_t v = 0; v < wide_vectors; ++v)
      _mm512_storeu_si512(sums + m * wide_columns + 16 * v, tile[m][v]);
  }
}

constexpr IntegerEngine avx2{.name = "avx2",
                             .tile_rows = avx2_rows,
                             .tile_columns = avx2_columns,
                             .bytes_of_a = 2,
                             .prepare = widen_numbers,
                             .pack = pack_pairs<avx2_columns>,
                             .sums = avx2_sums,
                             .begin = nullptr,
                             .end = nullptr};
constexpr IntegerEngine avx512{.name = "avx512",
                               .tile_rows = wide_rows,
                               .tile_columns = wide_columns,
                               .bytes_of_a = 2,
                               .prepare = widen_numbers,
                               .pack = pack_pairs<wide_columns>,
                               .sums = avx512_sums,
                               .begin = nullptr,
                               .end = nullptr};
constexpr IntegerEngine vnni{.name = "vnni",
                             .tile_rows = wide_rows,
                             .tile_columns = wide_columns,
                             .bytes_of_a = 1,
                             .prepare = add_128,
                             .pack = pack_fours,
                             .sums = vnni_sums,
                             .begin = nullptr,
                             .end = nullptr};

}  // namespace

const IntegerEngine* avx2_engine() {
  return &avx2;
}
const IntegerEngine* avx512_engine() {
  return &avx512;
}
const IntegerEngine* vnni_engine() {
  return __builtin_cpu_supports("avx512vnni") ? &vnni : nullptr;
}

}  // namespace gpufilter::lab

#else

namespace gpufilter::lab {

const IntegerEngine* avx2_engine() {
  return nullptr;
}
const IntegerEngine* avx512_engine() {
  return nullptr;
}
const IntegerEngine* vnni_engine() {
  return nullptr;
}

}  // namespace gpufilter::lab
#endif
