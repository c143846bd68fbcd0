#include <algorithm>
#include <cstring>
#include <limits>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/threads.hpp"
#include "host/instruction_set.hpp"
#include "lab/bench/benches.hpp"
#include "lab/bench/ceilings.hpp"
#include "lab/bench/report.hpp"
#include "lab/random_data.hpp"
#include "pipeline/execute/band_executor.hpp"

namespace gpufilter::lab {
namespace {

constexpr ImageSize size_for_gpu{8192, 8192};
constexpr ImageSize size_elsewhere{2048, 1536};

// If a loop of the processor would take longer than this for the whole picture, it gets only the
// first rows, and the reference is computed for as many rows at the top and at the bottom.
constexpr double longest_trial = 0.4;  // seconds
constexpr int minimum_rows = 16;

// Compares these rows, without the padding between them.
bool same_pixels(const Image& a, const Image& b, const RowRange& rows) {
  for (int y = rows.begin; y < rows.end; ++y) {
    if (std::memcmp(a.rows().row(y), b.rows().row(y), a.rows().row_bytes()) != 0) return false;
  }
  return true;
}

// Fills these rows of the result.
using FilterRows = std::function<void(const RowRange&)>;

// How many rows of `height` take `seconds`, from some that are measured.
int rows_within(double seconds, int height, const FilterRows& filter) {
  for (int rows = minimum_rows;; rows *= 2) {
    rows = std::min(rows, height);
    const Nanoseconds begin = now();
    filter({0, rows});
    const double taken = std::max(1e-9, static_cast<double>(now() - begin) * 1e-9);
    if (rows == height && taken < seconds) return height;
    if (rows < height && taken < seconds / 8) continue;
    const double wanted = std::max<double>(minimum_rows, rows * seconds / taken);
    return static_cast<int>(std::min<double>(height, wanted));
  }
}

// The chain on the processor, planned with the instruction set in use.
class HostFilter {
 public:
  HostFilter(const Image& picture, const LoweredChain& chain, Image& target)
      : picture_(picture),
        target_(target),
        plan_(make_plan({picture.size(), picture.format()}, chain,
                        {.band_rows = target.size().height})),
        executor_(make_host_executor(plan_, &timeline_)) {}

  void operator()(const RowRange& rows) {
    executor_->run(picture_.rows().part(plan_.windows(rows).front()), target_.rows().part(rows));
  }

 private:
  const Image& picture_;
  Image& target_;
  Plan plan_;
  Timeline timeline_;
  std::unique_ptr<BandExecutor> executor_;
};

// All cases for pictures of one format.
class FormatBench {
 public:
  FormatBench(const TestBed& bed, ImageSize size, const PixelFormat& format, Report& report)
      : bed_(bed),
        report_(report),
        picture_(random_picture(size, format)),
        copies_(measure_copies(bed, picture_.bytes() / 16 * 16)) {}

  void run(const std::vector<StageCase>& cases) {
    std::set<std::string> measured;
    const PictureShape shape{picture_.size(), picture_.format()};
    const auto no_metadata = std::make_shared<Metadata>();
    for (const StageCase& each : cases) {
      chain_ = lower_chain({each.stage}, {.shape = shape, .metadata = no_metadata});
      const PictureShape result = output_of(chain_, shape);
      target_ = Image(result.size, result.format);
      if (measured.insert(each.name).second) {
        measure_host(each);
      }
      if (bed_.session) measure_device(each);
    }
  }

  [[nodiscard]] const CopyRates& copies() const { return copies_; }

 private:
  // All rows of the result.
  [[nodiscard]] RowRange all_rows() const { return {0, target_.size().height}; }

  void poison() { std::memset(target_.rows().data, 0xab, target_.bytes()); }

  // Whether these rows of the result are the reference's, where that was made.
  [[nodiscard]] bool equals_reference(const RowRange& rows) const {
    return std::all_of(reference_rows_.begin(), reference_rows_.end(), [&](const RowRange& made) {
      return same_pixels(target_, reference_,
                         {std::max(made.begin, rows.begin), std::min(made.end, rows.end)});
    });
  }

