#include "lab/bench/resource_columns.hpp"

#include <functional>

namespace gpufilter::lab {
namespace {

// Stores the number, unless the row has one that does not come before it in this order.
template <typename Order = std::less<>>
void store_last(Row& row, const char* key, std::uint64_t number, Order order = {}) {
  const auto value = static_cast<std::int64_t>(number);
  const auto found = row.find(key);
  if (found == row.end() || order(std::get<std::int64_t>(found->second), value)) row[key] = value;
}

}  // namespace

std::vector<Column> resource_columns() {
  return {{"registers", "registers"},
          {"spilled_bytes", "spilled"},
          {"private_bytes", "private"},
          {"resident_groups", "groups a unit"}};
}

void add_resources(Row& row, const std::vector<KernelFigures>& kernels, std::uint64_t registers) {
  for (const KernelFigures& kernel : kernels) {
    if (kernel.limits.private_bytes > 0)
      store_last(row, "private_bytes", kernel.limits.private_bytes);
    if (!kernel.compiled) continue;
    store_last(row, "registers", kernel.compiled->registers);
    store_last(row, "spilled_bytes", kernel.compiled->spilled_bytes);
    if (const auto groups = resident_groups(kernel, kernel.limits.stated_group, registers))
      store_last(row, "resident_groups", *groups, std::greater<>());
  }
}

}  // namespace gpufilter::lab
