// Tiles of sums by AMX: registers of 16 rows of 64 bytes.
#include <algorithm>

#include "host/amx.hpp"
#include "lab/products/integer_engine.hpp"

#ifdef GPUFILTER_HAS_AMX
#include <immintrin.h>

namespace gpufilter::lab {
namespace {

using std::size_t;

constexpr size_t tile_side = 16;   // rows of a register, and numbers of int32 in a row
constexpr size_t tile_depth = 64;  // bytes in a row
constexpr size_t amx_rows = 2 * tile_side;
constexpr size_t amx_columns = 2 * tile_side;

void configure() {
  configure_amx({});
}

void copy_numbers(const std::int8_t* numbers, size_t count, void* prepared) {
  std::copy_n(numbers, count, static_cast<std::int8_t*>(prepared));
}

// Packs the columns of two registers, one after the other, in groups of four values along k.
void pack_tiles(const std::int8_t* b, size_t pitch, size_t columns, size_t depth, void* panel) {
  auto* const to = static_cast<std::int8_t*>(panel);
  for (size_t n = 0; n < amx_columns; ++n) {
    std::int8_t* const column = to + n / tile_side * depth * tile_side + n % tile_side * 4;
    for (size_t k = 0; k < depth; k += 4) {
      if (n < columns) {
        std::copy_n(b + n * pitch + k, 4, column + k * tile_side);
      } else {
        std::fill_n(column + k * tile_side, 4, std::int8_t{0});
      }
    }
  }
}

[[gnu::target("amx-tile,amx-int8")]] void amx_sums(const void* a, size_t pitch, const void* panel,
                                                   size_t depth, std::int32_t* sums) {
  const auto* const upper = static_cast<const std::int8_t*>(a);
  const std::int8_t* const lower = upper + tile_side * pitch;
  const auto* const left = static_cast<const std::int8_t*>(panel);
  const std::int8_t* const right = left + depth * tile_side;
  _tile_zero(0);
  _tile_zero(1);
  _tile_zero(2);
  _tile_zero(3);
  for (size_t k = 0; k < depth; k += tile_depth) {
    _tile_loadd(4, upper + k, pitch);
    _tile_loadd(5, lower + k, pitch);
    _tile_loadd(6, left + k * tile_side, tile_depth);
    _tile_loadd(7, right + k * tile_side, tile_depth);
    _tile_dpbssd(0, 4, 6);
    _tile_dpbssd(1, 4, 7);
    _tile_dpbssd(2, 5, 6);
    _tile_dpbssd(3, 5, 7);
  }
  constexpr size_t row = amx_columns * sizeof(std::int32_t);
  _tile_stored(0, sums, row);
  _tile_stored(1, sums + tile_side, row);
  _tile_stored(2, sums + tile_side * amx_columns, row);
  _tile_stored(3, sums + tile_side * amx_columns + tile_side, row);
}

constexpr IntegerEngine amx{.name = "amx",
                            .tile_rows = amx_rows,
                            .tile_columns = amx_columns,
                            .bytes_of_a = 1,
                            .prepare = copy_numbers,
                            .pack = pack_tiles,
                            .sums = amx_sums,
                            .begin = configure,
                            .end = release_amx};

}  // namespace

const IntegerEngine* amx_engine() {
  return amx_permitted() ? &amx : nullptr;
}

}  // namespace gpufilter::lab

#else

namespace gpufilter::lab {

const IntegerEngine* amx_engine() {
  return nullptr;
}

}  // namespace gpufilter::lab
#endif
