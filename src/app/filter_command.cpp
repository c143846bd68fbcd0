#include "app/filter_command.hpp"

#include <filesystem>
#include <memory>
#include <new>

#include <unistd.h>

#include "app/batch_command.hpp"
#include "app/filter_options.hpp"
#include "app/lasting_dispatcher.hpp"
#include "app/parse.hpp"
#include "app/paths.hpp"
#include "app/progress.hpp"
#include "app/timing_report.hpp"
#include "app/trace_file.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/thread_limit.hpp"
#include "device/pocl_environment.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

// Where the picture goes: a folder stands for the input's name in it.
std::string output_path(const FilterOptions& options) {
  if (!is_folder(options.output)) {
    if (options.output.ends_with('/')) {
      throw UsageError(
          formatted("{}: this folder does not exist: create it first", options.output));
    }
    return options.output;
  }
  if (options.input == standard_stream) {
    throw UsageError(
        formatted("{}: is a folder; standard input has no name to take there", options.output));
  }
  return fs::path(options.output) / fs::path(options.input).filename();
}

// The format to write; nullptr for standard output, which keeps the input's.
const Codec* output_format(const std::string& output) {
  return output == standard_stream ? nullptr : &codec_for_output(output);
}

void check_paths(const FilterOptions& options, const std::string& output) {
  if (!options.folder.given.empty()) {
    throw UsageError(formatted("{} is for folders of pictures, and {} is not a folder",
                               options.folder.given, options.input));
  }
  if (!options.in_place && same_file(options.input, output)) {
    throw UsageError(
        formatted("{}: input and output are the same file; --in-place allows that", output));
  }
  if (options.input == standard_stream && isatty(STDIN_FILENO) == 1) {
    throw UsageError("standard input: is a terminal; give it a picture: gpufilter - ... < in.png");
  }
  if (output == standard_stream && isatty(STDOUT_FILENO) == 1) {
    throw UsageError("standard output: is a terminal; send it on: gpufilter ... - > out.png");
  }
}

void check_trace(const FilterOptions& options, const std::string& output) {
  const std::string& trace = options.trace;
  if (same_file(trace, options.input) || same_file(trace, output)) {
    throw UsageError(formatted("{}: is a picture of this run; give --trace another file", trace));
  }
  const bool results_go_there = output == standard_stream || options.timing == TimingFormat::json ||
                                options.timing == TimingFormat::csv;
  if (trace == standard_stream && results_go_there) {
    throw UsageError("--trace -: standard output is taken already; give --trace a file");
  }
}

void check_show_kernel(const FilterOptions& options, const std::string& output) {
  const bool results_go_there = output == standard_stream || options.trace == standard_stream ||
                                options.timing == TimingFormat::json ||
                                options.timing == TimingFormat::csv;
  if (results_go_there) {
    throw UsageError(
        "--show-kernel: standard output is taken already; leave out what is written there");
  }
  if (options.device == "cpu" || options.device == "all") {
    throw UsageError(formatted("--show-kernel: --device {} need not run a kernel; name one device",
                               options.device));
  }
}

// The programs that ran, in the order of their passes.
void print_kernels(const RunReport& report) {
  bool any = false;
  for (const PassReport& pass : report.passes) {
    if (pass.source.empty()) continue;
    any = true;
    print_result(formatted("// {}: {}\n{}\n", pass.stage, pass.variant, pass.source));
  }
  if (!any) log::warn("--show-kernel: no kernel of a stage ran");
}

// Whether there is nothing to do, because the output already exists.
bool skip_existing(const FilterOptions& options, const std::string& output) {
  std::error_code ignored;
  if (output == standard_stream || options.on_exists == OnExists::overwrite ||
      !fs::is_regular_file(output, ignored)) {
    return false;
  }
  if (options.on_exists == OnExists::fail) {
    throw UsageError(formatted("{}: already exists; --on-exists overwrite replaces it", output));
  }
  log::info(formatted("{}: already exists, skipped", output));
  return true;
}

RunReport filter_one(const FilterOptions& options, const std::string& output,
                     const Codec* file_format, Dispatcher& dispatcher, Nanoseconds start) {
  ProgressLine progress(options.progress, options.input);
  RunOptions run = options.run;
  run.start = start;
  run.max_memory = options.max_memory.value_or(run.max_memory);
  run.on_progress = [&](std::int64_t done, std::int64_t all) { progress.show(done, all); };
  try {
    return filter_picture(options.input, output, file_format, options.chain, dispatcher, run);
  } catch (const std::bad_alloc&) {
    throw PictureError(options.input, "there is not enough memory for this picture");
  }
}

// The picture is opened while the device is looked for, but a missing device is reported first.
template <typename Work>
auto after_choice_of(Dispatcher& dispatcher, const Work& work) {
  try {
    return work();
  } catch (const PictureError&) {
    dispatcher.await_choice();
    throw;
  }
}

}  // namespace

int run_filter_command(int argc, const char* const* argv) {
  const Nanoseconds start = now();
  const auto options = parse_filter_options(argc, argv);
  if (!options) return 0;
  log::set_level(options->log_level);
  if (options->threads) limit_pocl_threads(*options->threads);
  if (is_folder(options->input)) return run_batch_command(*options, start);
  const std::string output = output_path(*options);
  const Codec* file_format = output_format(output);
  check_paths(*options, output);
  if (!options->trace.empty()) check_trace(*options, output);
  if (options->show_kernel) check_show_kernel(*options, output);
  if (skip_existing(*options, output)) return 0;

  const auto threads = static_cast<std::size_t>(options->threads.value_or(0));
  const auto limit = threads > 0 ? std::make_unique<ThreadLimit>(threads) : nullptr;
  const LastingDispatcher lasting(*options);
  Dispatcher& dispatcher = lasting.get();
  after_choice_of(dispatcher, [&] {
    // Opened before the work, so that a trace that cannot be written costs none.
    const auto trace = options->trace.empty() ? nullptr : open_sink(options->trace);
    const RunReport report = filter_one(*options, output, file_format, dispatcher, start);
    if (report.alpha_flattened) {
      log::warn(formatted("{}: {}", report.output,
                          flattening_notice(*report.output_format, options->run.write)));
    }
    print_timing(report, options->timing, output == standard_stream);
    if (options->show_kernel) print_kernels(report);
    if (trace) write_trace(report, *trace);
  });
  dispatcher.conclude();
  return 0;
}

}  // namespace gpufilter
