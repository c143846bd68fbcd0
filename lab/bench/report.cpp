#include "lab/bench/report.hpp"

#include <algorithm>

namespace gpufilter::lab {

const char* bits_of(bool equal) {
  return equal ? bits_equal : bits_differ;
}

bool Report::failed() const {
  return std::any_of(rows.begin(), rows.end(), [](const Row& row) {
    const auto bits = row.find("bits");
    return bits != row.end() && bits->second == Value(std::string(bits_differ));
  });
}

std::vector<Column> joined(std::initializer_list<std::vector<Column>> parts) {
  std::vector<Column> columns;
  for (const std::vector<Column>& part : parts)
    columns.insert(columns.end(), part.begin(), part.end());
  return columns;
}

std::vector<Column> time_columns() {
  return {{"mean_ms", "mean ms", 4},  {"min_ms", "min", 4},      {"max_ms", "max", 4},
          {"deviation_ms", "dev", 2}, {"wall_ms", "wall ms", 4}, {"trials", ""}};
}

void add_times(Row& row, const Measurement& measurement) {
  const Spread& spread = measurement.best_clock();
  row["mean_ms"] = 1e3 * spread.mean;
  row["min_ms"] = 1e3 * spread.minimum;
  row["max_ms"] = 1e3 * spread.maximum;
  row["deviation_ms"] = 1e3 * spread.deviation;
  row["wall_ms"] = 1e3 * measurement.wall.mean;
  row["trials"] = std::int64_t{measurement.trials};
}

std::optional<double> number_in(const Row& row, const std::string& key) {
  const auto found = row.find(key);
  if (found == row.end()) return std::nullopt;
  if (const auto* number = std::get_if<double>(&found->second)) return *number;
  if (const auto* number = std::get_if<std::int64_t>(&found->second))
    return static_cast<double>(*number);
  return std::nullopt;
}

}  // namespace gpufilter::lab
