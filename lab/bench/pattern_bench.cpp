// Histograms and prefix sums: patterns in which work-items need each other's results.
#include <algorithm>
#include <array>
#include <numeric>

#include "base/format.hpp"
#include "device/session.hpp"
#include "lab/bench/benches.hpp"
#include "lab/lab_kernels.hpp"
#include "lab/random_data.hpp"

namespace gpufilter::lab {
namespace {

using Numbers = std::vector<std::uint32_t>;

constexpr std::size_t pattern_group = 256;
constexpr std::uint64_t values_for_gpu = std::uint64_t{1} << 24U;
constexpr std::uint64_t values_elsewhere = std::uint64_t{1} << 20U;

Kernel lab_kernel(Session& session, const char* file, const char* function,
                  const std::string& options) {
  return session.make_kernel(
      {.file = file, .function = function, .options = options, .text = lab_kernels().at(file)});
}

void add_pattern(Report& report, const std::string& what, const char* where,
                 const std::string& input, std::size_t count, const Measurement& times,
                 bool equal) {
  Row row{{"method", what},
          {"where", std::string(where)},
          {"input", input},
          {"values", static_cast<std::int64_t>(count)},
          {"gvalues_per_s", static_cast<double>(count) / times.best_clock().mean * 1e-9},
          {"bits", std::string(bits_of(equal))}};
  add_times(row, times);
  report.rows.push_back(std::move(row));
}

Report pattern_report(const TestBed& bed, const std::string& name) {
  Report report = bed.start_report(name);
  report.columns =
      joined({{{"method", "method"}, {"where", "where"}, {"input", "input"}, {"values", ""}},
              time_columns(),
              {{"gvalues_per_s", "Gvalues/s", 3}, {"bits", "bits"}}});
  report.chart = ChartOfBars{.title = "Values per second",
                             .value = "gvalues_per_s",
                             .value_label = "Gvalues/s",
                             .labels = {"method", "input"}};
  return report;
}

std::size_t count_for(const TestBed& bed, const PatternOptions& options) {
  if (options.values > 0) return static_cast<std::size_t>(options.values);
  return has_gpu(bed) ? values_for_gpu : values_elsewhere;
}

Numbers histogram_of(const std::vector<std::uint8_t>& values) {
  Numbers counters(256);
  for (const std::uint8_t value : values)
    ++counters[value];
  return counters;
}

void measure_histogram(const TestBed& bed, const std::vector<std::uint8_t>& values,
                       const std::string& input, Report& report) {
  Numbers expected;
  const auto on_host = measure(bed.trials, [&] { expected = histogram_of(values); });
  add_pattern(report, "one core", on_processor, input, values.size(), on_host, true);
  if (!bed.session) return;
  struct Method {
    const char* name;
    const char* function;
    const char* options;
  };
  Queue queue = bed.session->make_queue();
  const Buffer source = bed.session->allocate(values.size());
  const Buffer counters = bed.session->allocate(1024);
  queue.upload(source, values.data(), values.size());
  const Numbers zeros(256);
  const auto count = static_cast<std::int32_t>(values.size());
  for (const Method& method : {Method{"global atomics", "count_in_global_memory", ""},
                               {"local atomics", "count_in_local_memory", ""},
                               {"8 local copies", "count_in_local_memory", "-D COPIES=8"}}) {
    bed.step(formatted("histogram by {}", method.name));
    const Kernel kernel = lab_kernel(*bed.session, "histogram.cl", method.function, method.options);
    // A work-item takes 64 values, so that merging a group's counters costs little.
    const WorkRange range{values.size() / 64 + 1, 1, pattern_group, 1};
    const auto times = measure(bed.trials, queue, [&] {
      queue.upload(counters, zeros.data(), 1024);
      return std::vector{queue.launch(kernel, range, {source, counters, count})};
    });
    Numbers found(256);
    queue.download(counters, found.data(), 1024);
    queue.finish();
    add_pattern(report, method.name, on_device, input, values.size(), times, found == expected);
  }
}

// Scans in place, level by level: values, totals of groups, totals of these.
class DeviceScan {
 public:
  DeviceScan(Session& session, std::size_t count, const std::string& method)
      : scan_(lab_kernel(session, "scan.cl", "scan_groups", "-D METHOD=" + method)),
        add_(lab_kernel(session, "scan.cl", "add_totals", "")) {
    do {
      counts_.push_back(static_cast<std::int32_t>(count));
      count = (count + pattern_group - 1) / pattern_group;
      totals_.push_back(session.allocate(4 * count));
    } while (count > 1);
  }

