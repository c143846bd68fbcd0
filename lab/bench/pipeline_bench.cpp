#include <algorithm>
#include <map>

#include "base/error.hpp"
#include "base/format.hpp"
#include "host/instruction_set.hpp"
#include "lab/bench/benches.hpp"
#include "lab/bench/ceilings.hpp"
#include "lab/bench/report.hpp"
#include "pipeline/choose/dispatcher.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter::lab {
namespace {

struct Run {
  RunReport report;
  std::vector<std::uint8_t> file;
};

Run run_once(const PipelineOptions& options, Dispatcher& dispatcher) {
  Run run;
  RunOptions settings;
  settings.open_output = [&run](const std::string& path) { return memory_sink(run.file, path); };
  run.report = filter_picture(options.input, {"result"}, options.chain, dispatcher, settings);
  return run;
}

// A step of a run: an activity, and for kernels the pass.
struct Step {
  Activity activity;
  int pass;
  auto operator<=>(const Step&) const = default;  // NOLINT(modernize-use-nullptr): a false alarm
};

struct StepWork {
  double seconds = 0;  // in which at least one thread or queue was at it
  double bytes = 0;
};

std::map<Step, StepWork> steps_of(const RunReport& report) {
  std::map<Step, std::vector<const Span*>> spans;
  for (const Span& span : report.spans)
    spans[{span.activity, span.pass}].push_back(&span);
  std::map<Step, StepWork> steps;
  for (auto& [step, all] : spans) {
    std::sort(all.begin(), all.end(),
              [](const Span* a, const Span* b) { return a->start < b->start; });
    Nanoseconds end = INT64_MIN;
    for (const Span* span : all) {
      const Nanoseconds span_end = span->start + span->duration;
      const Nanoseconds begin = std::max(span->start, end);
      if (span_end > begin) steps[step].seconds += static_cast<double>(span_end - begin) * 1e-9;
      end = std::max(end, span_end);
      steps[step].bytes += static_cast<double>(span->bytes);
    }
  }
  return steps;
}

// A device that is the processor is as fast as this program's own loops, whatever its kernels
// reach.
Ceilings measure_ceilings(const TestBed& bed) {
  if (!bed.session) return measure_host_ceilings(bed);
  Ceilings ceilings = measure_device_ceilings(bed);
  if (bed.session->device().kind == DeviceKind::cpu) {
    const Ceilings host = measure_host_ceilings(bed);
    ceilings.copy = std::max(ceilings.copy, host.copy);
    ceilings.operations = std::max(ceilings.operations, host.operations);
  }
  return ceilings;
}

double operations_of(const PassReport& pass) {
  double operations = 0;
  for (const PassWork& work : pass.work)
    operations += operations_in(work.rate) * work.operations;
  return operations;
}

class PipelineTable {
 public:
  PipelineTable(Report& report, const Run& cold, const std::vector<Run>& warm, Ceilings ceilings)
      : report_(report), warm_(warm), ceilings_(ceilings), cold_steps_(steps_of(cold.report)) {
    for (const Run& run : warm)
      warm_steps_.push_back(steps_of(run.report));
  }

  void add_steps() {
    std::map<Step, bool> all;
    for (const auto& [step, work] : cold_steps_)
      all[step] = true;
    for (const auto& [step, seen] : all)
      add_step(step);
  }

  void add_total(const Run& cold, const char* bits) {
    Row row{{"step", std::string("whole run")},
            {"cold_ms", static_cast<double>(cold.report.total) * 1e-6},
            {"bits", std::string(bits)}};
    std::vector<double> seconds;
    for (const Run& run : warm_)
      seconds.push_back(static_cast<double>(run.report.total) * 1e-9);
    add_spread(row, seconds);
    report_.rows.push_back(std::move(row));
  }

 private:
  static void add_spread(Row& row, const std::vector<double>& seconds) {
    const Measurement measurement{spread_of(seconds), std::nullopt};
    add_times(row, measurement);
    row.erase("wall_ms");
  }

  void add_step(const Step& step) {
    const auto& passes = warm_.front().report.passes;
    Row row{{"step", std::string(activity_name(step.activity))}};
    if (step.pass >= 0) {
      const PassReport& pass = passes.at(static_cast<std::size_t>(step.pass));
      row["stage"] = pass.stage;
      row["variant"] = pass.variant;
    }
    row["cold_ms"] = cold_steps_.at(step).seconds * 1e3;
    std::vector<double> seconds;
    double share = 0;
    double bytes = 0;
    for (std::size_t i = 0; i < warm_.size(); ++i) {
      const auto found = warm_steps_[i].find(step);
      const StepWork work = found == warm_steps_[i].end() ? StepWork{} : found->second;
      seconds.push_back(work.seconds);
      share += work.seconds / (static_cast<double>(warm_[i].report.total) * 1e-9);
      bytes = work.bytes;
    }
    add_spread(row, seconds);
    row["share"] = share / static_cast<double>(warm_.size());
    if (bytes > 0) row["mbytes"] = bytes * 1e-6;
    add_floor(row, step, bytes);
    report_.rows.push_back(std::move(row));
  }

