#include <algorithm>
#include <filesystem>
#include <memory>
#include <new>
#include <set>
#include <system_error>

#include <unistd.h>

#include "app/batch_command.hpp"
#include "app/chain_outputs.hpp"
#include "app/commands.hpp"
#include "app/filter_options.hpp"
#include "app/format_options.hpp"
#include "app/lasting_dispatcher.hpp"
#include "app/left_out_tally.hpp"
#include "app/page_option.hpp"
#include "app/parse.hpp"
#include "app/paths.hpp"
#include "app/picture_page.hpp"
#include "app/picture_report.hpp"
#include "app/progress.hpp"
#include "app/run_account.hpp"
#include "app/timing_report.hpp"
#include "app/trace_file.hpp"
#include "base/abandoned_files.hpp"
#include "base/atomic_file.hpp"
#include "base/closed_pipe.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/link_text.hpp"
#include "base/printable.hpp"
#include "base/thread_limit.hpp"
#include "base/words.hpp"
#include "batch/output_folder.hpp"
#include "batch/output_name.hpp"
#include "codec/unread.hpp"
#include "device/pocl_environment.hpp"
#include "pipeline/preview.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

// A name that ends in a slash means a folder, which is created with the first result.
bool output_is_folder(const FilterOptions& options) {
  return names_folder(options.output);
}

// Whether the pictures go into a folder with a journal. A single picture does if a folder option is
// given, and if the run is only planned or reported as JSON, so that the form of the report does
// not depend on how many pictures "*.png" means.
bool is_batch(const FilterOptions& options) {
  return options.inputs.size() > 1 || is_folder_argument(options.input) ||
         ((!options.folder.given.empty() || options.json || options.dry_run) &&
          output_is_folder(options));
}

// The path of the result. In a folder, it gets the input's name.
std::string output_path(const FilterOptions& options) {
  if (!output_is_folder(options)) {
    if (!options.name) return options.output;
    throw UsageError(formatted("--name: is for results in a folder, and {} is not a folder",
                               printable(options.output)));
  }
  if (options.input == standard_stream) {
    throw UsageError(formatted("{}: is a folder, and standard input has no name; name a file",
                               printable(options.output)));
  }
  const fs::path input = options.input;
  return fs::path(options.output) /
         output_name(input.parent_path(), input.filename(), options.to, options.name);
}

std::unique_ptr<ByteSink> open_in_new_folder(const std::string& path) {
  create_parent_folder(path);
  return open_sink(path);
}

// "gpufilter *.png" with two pictures must not replace the second one: copying one picture over
// another is hardly ever meant.
void check_intent(const FilterOptions& options) {
  std::error_code ignored;
  if (!options.only_names || !fs::is_regular_file(options.input, ignored) ||
      !fs::is_regular_file(options.output, ignored)) {
    return;
  }
  throw UsageError(formatted(
      "{}: already exists, and no stage or option is given; --on-exists overwrite replaces it",
      printable(options.output)));
}

// The format to write; nullptr for standard output without --to, which keeps the input's.
const Codec* output_format(const FilterOptions& options, const std::string& output) {
  if (output == standard_stream) return options.to;
  std::error_code ignored;
  // The input was probably meant to be a folder; then the output's name is not the mistake.
  if (codec_of_name(output) == nullptr && codec_of_name(options.input) == nullptr &&
      options.input != standard_stream && !fs::exists(options.input, ignored)) {
    throw PictureError(options.input, "no such file or folder");
  }
  const Codec& named = codec_for_output(output);
  if (options.to != nullptr && options.to != &named && !any_takes_format(options)) {
    throw UsageError(formatted("--to {}: {} is the name of a {}; leave out --to, or rename OUTPUT",
                               options.to->extensions.front().substr(1), printable(output),
                               named.name));
  }
  return &named;
}

void check_format_options(const RunOptions& run, const Codec* file_format) {
  if (file_format == nullptr) return;
  CodecList formats{file_format};
  for (const ChainOutput& output : run.outputs) {
    if (std::find(formats.begin(), formats.end(), output.format) == formats.end())
      formats.push_back(output.format);
  }
  refuse_unused_options(run.write, formats);
}

// Warns about metadata and alpha that an output cannot hold.
void warn_of_losses(const OutputReport& output, const WriteOptions& options) {
  if (!output.left_out.empty())
    log::warn(formatted("{}: {}", printable(output.output), left_out_warning(output.left_out)));
  if (output.kept || !output.background || options.is_given(background_option())) return;
  log::warn(formatted("{}: {}", printable(output.output),
                      flattening_notice(*output.output_format, *output.background)));
}