  std::vector<Event> enqueue(Queue& queue, const Buffer& values, const Buffer& results) const {
    std::vector<Event> events;
    for (std::size_t i = 0; i < counts_.size(); ++i) {
      const Buffer& from = i == 0 ? values : totals_[i - 1];
      const Buffer& to = i == 0 ? results : totals_[i - 1];
      events.push_back(queue.launch(scan_, range_of(i), {from, to, totals_[i], counts_[i]}));
    }
    for (std::size_t i = counts_.size() - 1; i-- > 0;) {
      const Buffer& to = i == 0 ? results : totals_[i - 1];
      events.push_back(queue.launch(add_, range_of(i), {to, totals_[i], counts_[i]}));
    }
    return events;
  }

 private:
  [[nodiscard]] WorkRange range_of(std::size_t level) const {
    return {static_cast<std::size_t>(counts_[level]), 1, pattern_group, 1};
  }

  Kernel scan_;
  Kernel add_;
  std::vector<std::int32_t> counts_;
  std::vector<Buffer> totals_;
};

void measure_scan(const TestBed& bed, const Numbers& values, Report& report) {
  Numbers expected(values.size());
  const auto on_host = measure(
      bed.trials, [&] { std::inclusive_scan(values.begin(), values.end(), expected.begin()); });
  add_pattern(report, "one core", on_processor, "", values.size(), on_host, true);
  if (!bed.session) return;
  Queue queue = bed.session->make_queue();
  const std::size_t bytes = 4 * values.size();
  const Buffer source = bed.session->allocate(bytes);
  const Buffer target = bed.session->allocate(bytes);
  queue.upload(source, values.data(), bytes);
  for (const auto& [name, method] : {std::pair{"one work-item of a group", "scan_by_one"},
                                     {"doubling", "scan_by_doubling"},
                                     {"tree", "scan_by_tree"}}) {
    bed.step(formatted("scan by {}", name));
    const DeviceScan scan(*bed.session, values.size(), method);
    const auto times =
        measure(bed.trials, queue, [&] { return scan.enqueue(queue, source, target); });
    Numbers found(values.size());
    queue.download(target, found.data(), bytes);
    queue.finish();
    add_pattern(report, name, on_device, "", values.size(), times, found == expected);
  }
}

}  // namespace

Report bench_histogram(const TestBed& bed, const PatternOptions& options) {
  Report report = pattern_report(bed, "histogram");
  std::vector<std::uint8_t> values(count_for(bed, options));
  fill_randomly(values.data(), values.size(), 3);
  measure_histogram(bed, values, "random", report);
  std::ranges::fill(values, std::uint8_t{42});
  measure_histogram(bed, values, "one value", report);
  report.notes.emplace_back(
      "one value: all work-items increment the same counter and wait for each other; with copies "
      "of the counters they wait less");
  return report;
}

Report bench_scan(const TestBed& bed, const PatternOptions& options) {
  Report report = pattern_report(bed, "scan");
  Numbers values(count_for(bed, options));
  fill_randomly(reinterpret_cast<std::uint8_t*>(values.data()), 4 * values.size(), 4);
  measure_scan(bed, values, report);
  report.notes.emplace_back(
      "doubling: log2(256) steps, in which all add; tree: twice as many steps with fewer "
      "additions");
  return report;
}

}  // namespace gpufilter::lab