  // Adds the result for the first `rows` rows.
  void add_row(const StageCase& each, const std::string& kernel, const char* where,
               const std::string& variant, const Measurement& measurement, double ceiling,
               int rows) {
    const auto pixels = static_cast<double>(ImageSize{target_.width(), rows}.pixels());
    const double moved = pixels * static_cast<double>(picture_.format().bytes_per_pixel() +
                                                      target_.format().bytes_per_pixel());
    const double seconds = measurement.best_clock().mean;
    Row row{{"stage", each.name},
            {"kernel", kernel},
            {"where", std::string(where)},
            {"variant", variant},
            {"format", to_string(picture_.format())},
            {"width", std::int64_t{target_.size().width}},
            {"height", std::int64_t{rows}},
            {"gbytes_per_s", moved / seconds * 1e-9},
            {"gpixels_per_s", pixels / seconds * 1e-9},
            {"share_of_copy", moved / seconds / ceiling},
            {"bits", std::string(bits_of(equals_reference({0, rows})))}};
    row["operations_a_pixel"] = operations_a_pixel();
    if (each.operations_a_pixel > 0)
      row["gflops"] = 2 * each.operations_a_pixel * pixels / seconds * 1e-9;
    add_times(row, measurement);
    report_.rows.push_back(std::move(row));
  }

  // Of the result, a multiply-add counted once.
  [[nodiscard]] double operations_a_pixel() const {
    double operations = 0;
    PictureShape shape{picture_.size(), picture_.format()};
    for (const LoweredStage& stage : chain_) {
      for (const auto& step : steps_of(stage, nullptr)) {
        const StageCost cost = step->cost(shape.format);
        shape = step->output(shape);
        operations += operations_in(cost.rate) * cost.operations_a_pixel *
                      static_cast<double>(shape.size.pixels());
      }
    }
    return operations / static_cast<double>(target_.size().pixels());
  }

  // The reference is computed with the baseline.
  void measure_host(const StageCase& each) {
    make_reference(each);
    for (const InstructionSet set : available_instruction_sets()) {
      const InstructionSetInUse in_use(set);
      const ThreadLimit limit(1);
      measure_set(each, formatted("one core, {}", to_string(set)), copies_.one_core);
    }
    measure_set(each, "all cores", copies_.all_cores);
  }

  // Computes the reference with the baseline.
  void make_reference(const StageCase& each) {
    bed_.step(formatted("{}, {}: reference", each.name, to_string(picture_.format())));
    const InstructionSetInUse baseline(InstructionSet::baseline);
    HostFilter filter(picture_, chain_, target_);
    const int height = target_.size().height;
    const int rows = rows_within(2 * longest_trial, height, std::ref(filter));
    const int half = (rows + 1) / 2;
    reference_rows_ = rows == height ? std::vector{all_rows()}
                                     : std::vector<RowRange>{{0, half}, {height - half, height}};
    for (const RowRange& range : reference_rows_)
      filter(range);
    reference_ = std::move(target_);
    target_ = Image(reference_.size(), reference_.format());
    if (rows == height) return;
    report_.notes.push_back(
        formatted("{}: bits are compared in {} of {} rows, at the top and at "
                  "the bottom",
                  each.name, 2 * half, height));
  }

  void measure_set(const StageCase& each, const std::string& kernel, double ceiling) {
    bed_.step(formatted("{}, {}: {}", each.name, to_string(picture_.format()), kernel));
    poison();
    const int height = target_.size().height;
    HostFilter filter(picture_, chain_, target_);
    const int rows = rows_within(longest_trial, height, std::ref(filter));
    const Measurement measurement = measure(bed_.trials, [&] { filter({0, rows}); });
    add_row(each, kernel, on_processor, std::string(to_string(instruction_set())), measurement,
            ceiling, rows);
    if (rows == height) return;
    report_.notes.push_back(
        formatted("{}, {}: times are those of {} of {} rows", each.name, kernel, rows, height));
  }

