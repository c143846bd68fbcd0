#include "lab/bench/report.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <numeric>

#include "base/timeline.hpp"

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

namespace {

// The distance from |number| to the next float above it.
double ulp_at(double number) {
  constexpr int precision = std::numeric_limits<float>::digits;
  constexpr int smallest = std::numeric_limits<float>::min_exponent;
  const int exponent = number == 0 ? smallest : std::max(std::ilogb(number) + 1, smallest);
  return std::ldexp(1.0, exponent - precision);
}

}  // namespace

LargestErrors largest_errors(std::span<const float> found, std::span<const double> expected) {
  constexpr double infinity = std::numeric_limits<double>::infinity();
  LargestErrors errors;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double number = found[i];
    const double right = expected[i];
    if (number == right || (std::isnan(number) && std::isnan(right))) continue;
    if (!std::isfinite(number) || !std::isfinite(right)) return {infinity, infinity, infinity};
    const double error = std::abs(number - right);
    errors.absolute = std::max(errors.absolute, error);
    if (right != 0) errors.relative = std::max(errors.relative, error / std::abs(right));
    errors.ulp = std::max(errors.ulp, error / ulp_at(right));
  }
  return errors;
}

std::vector<Column> error_columns() {
  return {{"max_absolute_error", "abs error", 3},
          {"max_relative_error", "rel error", 3},
          {"max_ulp_error", "ulp error", 3}};
}

void add_errors(Row& row, const LargestErrors& errors) {
  row["max_absolute_error"] = errors.absolute;
  row["max_relative_error"] = errors.relative;
  row["max_ulp_error"] = errors.ulp;
}

namespace {

// The minimum length of a trial on the host: shorter work is repeated.
constexpr double shortest_trial = 2e-3;
constexpr int max_repetitions = 10000;
// The maximum time of all trials on the host together; the first one always runs to its end.
constexpr double longest_measurement = 5;

double time_of(const std::function<void()>& work, int repetitions) {
  const Nanoseconds start = now();
  for (int i = 0; i < repetitions; ++i)
    work();
  return seconds(now() - start) / repetitions;
}

double time_on_device(const std::vector<Event>& events) {
  Nanoseconds start = INT64_MAX;
  Nanoseconds end = 0;
  for (const Event& event : events) {
    const Event::Times times = event.times();
    start = std::min(start, times.start);
    end = std::max(end, times.start + times.duration);
  }
  return seconds(end - start);
}

}  // namespace

Spread spread_of(std::span<const double> seconds) {
  const auto count = static_cast<double>(seconds.size());
  Spread spread;
  spread.mean = std::accumulate(seconds.begin(), seconds.end(), 0.0) / count;
  spread.minimum = *std::min_element(seconds.begin(), seconds.end());
  spread.maximum = *std::max_element(seconds.begin(), seconds.end());
  double squares = 0;
  for (const double each : seconds)
    squares += (each - spread.mean) * (each - spread.mean);
  spread.deviation = seconds.size() > 1 ? std::sqrt(squares / (count - 1)) : 0;
  return spread;
}

Measurement measure(int trials, const std::function<void()>& work) {
  const double first = time_of(work, 1);
  const double affordable = longest_measurement / std::max(first, 1e-9) - 1;
  if (affordable < 1) return {spread_of(std::array{first}), std::nullopt, 1};
  trials = static_cast<int>(std::min<double>(affordable, trials));
  const double wanted = std::ceil(shortest_trial / std::max(first, 1e-9));
  const int repetitions =
      first < shortest_trial ? static_cast<int>(std::min<double>(wanted, max_repetitions)) : 1;
  std::vector<double> times;
  times.reserve(static_cast<std::size_t>(trials));
  for (int i = 0; i < trials; ++i)
    times.push_back(time_of(work, repetitions));
  return {spread_of(times), std::nullopt, trials};
}

Measurement measure(int trials, Queue& queue, const QueuedWork& work) {
  static_cast<void>(work());
  queue.finish();
  std::vector<double> wall;
  std::vector<double> events;
  for (int i = 0; i < trials; ++i) {
    const Nanoseconds start = now();
    const std::vector<Event> commands = work();
    queue.finish();
    wall.push_back(seconds(now() - start));
    events.push_back(time_on_device(commands));
  }
  return {spread_of(wall), spread_of(events), trials};
}

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
