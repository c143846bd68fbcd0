#include <algorithm>
#include <array>
#include <limits>

#include "base/format.hpp"
#include "base/words.hpp"
#include "host/arithmetic.hpp"
#include "host/loops.hpp"
#include "lab/bench/benches.hpp"
#include "lab/lab_kernels.hpp"

namespace gpufilter::lab {
namespace {

// Different chains, as in parallel.cl.
constexpr std::size_t chains = 1024;
// Enough steps that starting a work-item takes little of its time.
constexpr std::int32_t steps_on_gpus = 4096;
constexpr std::int32_t steps_elsewhere = 512;
// The share of the highest rate that marks the bend of a curve.
constexpr double bend = 0.5;

struct Chain {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(float* number, std::int32_t steps) {
    float value = *number;
    for (std::int32_t step = 0; step < steps; ++step)
      value = fused_multiply_add<set>(value, 0.75F, 0.5F);
    *number = value;
  }
};

float chain(std::size_t number, std::int32_t steps) {
  float value = 1 + static_cast<float>(number) * 0x1p-10F;
  run_loop<Chain>(&value, steps);
  return value;
}

class ParallelBench {
 public:
  ParallelBench(const TestBed& bed, const ParallelOptions& options, Report& report)
      : bed_(bed),
        options_(options),
        report_(report),
        steps_(has_gpu(bed) ? steps_on_gpus : steps_elsewhere) {
    for (std::size_t i = 0; i < chains; ++i)
      expected_.push_back(chain(i, steps_));
  }

  void run() {
    measure_host();
    if (!bed_.session) return;
    for (const int group_size : options_.group_sizes) {
      if (bed_.session->device().fits(static_cast<std::size_t>(group_size), 1, 0)) {
        measure_groups(group_size);
      } else {
        report_.notes.push_back(formatted(
            "groups of {} are left out: {} takes at most {} work-items in a group", group_size,
            bed_.session->device().name, bed_.session->device().max_work_group_size));
      }
    }
  }

  [[nodiscard]] std::int32_t steps() const { return steps_; }

 private:
  Row& add_row(const std::string& kernel, const char* where, int items,
               const Measurement& measurement, bool equal) {
    const double rate = 2.0 * items * steps_ / measurement.best_clock().mean;
    Row row{{"kernel", kernel},
            {"where", std::string(where)},
            {"items", std::int64_t{items}},
            {"gflops", rate * 1e-9},
            {"bits", std::string(bits_of(equal))}};
    if (one_core_ == 0) one_core_ = rate;
    row["speed_up_core"] = rate / one_core_;
    add_times(row, measurement);
    return report_.rows.emplace_back(std::move(row));
  }

  void measure_host() {
    bed_.step("one chain by the processor");
    float found = 0;
    const auto times = measure(bed_.trials, [&] { found = chain(0, steps_); });
    add_row("one core", on_processor, 1, times, found == expected_.front());
  }

  [[nodiscard]] Kernel make_kernel(bool counts) const {
    return bed_.session->make_kernel({.file = "parallel.cl",
                                      .function = "chains",
                                      .options = formatted("-D COUNT_GROUPS={}", counts ? 1 : 0),
                                      .text = lab_kernels().at("parallel.cl")});
  }

  void measure_groups(int group_size) {
    const Kernel kernel = make_kernel(false);
    const Kernel counting = make_kernel(true);
    double highest = 0;
    std::vector<std::pair<int, double>> curve;
    std::int64_t resident = 0;
    for (const int items : options_.items) {
      bed_.step(formatted("{} work-items in groups of {}", items, group_size));
      const double rate = measure_items(kernel, counting, group_size, items, resident);
      curve.emplace_back(items, rate);
      highest = std::max(highest, rate);
    }
    const auto bent = std::find_if(curve.begin(), curve.end(), [highest](const auto& point) {
      return point.second >= bend * highest;
    });
    report_.notes.push_back(
        formatted("groups of {}: from {} on at least half of the highest rate; at most {} in "
                  "progress at once",
                  group_size, counted(bent->first, "work-item"), counted(resident, "group")));
  }

  // Returns the rate; `resident` becomes the number of groups in progress if there are more.
  double measure_items(const Kernel& kernel, const Kernel& counting, int group_size, int items,
                       std::int64_t& resident) {
    const auto count = static_cast<std::size_t>(items);
    const auto group = static_cast<std::size_t>(group_size);
    std::vector<float> found(count, std::numeric_limits<float>::quiet_NaN());
    std::array<std::int32_t, 2> groups{};
    Queue queue = bed_.session->make_queue();
    const Buffer results = bed_.session->allocate(count * sizeof(float));
    const Buffer counters = bed_.session->allocate(sizeof groups);
    queue.upload(results, found.data(), count * sizeof(float));
    queue.upload(counters, groups.data(), sizeof groups);
    const auto launch = [&](const Kernel& which) {
      return queue.launch(which, {count, 1, group, 1}, {results, items, steps_, counters});
    };
    launch(counting);
    queue.download(counters, groups.data(), sizeof groups);
    queue.upload(results, found.data(), count * sizeof(float));
    queue.finish();
    const Measurement times =
        measure(bed_.trials, queue, [&] { return std::vector{launch(kernel)}; });
    queue.download(results, found.data(), count * sizeof(float));
    queue.finish();
    bool equal = true;
    for (std::size_t i = 0; i < count; ++i)
      equal = equal && found[i] == expected_[i % chains];
    Row& row = add_row(formatted("groups of {}", group_size), on_device, items, times, equal);
    row["groups"] = static_cast<std::int64_t>((count + group - 1) / group);
    row["groups_at_once"] = std::int64_t{groups[1]};
    resident = std::max<std::int64_t>(resident, groups[1]);
    return *number_in(row, "gflops");
  }

  const TestBed& bed_;
  const ParallelOptions& options_;
  Report& report_;
  std::int32_t steps_;
  std::vector<float> expected_;
  double one_core_ = 0;  // operations per second
};

}  // namespace

Report bench_parallel(const TestBed& bed, const ParallelOptions& options) {
  Report report = bed.start_report("parallel");
  report.columns =
      joined({{{"kernel", "work"},
               {"where", "where"},
               {"items", "work-items"},
               {"groups", "groups"},
               {"groups_at_once", "at once"}},
              time_columns(),
              {{"gflops", "GFLOPS", 4}, {"speed_up_core", "x one core"}, {"bits", "bits"}}});
  report.chart =
      ChartOfLines{"Work-items that fill a device", "items", "gflops", "work-items", "GFLOPS"};
  ParallelBench bench(bed, options, report);
  bench.run();
  report.parameters.push_back({"steps", std::int64_t{bench.steps()}});
  report.notes.push_back(
      formatted("each work-item computes a chain of {} multiply-adds, each of which needs the one "
                "before",
                bench.steps()));
  if (bed.session) {
    report.notes.emplace_back(
        "at once: work-groups in progress at the same time, counted in another run by a kernel "
        "that also counts");
  }
  return report;
}

}  // namespace gpufilter::lab
