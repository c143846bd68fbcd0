#include "lab/bench/resource_columns.hpp"

namespace gpufilter::lab {
namespace {

void raise(Row& row, const char* key, std::uint64_t number) {
  const auto value = static_cast<std::int64_t>(number);
  const auto found = row.find(key);
  if (found == row.end() || std::get<std::int64_t>(found->second) < value) row[key] = value;
}

void lower(Row& row, const char* key, std::uint64_t number) {
  const auto value = static_cast<std::int64_t>(number);
  const auto found = row.find(key);
  if (found == row.end() || std::get<std::int64_t>(found->second) > value) row[key] = value;
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
    if (kernel.limits.private_bytes > 0) raise(row, "private_bytes", kernel.limits.private_bytes);
    if (!kernel.compiled) continue;
    raise(row, "registers", kernel.compiled->registers);
    raise(row, "spilled_bytes", kernel.compiled->spilled_bytes);
    if (const auto groups = resident_groups(kernel, kernel.limits.stated_group, registers))
      lower(row, "resident_groups", *groups);
  }
}

}  // namespace gpufilter::lab