  void measure_device(const StageCase& each) {
    bed_.step(formatted("{}, {}: {}", each.name, to_string(picture_.format()), each.kernel));
    Session& session = *bed_.session;
    const std::vector<Pass> passes = passes_on(session.device());
    for (const Pass& pass : passes) {
      const std::string& reason = pass.properties.processor_only;
      if (reason.empty()) continue;
      report_.notes.push_back(formatted("{}: only on the processor; {}", each.name, reason));
      return;
    }
    std::vector<PreparedStep> steps;
    static_cast<void>(take_made_kernels());
    try {
      steps = prepared_steps(passes, session);
    } catch (const UsageError& error) {
      report_.notes.emplace_back(error.what());
      return;
    }
    Queue queue = session.make_queue();
    const Buffer from = session.allocate(picture_.bytes() + row_slack);
    poison();
    queue.upload(from, picture_.rows().data, picture_.bytes());
    queue.upload(steps.back().result, target_.rows().data, target_.bytes());
    queue.finish();
    const Measurement measurement =
        measure(bed_.trials, queue, [&] { return enqueued(steps, queue, from); });
    queue.download(steps.back().result, target_.rows().data, target_.bytes());
    queue.finish();
    std::vector<std::string> variants;
    for (const PreparedStep& step : steps)
      variants.push_back(step.pass->description().variant);
    add_row(each, each.kernel, on_device, formatted("{}", fmt::join(variants, "; ")), measurement,
            copies_.device, all_rows().count());
    add_resources(report_.rows.back(), take_made_kernels(), registers_of(session.device()));
  }

  // A kernel of a stage, and the memory of its result.
  struct PreparedStep {
    std::unique_ptr<DevicePass> pass;
    Buffer result;
    int rows = 0;
  };

  // Each step separately: none is merged or left out.
  [[nodiscard]] std::vector<Pass> passes_on(const DeviceInfo& device) const {
    std::vector<Pass> passes;
    PictureShape shape{picture_.size(), picture_.format()};
    for (const LoweredStage& stage : chain_) {
      for (const auto& step : steps_of(stage, &device))
        shape = passes.emplace_back(step, shape, &device).output;
    }
    return passes;
  }

  static std::vector<PreparedStep> prepared_steps(const std::vector<Pass>& passes,
                                                  Session& session) {
    std::vector<PreparedStep> steps;
    for (const Pass& pass : passes) {
      const std::size_t bytes =
          row_pitch(pass.output) * static_cast<std::size_t>(pass.output.size.height);
      steps.push_back({pass.step->prepare(session, pass.input), session.allocate(bytes + row_slack),
                       pass.output.size.height});
    }
    return steps;
  }

  std::vector<Event> enqueued(const std::vector<PreparedStep>& steps, Queue& queue,
                              const Buffer& from) const {
    std::vector<Event> events;
    DeviceRows source{&from, {0, picture_.size().height}, 0};
    for (const PreparedStep& step : steps) {
      const DeviceRows target{&step.result, {0, step.rows}, 0};
      for (Event& event : step.pass->enqueue(queue, source, target))
        events.push_back(std::move(event));
      source = target;
    }
    return events;
  }

