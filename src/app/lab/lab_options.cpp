#include "app/lab/lab_options.hpp"

#include <algorithm>

#include <unistd.h>

#include "app/cli/parse.hpp"
#include "app/cli/shared_options.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/words.hpp"
#include "device/device_choice.hpp"
#include "device/pocl.hpp"
#include "lab/bench/report.hpp"
#include "lab/stage_samples.hpp"
#include "pipeline/choose/dispatcher.hpp"

namespace gpufilter {
namespace {

constexpr int max_trials = 10000;
constexpr int max_threads_to_measure = 1024;

// The requested device, or the processor alone and the reason.
lab::TestBed test_bed_of(const BenchOptions& options) {
  // 'auto' is for whole runs; here a particular device is measured.
  const bool any = options.device == "auto" || options.device == "all";
  lab::TestBed bed = lab::make_test_bed(any ? "opencl" : options.device, options.require_device);
  const bool asked_for = options.device != BenchOptions{}.device;
  if (!bed.fallback.empty() && asked_for) {
    log::warn_of_fallback(
        formatted("{} (see 'gpufilter devices'); only the processor is measured", bed.fallback));
  }
  bed.trials = options.trials;
  if (!options.quiet && isatty(STDERR_FILENO) == 1)
    bed.on_step = [](const std::string& what) { log::show_status(what); };
  return bed;
}

using lab::Grouping;

constexpr int max_groups = 256;

}  // namespace

std::optional<int> BenchCommand::parse(int argc, const char* const* argv) {
  app.add_option("--trials", options.trials, "Measured runs, after a warm-up run.")
      ->check(whole_number(1, max_trials))
      ->option_text(formatted("N [{}]", options.trials));
  const bool is_whole_run = options.device == "auto";
  add_device_choice(
      app, options.device, options.require_device,
      {.automatic = is_whole_run ? "whatever finishes first" : "the best OpenCL device",
       .has_all = is_whole_run});
  app.add_option("--threads", options.threads, "Threads of the rows that use all cores.")
      ->check(whole_number(1, max_threads_to_measure))
      ->option_text(formatted("N [{}]", available_cores()))
      ->portable_text("N [all cores]");
  auto* json = app.add_flag("--json", options.json, "Print one JSON object.");
  app.add_option("--columns", options.columns,
                 "The columns of the table or of CSV, by their names in CSV.")
      ->comma_list()
      ->option_text("NAME,...")
      ->excludes(json);
  app.add_flag("--csv", options.csv, "Print CSV, a line for each row.")->excludes(json);
  add_plot(app, options.plot, "Draw a chart into this SVG file.");
  app.add_flag("-q,--quiet", options.quiet, "Do not show what is being measured.");
  add_color_output(app);
  return parse_command_line(app, argc, argv);
}

void add_numbers(Arguments& app, const std::string& name, std::vector<int>& numbers,
                 const ValueCheck& check, const std::string& help) {
  app.add_option(name, numbers, help)
      ->comma_list()
      ->check(check)
      ->option_text(formatted("N,... [{}]", fmt::join(numbers, ",")));
}

int BenchCommand::finish(const std::function<lab::Report(const lab::TestBed&)>& measure) const {
  const auto plot = open_drawing(options.plot, "--plot", "SVG");
  const auto limit = options.threads > 0
                         ? std::make_unique<ThreadLimit>(static_cast<std::size_t>(options.threads))
                         : nullptr;
  if (options.threads > 0) limit_pocl_threads(options.threads);
  const lab::TestBed bed = test_bed_of(options);
  lab::Report report = measure(bed);
  log::show_status("");
  if (!options.columns.empty()) lab::choose_columns(report, options.columns);
  const std::string date = lab::date_now();
  if (plot) write_plot(*plot, lab::bench_chart(report, date));
  if (options.json || options.csv) {
    print_document(options.json ? lab::bench_json(report, date) : lab::bench_csv(report, date));
  } else {
    print_result(lab::bench_text(report, date));
  }
  if (bed.session) bed.session->keep_programs();
  if (!report.failed()) return 0;
  log::error("a result differs from the reference: see the column 'bits'");
  return 1;
}

void add_number_types(Arguments& app, std::vector<std::string>& types) {
  app.add_option("--type", types,
                 formatted("Types of the numbers: {}.", enumerated(lab::names_of_types(), "and")))
      ->comma_list()
      ->check(one_of(lab::names_of_types()))
      ->option_text(formatted("TYPE,... [{}]",
                              types.empty() ? "all" : formatted("{}", fmt::join(types, ","))));
}

LowPrecisionOptions::LowPrecisionOptions(Arguments& app) {
  add_number_types(app, types_);
  app.add_option(
         "--grouped", grouping_,
         "Several products in one launch. contiguous: A's rows are divided among the groups. "
         "masked: each group has an A of its own, with some rows in use.")
      ->check(one_of({"contiguous", "masked"}))
      ->option_text("contiguous|masked");
  app.add_option("--groups", groups_, "Groups for --grouped. Each has a B of its own.")
      ->check(whole_number(1, max_groups))
      ->option_text(formatted("N [{}]", groups_));
}

bool LowPrecisionOptions::is_requested() const {
  return grouping_ != "dense" || types_ != std::vector<std::string>{"float32"};
}

lab::LowMatmulOptions LowPrecisionOptions::chosen(const Arguments& app,
                                                  const std::vector<int>& sides,
                                                  const std::vector<MatrixShape>& shapes) const {
  for (const char* other : {"--tile", "--plain", "--show", "--explain", "--layout"}) {
    if (app.count(other) == 0) continue;
    throw UsageError(
        formatted("bench matmul: {} is for --type float32 alone, without --grouped", other));
  }
  lab::LowMatmulOptions options;
  options.types = lab::number_types_of(types_);
  options.shapes = shapes;
  if (app.count("--sizes") > 0) {
    for (const int side : sides)
      options.shapes.push_back({side, side, side});
  }
  if (grouping_ != "dense") {
    options.grouping = grouping_ == "masked" ? Grouping::masked : Grouping::contiguous;
    options.groups = groups_;
  } else if (app.count("--groups") > 0) {
    throw UsageError("bench matmul: --groups is for --grouped");
  }
  return options;
}

void add_devices_choice(Arguments& app, std::string& device, bool has_processor) {
  std::vector<std::string> words{"all", "gpu", "opencl"};
  if (has_processor) words.emplace_back("cpu");
  app.add_option("--device", device,
                 formatted("Which devices: all (every OpenCL device), {}gpu, opencl, an index or "
                           "part of a name from 'gpufilter devices'.",
                           has_processor ? "cpu (only the processor), " : ""))
      ->envname("GPUFILTER_DEVICE")
      ->option_text("DEVICE [all]")
      ->suggests({.words = words, .devices = true});
}

void add_stage_names(Arguments& app, std::vector<std::string>& stages, const std::string& verb) {
  app.add_option(
         "STAGE", stages,
         formatted("{} only these stages: {}.", verb, enumerated(lab::stage_names(), "and")))
      ->check(one_of(lab::stage_names()))
      ->option_text("...");
}

void add_formats_choice(Arguments& app, std::optional<int>& channels, std::optional<int>& depth) {
  app.add_option("--channels", channels, "Only pictures with this many channels.")
      ->check(whole_number(1, 4))
      ->option_text("1..4");
  app.add_option("--depth", depth, "Only pictures with this many bits per sample.")
      ->check(one_of({"8", "16"}))
      ->option_text("8|16");
}

std::vector<std::shared_ptr<Session>> start_devices(const std::string& request) {
  if (request == "cpu") return {};
  const EngineOptions options = default_engine_options();
  const std::vector<DeviceInfo> devices = device_catalog().find_all();
  std::vector<std::shared_ptr<Session>> sessions;
  if (request != "all" && request != "auto") {
    const auto chosen = choose_devices(request, true, devices, node_variables());
    sessions.push_back(start_session(*chosen.front().device, options));
    return sessions;
  }
  for (const DeviceInfo& device : devices) {
    try {
      sessions.push_back(start_session(device, options));
    } catch (const DeviceError& error) {
      log::warn(error.what());
    }
  }
  return sessions;
}

}  // namespace gpufilter
