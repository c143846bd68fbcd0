// Sums of products of int8 on the processor: the same integers with every instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace gpufilter::lab {

// An engine that multiplies tiles of C. Rows of A are prepared once, B's columns in panels of
// `tile_columns` and at most `max_depth` numbers along k, a multiple of 128 that ends in zeros.
struct IntegerEngine {
  static constexpr std::size_t max_depth = 512;
  static constexpr std::size_t max_tile_rows = 32;
  static constexpr std::size_t max_tile_columns = 64;
  // Room for a panel of B: two bytes for each number, or one and a sum for each column.
  static constexpr std::size_t panel_bytes = 2 * max_depth * max_tile_columns;

  const char* name;
  std::size_t tile_rows;
  std::size_t tile_columns;
  std::size_t bytes_of_a;  // for each number of A, once prepared
  void (*prepare)(const std::int8_t* numbers, std::size_t count, void* prepared);
  // `columns` columns of B, `pitch` apart; the panel's remaining columns are zeros.
  void (*pack)(const std::int8_t* b, std::size_t pitch, std::size_t columns, std::size_t depth,
               void* panel);
  // tile_rows x tile_columns sums. `pitch`: of the prepared rows, in bytes.
  void (*sums)(const void* a, std::size_t pitch, const void* panel, std::size_t depth,
               std::int32_t* sums);
  // Before and after a thread's sums; nullptr: nothing to do.
  void (*begin)();
  void (*end)();
};

// The engines of the instruction set in use that this machine has, the fastest last: plain C++;
// AVX2 and AVX-512 (pairs of int16); VNNI; AMX.
[[nodiscard]] std::vector<const IntegerEngine*> integer_engines();

// The engines written with vectors; the AMX engine, nullptr where the machine or the compiler lacks
// AMX.
[[nodiscard]] std::vector<const IntegerEngine*> vector_engines();
[[nodiscard]] const IntegerEngine* amx_engine();

}  // namespace gpufilter::lab