  const TestBed& bed_;
  Report& report_;
  LoweredChain chain_;  // of the case
  Image picture_;
  Image reference_;
  std::vector<RowRange> reference_rows_;  // those that the reference has
  Image target_;
  CopyRates copies_;
};

std::vector<Column> stage_columns() {
  return joined({{{"stage", "stage"},
                  {"kernel", "kernel"},
                  {"where", "where"},
                  {"format", "format"},
                  {"width", ""},
                  {"height", ""},
                  {"operations_a_pixel", ""}},
                 time_columns(),
                 {{"gbytes_per_s", "GB/s", 4},
                  {"gpixels_per_s", "Gpx/s"},
                  {"share_of_copy", "of copy"},
                  {"gflops", "GFLOPS", 4},
                  {"bits", "bits"}},
                 resource_columns(),
                 {{"variant", "variant"}}});
}

}  // namespace

Report bench_stages(const TestBed& bed, const std::string& bench, const PictureOptions& pictures,
                    const std::vector<StageCase>& cases) {
  Report report = bed.start_report(bench);
  report.columns = stage_columns();
  ImageSize size = pictures.size;
  if (size.pixels() == 0) size = has_gpu(bed) ? size_for_gpu : size_elsewhere;
  report.parameters.push_back({"picture", formatted("{}x{}", size.width, size.height)});
  ChartOfBars chart{.title = formatted("{}, pictures of {}x{}", bench, size.width, size.height),
                    .value = "gpixels_per_s",
                    .value_label = "Gpx/s",
                    .labels = {"stage", "format", "kernel"}};
  for (const int depth : pictures.depths) {
    for (const int channels : pictures.channels) {
      const PixelFormat format{channels, depth};
      FormatBench formats(bed, size, format, report);
      formats.run(cases);
      const CopyRates& copies = formats.copies();
      report.notes.push_back(
          formatted("copy of a picture, {}: one core {:.1f} GB/s, all cores {:.1f}{}",
                    to_string(format), copies.one_core * 1e-9, copies.all_cores * 1e-9,
                    bed.session ? formatted(", device {:.1f}", copies.device * 1e-9) : ""));
      if (!bed.session || pictures.depths.size() * pictures.channels.size() > 1) continue;
      chart.ceiling = copies.device * 0.5e-9 / static_cast<double>(format.bytes_per_pixel());
      chart.ceiling_label = "copy on the device";
    }
  }
  report.chart = chart;
  report.notes.emplace_back(
      "GB/s: pixels read and pixels written, once each; bits: compared with the baseline");
  return report;
}

namespace {

// For the axis.
double of_two_digits(double value) {
  return std::stod(formatted("{:.2g}", value));
}

LineChart::Line roof_of(const Ceilings& ceilings, const std::string& where, double low,
                        double high) {
  const double ridge = of_two_digits(ceilings.operations / ceilings.copy);
  LineChart::Line line{formatted("roof of the {}", where), {}, where == on_processor};
  for (const double x :
       {of_two_digits(std::min(low, ridge)), ridge, of_two_digits(std::max(high, ridge))})
    line.points.push_back({x, std::min(x * ceilings.copy, ceilings.operations) * 1e-9});
  return line;
}

}  // namespace

Report bench_roofline(const TestBed& bed, const PictureOptions& pictures,
                      const std::vector<StageCase>& cases) {
  std::map<std::string, Ceilings> ceilings{{on_processor, measure_host_ceilings(bed)}};
  const bool is_gpu = has_gpu(bed);
  if (is_gpu) ceilings[on_device] = measure_device_ceilings(bed);
  Report report = bench_stages(bed, "roofline", pictures, cases);
  report.columns = joined({{{"stage", "stage"}, {"where", "where"}, {"format", "format"}},
                           time_columns(),
                           {{"operations_a_byte", "op/byte"},
                            {"goperations_per_s", "Gop/s", 4},
                            {"share_of_roof", "of roof"},
                            {"bound", "bound by"},
                            {"bits", "bits"},
                            {"variant", "variant"}}});
  std::erase_if(report.rows, [](const Row& row) {
    return std::get<std::string>(row.at("kernel")).starts_with("one core");
  });
  LineChart chart{{report.bench + ": what limits each stage", "", "operations a byte", "Gop/s"},
                  {}};
  double low = std::numeric_limits<double>::infinity(), high = 0;
  for (Row& row : report.rows) {
    const std::string where = std::get<std::string>(row.at("where"));
    const Ceilings& limits = ceilings.at(is_gpu ? where : on_processor);
    const double rate = *number_in(row, "operations_a_pixel") * *number_in(row, "gpixels_per_s");
    const double intensity = rate / *number_in(row, "gbytes_per_s");
    const bool by_memory = intensity * limits.copy < limits.operations;
    row["operations_a_byte"] = intensity;
    row["goperations_per_s"] = rate;
    row["share_of_roof"] = rate * 1e9 / std::min(intensity * limits.copy, limits.operations);
    row["bound"] = std::string(by_memory ? "memory" : "arithmetic");
    if (intensity <= 0) continue;
    low = std::min(low, intensity);
    high = std::max(high, intensity);
    chart.lines.push_back({formatted("{}, {}", std::get<std::string>(row.at("stage")), where),
                           {{of_two_digits(intensity), rate}}});
  }
  for (const auto& [where, limits] : ceilings) {
    report.notes.push_back(formatted("roof of the {}: {:.1f} GB/s, {:.1f} Gop/s", where,
                                     limits.copy * 1e-9, limits.operations * 1e-9));
    if (high > 0) chart.lines.push_back(roof_of(limits, where, low / 2, high * 2));
  }
  if (bed.session && !is_gpu)
    report.notes.emplace_back("the device is the processor, and has its roof");
  report.notes.emplace_back(
      "roof: the lower of a copy's bytes times op/byte, and of the multiply-adds of the fastest "
      "matrix product of floats; what stays in caches, or computes with bytes, may be above it; "
      "comparisons and table look-ups are no operations");
  if (!chart.lines.empty()) report.chart = chart;
  return report;
}

}  // namespace gpufilter::lab