  void add_floor(Row& row, const Step& step, double bytes) {
    double floor = 0;
    std::string bound;
    if (step.activity == Activity::kernel && step.pass >= 0) {
      const auto& pass = warm_.front().report.passes.at(static_cast<std::size_t>(step.pass));
      const double operations = operations_of(pass);
      const double by_memory = bytes / ceilings_.copy;
      const double by_arithmetic = operations / ceilings_.operations;
      row["operations_million"] = operations * 1e-6;
      floor = std::max(by_memory, by_arithmetic);
      bound = by_memory >= by_arithmetic ? "memory" : "arithmetic";
    } else if (step.activity == Activity::upload || step.activity == Activity::download) {
      floor = ceilings_.transfer > 0 ? bytes / ceilings_.transfer : 0;
      bound = "transfer";
    } else if (step.activity == Activity::decode || step.activity == Activity::encode) {
      bound = "codec";
    } else {
      bound = "start";
    }
    row["bound"] = bound;
    if (floor <= 0) return;
    row["floor_ms"] = floor * 1e3;
    row["times_floor"] = *number_in(row, "mean_ms") / (floor * 1e3);
  }

  Report& report_;
  const std::vector<Run>& warm_;
  Ceilings ceilings_;
  std::map<Step, StepWork> cold_steps_;
  std::vector<std::map<Step, StepWork>> warm_steps_;
};

std::vector<std::uint8_t> reference_file(const PipelineOptions& options) {
  const InstructionSetInUse baseline(InstructionSet::baseline);
  const auto dispatcher = make_dispatcher("cpu", false, options.chain, default_engine_options());
  return run_once(options, *dispatcher).file;
}

std::vector<Column> pipeline_columns() {
  return {{"step", "step"},
          {"stage", "stage"},
          {"cold_ms", "cold ms", 4},
          {"mean_ms", "warm ms", 4},
          {"min_ms", "min", 4},
          {"max_ms", "max", 4},
          {"deviation_ms", "dev", 2},
          {"share", "of run"},
          {"mbytes", "MB", 4},
          {"operations_million", "Mop", 4},
          {"floor_ms", "floor ms", 3},
          {"times_floor", "x floor"},
          {"bound", "bound by"},
          {"bits", "bits"},
          {"variant", "variant"}};
}

}  // namespace

Report bench_pipeline(const TestBed& bed, const PipelineOptions& options) {
  bed.step("cold run");
  EngineOptions engine = default_engine_options();
  engine.cache.reset();
  const auto dispatcher =
      make_dispatcher(options.device, options.require_device, options.chain, engine);
  const Run cold = run_once(options, *dispatcher);
  std::vector<Run> warm;
  for (int i = 0; i < bed.trials; ++i) {
    bed.step(formatted("warm run {} of {}", i + 1, bed.trials));
    warm.push_back(run_once(options, *dispatcher));
  }
  dispatcher->await_starts();
  bed.step("reference");
  const std::vector<std::uint8_t> reference = reference_file(options);
  const bool equal =
      cold.file == reference &&
      std::all_of(warm.begin(), warm.end(), [&](const Run& run) { return run.file == reference; });

  bed.step("ceilings");
  const EngineReport& used = warm.back().report.engine;
  const bool on_host = used.platform.empty();
  TestBed ceilings_bed = make_test_bed(on_host ? "cpu" : used.device, false);
  ceilings_bed.trials = bed.trials;
  Report report = ceilings_bed.start_report("pipeline");
  const Ceilings ceilings = measure_ceilings(ceilings_bed);
  if (ceilings_bed.session) ceilings_bed.session->keep_programs();
  report.columns = pipeline_columns();
  const RunReport& last = warm.back().report;
  report.parameters.push_back(
      {"picture", formatted("{}, {}x{}, {}", options.input, last.size.width, last.size.height,
                            to_string(last.input_pixel))});
  report.parameters.push_back({"filtered by", formatted("{} ({})", used.device, used.reason)});
  add_ceilings(report, ceilings);
  report.chart = ChartOfBars{.title = "From file to file",
                             .value = "mean_ms",
                             .value_label = "ms of a warm run",
                             .labels = {"step", "stage"},
                             .mark = "floor_ms",
                             .mark_label = "floor: bytes over bandwidth, operations over rate"};
  PipelineTable table(report, cold, warm, ceilings);
  table.add_steps();
  table.add_total(cold, bits_of(equal));
  report.notes.emplace_back(
      "cold: the first run, which finds and starts devices and compiles programs; warm: later "
      "runs");
  report.notes.emplace_back(
      "steps overlap, so their shares of the run may add up to more than 1; a step's time counts "
      "while at least one thread or queue works on it");
  report.notes.emplace_back(
      "floor: the time at the rates of a copy in memory and of the fastest matrix product; work "
      "that stays in caches can be faster");
  report.notes.emplace_back(
      "bits: the whole file is compared with that of the processor's baseline");
  return report;
}

}  // namespace gpufilter::lab