// Warns about ignored and doubtful options and about losses, which are known only after the run.
void warn_after(const RunReport& report, const WriteOptions& options) {
  OptionUse use(options);
  use.add(report);
  for (const std::string& warning : use.warnings())
    log::warn(warning);
  for (const OutputReport& other : report.others)
    warn_of_losses(other, options);
  for (const std::string& doubt : report.doubts)
    log::warn(formatted("{}: {}", printable(report.input), doubt));
  warn_of_losses(report, options);
  warn_of_unread(report.input, report.unread);
}

// Why two names are the same file.
std::string same_file_reason(const std::string& input, const std::string& output) {
  for (const std::string& path : {input, output}) {
    if (std::string text = link_text(path); !text.empty()) return text;
  }
  return "input and output are the same file";
}

void check_paths(const FilterOptions& options, const std::string& output) {
  if (!options.folder.given.empty()) {
    throw UsageError(formatted("{} is for results in a folder, and {} is not a folder",
                               options.folder.given, printable(options.output)));
  }
  if (!options.in_place && same_file(options.input, output)) {
    throw UsageError(printable(formatted("{0}: {1}; gpufilter {0} --in-place replaces it", output,
                                         same_file_reason(options.input, output))));
  }
  check_intent(options);
  if (options.input == standard_stream && isatty(STDIN_FILENO) == 1) {
    throw UsageError("standard input: is a terminal; give it a picture: gpufilter - ... < in.png");
  }
  if (output == standard_stream && isatty(STDOUT_FILENO) == 1) {
    throw UsageError("standard output: is a terminal; redirect it: gpufilter ... - > out.png");
  }
}

void check_json(const FilterOptions& options) {
  if (!options.json) return;
  const bool timing = options.timing == TimingFormat::json || options.timing == TimingFormat::csv;
  if (timing || options.trace == standard_stream || options.show_kernel) {
    throw UsageError(
        "--json: standard output has room for one document; leave out --timing json, "
        "--timing csv, --trace - and --show-kernel");
  }
}

void check_trace(const FilterOptions& options, const std::string& output,
                 const std::vector<ChainOutput>& others) {
  const std::string& trace = options.trace;
  const auto is_trace = [&trace](const std::string& path) { return same_file(trace, path); };
  if (is_trace(options.input) || is_trace(output) ||
      std::any_of(others.begin(), others.end(),
                  [&](const ChainOutput& other) { return is_trace(other.path); })) {
    throw UsageError(formatted("{}: is a picture of this run; give --trace another file", trace));
  }
  const bool results_go_there = output == standard_stream || options.timing == TimingFormat::json ||
                                options.timing == TimingFormat::csv;
  if (trace == standard_stream && results_go_there) {
    throw UsageError("--trace -: standard output is already in use; give --trace a file");
  }
}

void check_show_kernel(const FilterOptions& options, const std::string& output) {
  const bool results_go_there = output == standard_stream || options.trace == standard_stream ||
                                options.timing == TimingFormat::json ||
                                options.timing == TimingFormat::csv;
  if (results_go_there) {
    throw UsageError(
        "--show-kernel: standard output is already in use; write the picture, timing and trace "
        "elsewhere");
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
    print_document(formatted("// {}: {}\n{}\n", pass.stage, pass.variant, pass.source));
  }
  if (!any) log::warn("--show-kernel: no stage ran a kernel");
}

// Whether the output already exists, and stays as it is.
bool keeps(const FilterOptions& options, const std::string& output) {
  std::error_code ignored;
  if (output == standard_stream || options.on_exists == OnExists::overwrite ||
      !fs::is_regular_file(output, ignored)) {
    return false;
  }
  if (options.on_exists == OnExists::fail) {
    throw UsageError(formatted("{}: already exists; --on-exists overwrite replaces it", output));
  }
  return true;
}

// Notes which outputs already exist and stay as they are. True if there is nothing else to do.
bool keep_existing(const FilterOptions& options, const std::string& output, RunOptions& run) {
  run.keep_last_output = !options.in_place && keeps(options, output);
  for (ChainOutput& other : run.outputs)
    other.keep = keeps(options, other.path);
  return run.keep_last_output && std::all_of(run.outputs.begin(), run.outputs.end(),
                                             [](const ChainOutput& other) { return other.keep; });
}

// Folders whose names end in a slash are created.
void open_in_new_folders(const FilterOptions& options, RunOptions& run) {
  std::set<std::string> paths;  // in such folders
  for (std::size_t i = 0; i < options.outputs.size(); ++i) {
    if (options.outputs[i].path.ends_with('/')) paths.insert(run.outputs[i].path);
  }
  const bool with_last = options.output.ends_with('/');
  if (paths.empty() && !with_last) return;
  run.open_output = [paths, with_last, others = run.outputs](const std::string& path) {
    const bool is_other = std::any_of(others.begin(), others.end(),
                                      [&](const ChainOutput& other) { return other.path == path; });
    return (is_other ? paths.contains(path) : with_last) ? open_in_new_folder(path)
                                                         : open_sink(path);
  };
}

