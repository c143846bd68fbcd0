// Tiles of sums by AVX2, AVX-512 and VNNI.
//
// AVX2's vpmaddubsw adds pairs of products in int16, which saturates: 2 x 128 x 128 does not fit.
// So AVX2 and plain AVX-512 multiply pairs of int16, whose sums are int32. VNNI multiplies unsigned
// by signed bytes and adds four products to an int32: A is stored with 128 added, and 128 x the sum
// of each column of B is subtracted in advance.
#include <algorithm>

#include "host/vectors.hpp"
#include "lab/products/integer_engine.hpp"

namespace gpufilter::lab {
namespace {

using std::size_t;

void widen_numbers(const std::int8_t* numbers, size_t count, void* prepared) {
  std::copy_n(numbers, count, static_cast<std::int16_t*>(prepared));
}

template <InstructionSet set>
constexpr size_t tile_rows = set == InstructionSet::avx2 ? 4 : 6;
template <InstructionSet set>
constexpr size_t tile_vectors = set == InstructionSet::avx2 ? 2 : 4;
template <InstructionSet set>
constexpr size_t tile_columns = tile_vectors<set>* count_of<Vector<std::int32_t, set>>;

// Packs pairs of values along k, column by column.
template <size_t width>
void pack_pairs(const std::int8_t* b, size_t pitch, size_t columns, size_t depth, void* panel) {
  auto* const to = static_cast<std::int16_t*>(panel);
  for (size_t n = 0; n < width; ++n) {
    for (size_t k = 0; k < depth; ++k)
      to[k / 2 * 2 * width + n * 2 + k % 2] = n < columns ? b[n * pitch + k] : std::int8_t{0};
  }
}

void add_128(const std::int8_t* numbers, size_t count, void* prepared) {
  auto* const to = static_cast<std::uint8_t*>(prepared);
  for (size_t i = 0; i < count; ++i)
    to[i] = static_cast<std::uint8_t>(static_cast<std::uint8_t>(numbers[i]) ^ 0x80U);
}

constexpr size_t wide_columns = tile_columns<InstructionSet::avx512_vnni>;

// Packs -128 x the sum of each column, then groups of four values along k, column by column.
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

struct TileLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const void* a, size_t pitch, const void* panel,
                                         size_t depth, std::int32_t* sums) {
    using Ints = Vector<std::int32_t, set>;
    constexpr size_t rows = tile_rows<set>;
    constexpr size_t vectors = tile_vectors<set>;
    const auto* row = static_cast<const char*>(a);
    const auto* b = static_cast<const char*>(panel);
    Ints tile[rows][vectors] = {};
    if constexpr (has_fours<set>) {
#pragma GCC unroll 6
      for (auto& of_row : tile)
        get(b, of_row);
      b += sizeof tile[0];
    }
    for (size_t k = 0; k < depth; k += has_fours<set> ? 4 : 2, b += sizeof tile[0], row += 4) {
      Ints columns[vectors];
      get(b, columns);
#pragma GCC unroll 6
      for (size_t y = 0; y < rows; ++y) {
        const auto factors = everywhere<Ints>(load<std::int32_t>(row + y * pitch));
#pragma GCC unroll 4
        for (size_t n = 0; n < vectors; ++n) {
          if constexpr (has_fours<set>) {
            tile[y][n] = plus_fours<set>(tile[y][n], factors, columns[n]);
          } else {
            tile[y][n] = plus_pairs<set>(tile[y][n], as<std::int16_t>(factors),
                                         as<std::int16_t>(columns[n]));
          }
        }
      }
    }
#pragma GCC unroll 6
    for (size_t y = 0; y < rows; ++y) {
#pragma GCC unroll 4
      for (size_t n = 0; n < vectors; ++n)
        store(sums + y * tile_columns<set> + n * count_of<Ints>, tile[y][n]);
    }
  }

  template <typename Ints, size_t vectors>
  [[gnu::always_inline]] static void get(const char* from, Ints (&to)[vectors]) {
#pragma GCC unroll 4
    for (size_t n = 0; n < vectors; ++n)
      to[n] = load<Ints>(from + n * sizeof(Ints));
  }
};

template <InstructionSet set>
constexpr IntegerEngine engine_of(const char* name) {
  return {
      .name = name,
      .tile_rows = tile_rows<set>,
      .tile_columns = tile_columns<set>,
      .bytes_of_a = has_fours<set> ? 1 : 2,
      .prepare = has_fours<set> ? add_128 : widen_numbers,
      .pack = has_fours<set> ? pack_fours : pack_pairs<tile_columns<set>>,
      .sums = loop_for<set, TileLoop, const void*, size_t, const void*, size_t, std::int32_t*>(),
      .begin = nullptr,
      .end = nullptr};
}

constexpr IntegerEngine avx2 = engine_of<InstructionSet::avx2>("avx2");
constexpr IntegerEngine avx512 = engine_of<InstructionSet::avx512>("avx512");
constexpr IntegerEngine vnni = engine_of<InstructionSet::avx512_vnni>("vnni");

}  // namespace

std::vector<const IntegerEngine*> vector_engines() {
  const InstructionSet set = instruction_set();
  std::vector<const IntegerEngine*> engines;
  if (set >= InstructionSet::avx2) engines.push_back(&avx2);
  if (set >= InstructionSet::avx512) engines.push_back(&avx512);
  if (set >= InstructionSet::avx512_vnni) engines.push_back(&vnni);
  return engines;
}

}  // namespace gpufilter::lab
