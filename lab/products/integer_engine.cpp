#include "lab/products/integer_engine.hpp"

#include <algorithm>
#include <array>

#include "host/instruction_set.hpp"
#include "host/loops.hpp"

namespace gpufilter::lab {
namespace {

using std::size_t;

constexpr size_t plain_rows = 4;
constexpr size_t plain_columns = 16;

void copy_numbers(const std::int8_t* numbers, size_t count, void* prepared) {
  std::copy_n(numbers, count, static_cast<std::int8_t*>(prepared));
}

// The panel's rows one after the other.
void pack_rows(const std::int8_t* b, size_t pitch, size_t columns, size_t depth, void* panel) {
  auto* const to = static_cast<std::int8_t*>(panel);
  for (size_t k = 0; k < depth; ++k) {
    for (size_t n = 0; n < plain_columns; ++n)
      to[k * plain_columns + n] = n < columns ? b[n * pitch + k] : std::int8_t{0};
  }
}

void plain_sums(const void* a, size_t pitch, const void* panel, size_t depth, std::int32_t* sums) {
  std::array<std::array<std::int32_t, plain_columns>, plain_rows> tile{};
  const auto* const rows = static_cast<const std::int8_t*>(a);
  const auto* const b = static_cast<const std::int8_t*>(panel);
  for (size_t k = 0; k < depth; ++k) {
    for (size_t m = 0; m < plain_rows; ++m) {
      const int factor = rows[m * pitch + k];
      for (size_t n = 0; n < plain_columns; ++n)
        tile[m][n] += factor * b[k * plain_columns + n];
    }
  }
  for (size_t m = 0; m < plain_rows; ++m)
    std::copy_n(tile[m].data(), plain_columns, sums + m * plain_columns);
}

constexpr IntegerEngine plain_engine{.name = "plain",
                                     .tile_rows = plain_rows,
                                     .tile_columns = plain_columns,
                                     .bytes_of_a = 1,
                                     .prepare = copy_numbers,
                                     .pack = pack_rows,
                                     .sums = plain_sums,
                                     .begin = nullptr,
                                     .end = nullptr};

}  // namespace

std::vector<const IntegerEngine*> integer_engines() {
  std::vector<const IntegerEngine*> engines{&plain_engine};
  const auto add = [&engines](const IntegerEngine* engine) {
    if (engine != nullptr) engines.push_back(engine);
  };
  const InstructionSet set = instruction_set();
  if (set != InstructionSet::baseline) add(avx2_engine());
  if (set >= InstructionSet::avx512) {
    add(avx512_engine());
    if (set >= InstructionSet::avx512_vnni) add(vnni_engine());
    add(amx_engine());
  }
  return engines;
}

}  // namespace gpufilter::lab