// Removes what killed runs that had the same output left behind.
void remove_unfinished(const std::string& output) {
  if (output == standard_stream) return;
  try {
    const int removed = remove_abandoned_files_for(follow_links(output));
    if (removed == 0) return;
    log::info(formatted("{}: removed {} of a run that was killed", printable(output),
                        counted(removed, "unfinished file")));
  } catch (const std::system_error&) {
    // Writing the output will say why.
  }
}

RunReport filter_one(const FilterOptions& options, const std::string& output,
                     const Codec* file_format, Dispatcher& dispatcher, RunOptions run,
                     PicturePage* page) {
  const Nanoseconds start = *run.start;
  ProgressDisplay display(options.progress);
  Progress progress;
  progress.name = options.input;
  run.max_memory = options.max_memory.value_or(run.max_memory);
  if (page != nullptr) page->watch(run);
  run.on_progress = [&](std::int64_t done, std::int64_t all) {
    progress.done = progress.worked = static_cast<std::uint64_t>(done);
    progress.all = static_cast<std::uint64_t>(all);
    progress.elapsed = now() - start;
    display.show(progress);
  };
  try {
    return filter_picture(options.input, output, file_format, options.chain, dispatcher, run);
  } catch (const std::bad_alloc&) {
    throw PictureError(options.input, "not enough memory for this picture");
  }
}

// With --json, a picture that fails has its document too.
template <typename Work>
RunReport or_report_failure(const PictureReporter& reporter, const Work& work) {
  try {
    return work();
  } catch (const ClosedPipe&) {
    throw;
  } catch (const PictureError& error) {
    reporter.failed(error.what());
    if (dynamic_cast<const UnreadParts*>(&error) != nullptr) throw UsageError(error.what());
    throw;
  }
}

// For --dry-run.
void plan_one(const FilterOptions& options, const std::string& output, const Codec* file_format,
              Dispatcher& dispatcher, const PictureReporter& reporter, const RunOptions& run) {
  const RunReport preview = or_report_failure(reporter, [&] {
    return preview_picture(options.input, output, file_format, options.chain, dispatcher, run);
  });
  warn_after(preview, options.run.write);
  reporter.planned(preview);
}

// The picture is opened during the search for the device, but a missing device is reported first.
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
  if (is_batch(*options)) return run_batch_command(*options, start);
  const std::string output = output_path(*options);
  const Codec* file_format = output_format(*options, output);
  check_paths(*options, output);
  RunOptions run = options->run;
  run.start = start;
  run.outputs = outputs_of_picture(*options, output);
  check_format_options(run, file_format);
  check_json(*options);
  if (!options->trace.empty()) check_trace(*options, output, run.outputs);
  if (options->show_kernel) check_show_kernel(*options, output);
  const PictureReporter reporter(*options, output, file_format);
  if (!options->report.empty()) check_report(*options, output, false);
  open_in_new_folders(*options, run);
  if (keep_existing(*options, output, run)) {
    reporter.skipped();
    if (const auto page = page_for(*options, output)) page->write_skipped();
    return 0;
  }

  const auto threads = static_cast<std::size_t>(options->threads.value_or(0));
  const auto limit = threads > 0 ? std::make_unique<ThreadLimit>(threads) : nullptr;
  const LastingDispatcher lasting(*options);
  Dispatcher& dispatcher = lasting.get();
  if (options->dry_run) {
    after_choice_of(dispatcher,
                    [&] { plan_one(*options, output, file_format, dispatcher, reporter, run); });
    return 0;
  }
  remove_unfinished(output);
  for (const ChainOutput& other : run.outputs)
    remove_unfinished(other.path);
  after_choice_of(dispatcher, [&] {
    // Opened first, so that no work is wasted if the trace cannot be written.
    const auto trace = options->trace.empty() ? nullptr : open_sink(options->trace);
    const auto page = page_for(*options, output);
    const RunReport report = or_report_failure(reporter, [&] {
      return filter_one(*options, output, file_format, dispatcher, run, page.get());
    });
    warn_after(report, options->run.write);
    reporter.done(report);
    if (log::level() <= log::Level::info) {
      for (const std::string& line : run_account(report, options->asked_chain))
        log::info(line);
    }
    print_timing(report, options->timing, output == standard_stream);
    if (options->show_kernel) print_kernels(report);
    if (trace) write_trace(report, options->command_line, *trace);
    if (page) page->write(report);
  });
  dispatcher.conclude();
  return 0;
}

}  // namespace gpufilter
