#include "lab/bench/measurement.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "base/time_units.hpp"

namespace gpufilter::lab {
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

}  // namespace gpufilter::lab
