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

// Rows of sums are structures, not arrays: GCC keeps arrays in memory.
struct NarrowRow {
  __m256i left, right;
};

[[gnu::target("avx2"), gnu::always_inline]] inline void add_pairs(NarrowRow& row, const char* a,
                                                                  const NarrowRow& b) {
  const __m256i pair = _mm256_set1_epi32(load<std::int32_t>(a));
  row.left = _mm256_add_epi32(row.left, _mm256_madd_epi16(pair, b.left));
  row.right = _mm256_add_epi32(row.right, _mm256_madd_epi16(pair, b.right));
}

[[gnu::target("avx2"), gnu::always_inline]] inline void put(const NarrowRow& row, void* to) {
  auto* const vectors = static_cast<__m256i*>(to);
  _mm256_storeu_si256(vectors, row.left);
  _mm256_storeu_si256(vectors + 1, row.right);
}

[[gnu::target("avx2")]] void avx2_sums(const void* a, size_t pitch, const void* panel, size_t depth,
                                       std::int32_t* sums) {
  const auto* row = static_cast<const char*>(a);
  const auto* b = static_cast<const __m256i*>(panel);
  NarrowRow row0{}, row1{}, row2{}, row3{};
  for (size_t k = 0; k < depth; k += 2, b += 2, row += 4) {
    const NarrowRow columns{_mm256_loadu_si256(b), _mm256_loadu_si256(b + 1)};
    add_pairs(row0, row, columns);
    add_pairs(row1, row + pitch, columns);
    add_pairs(row2, row + 2 * pitch, columns);
    add_pairs(row3, row + 3 * pitch, columns);
  }
  put(row0, sums);
  put(row1, sums + avx2_columns);
  put(row2, sums + 2 * avx2_columns);
  put(row3, sums + 3 * avx2_columns);
}

#define GPUFILTER_AVX512 "avx512f,avx512bw"
#define GPUFILTER_VNNI "avx512f,avx512bw,avx512vnni"

constexpr size_t wide_rows = 6;
constexpr size_t wide_columns = 64;

struct WideRow {
  __m512i v0, v1, v2, v3;
};

[[gnu::target(GPUFILTER_AVX512), gnu::always_inline]] inline WideRow get(const void* from) {
  const auto* const vectors = static_cast<const __m512i*>(from);
  return {_mm512_loadu_si512(vectors), _mm512_loadu_si512(vectors + 1),
          _mm512_loadu_si512(vectors + 2), _mm512_loadu_si512(vectors + 3)};
}

[[gnu::target(GPUFILTER_AVX512), gnu::always_inline]] inline void put(const WideRow& row,
                                                                      void* to) {
  auto* const vectors = static_cast<__m512i*>(to);
  _mm512_storeu_si512(vectors, row.v0);
  _mm512_storeu_si512(vectors + 1, row.v1);
  _mm512_storeu_si512(vectors + 2, row.v2);
  _mm512_storeu_si512(vectors + 3, row.v3);
}

[[gnu::target(GPUFILTER_AVX512), gnu::always_inline]] inline void add_pairs(WideRow& row,
                                                                            const char* a,
                                                                            const WideRow& b) {
  const __m512i pair = _mm512_set1_epi32(load<std::int32_t>(a));
  row.v0 = _mm512_add_epi32(row.v0, _mm512_madd_epi16(pair, b.v0));
  row.v1 = _mm512_add_epi32(row.v1, _mm512_madd_epi16(pair, b.v1));
  row.v2 = _mm512_add_epi32(row.v2, _mm512_madd_epi16(pair, b.v2));
  row.v3 = _mm512_add_epi32(row.v3, _mm512_madd_epi16(pair, b.v3));
}

[[gnu::target(GPUFILTER_AVX512)]] void avx512_sums(const void* a, size_t pitch, const void* panel,
                                                   size_t depth, std::int32_t* sums) {
  const auto* row = static_cast<const char*>(a);
  const auto* b = static_cast<const char*>(panel);
  WideRow row0{}, row1{}, row2{}, row3{}, row4{}, row5{};
  for (size_t k = 0; k < depth; k += 2, b += 4 * wide_columns, row += 4) {
    const WideRow columns = get(b);
    add_pairs(row0, row, columns);
    add_pairs(row1, row + pitch, columns);
    add_pairs(row2, row + 2 * pitch, columns);
    add_pairs(row3, row + 3 * pitch, columns);
    add_pairs(row4, row + 4 * pitch, columns);
    add_pairs(row5, row + 5 * pitch, columns);
  }
  put(row0, sums);
  put(row1, sums + wide_columns);
  put(row2, sums + 2 * wide_columns);
  put(row3, sums + 3 * wide_columns);
  put(row4, sums + 4 * wide_columns);
  put(row5, sums + 5 * wide_columns);
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

[[gnu::target(GPUFILTER_VNNI), gnu::always_inline]] inline void add_fours(WideRow& row,
                                                                          const char* a,
                                                                          const WideRow& b) {
  const __m512i four = _mm512_set1_epi32(load<std::int32_t>(a));
  row.v0 = _mm512_dpbusd_epi32(row.v0, four, b.v0);
  row.v1 = _mm512_dpbusd_epi32(row.v1, four, b.v1);
  row.v2 = _mm512_dpbusd_epi32(row.v2, four, b.v2);
  row.v3 = _mm512_dpbusd_epi32(row.v3, four, b.v3);
}

[[gnu::target(GPUFILTER_VNNI)]] void vnni_sums(const void* a, size_t pitch, const void* panel,
                                               size_t depth, std::int32_t* sums) {
  const auto* row = static_cast<const char*>(a);
  const auto* b = static_cast<const char*>(panel);
  const WideRow corrections = get(b);
  b += 4 * wide_columns;
  WideRow row0 = corrections, row1 = corrections, row2 = corrections, row3 = corrections,
          row4 = corrections, row5 = corrections;
  for (size_t k = 0; k < depth; k += 4, b += 4 * wide_columns, row += 4) {
    const WideRow columns = get(b);
    add_fours(row0, row, columns);
    add_fours(row1, row + pitch, columns);
    add_fours(row2, row + 2 * pitch, columns);
    add_fours(row3, row + 3 * pitch, columns);
    add_fours(row4, row + 4 * pitch, columns);
    add_fours(row5, row + 5 * pitch, columns);
  }
  put(row0, sums);
  put(row1, sums + wide_columns);
  put(row2, sums + 2 * wide_columns);
  put(row3, sums + 3 * wide_columns);
  put(row4, sums + 4 * wide_columns);
  put(row5, sums + 5 * wide_columns);
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
  return &vnni;
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
