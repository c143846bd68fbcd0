#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <memory>
#include <new>
#include <set>
#include <system_error>

#include <unistd.h>

#include "app/cli/commands.hpp"
#include "app/cli/left_out_tally.hpp"
#include "app/cli/parse.hpp"
#include "app/cli/paths.hpp"
#include "app/cli/progress.hpp"
#include "app/filter/chain_outputs.hpp"
#include "app/filter/filter_checks.hpp"
#include "app/filter/filter_options.hpp"
#include "app/filter/format_options.hpp"
#include "app/filter/picture_page.hpp"
#include "app/filter/picture_report.hpp"
#include "app/filter/run_account.hpp"
#include "app/filter/timing_report.hpp"
#include "app/filter/trace_file.hpp"
#include "app/folder/batch_command.hpp"
#include "app/lab/lasting_dispatcher.hpp"
#include "app/report/page_option.hpp"
#include "base/abandoned_files.hpp"
#include "base/atomic_file.hpp"
#include "base/closed_pipe.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/thread_limit.hpp"
#include "base/words.hpp"
#include "batch/output_folder.hpp"
#include "batch/output_name.hpp"
#include "codec/unread.hpp"
#include "device/pocl_environment.hpp"
#include "pipeline/run/preview.hpp"

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

// Warns about metadata and alpha that an output cannot hold.
void warn_of_losses(const OutputReport& output, const WriteOptions& options) {
  if (!output.left_out.empty())
    log::warn(formatted("{}: {}", printable(output.output), left_out_warning(output.left_out)));
  if (output.kept || !output.background || options.is_given(background_option())) return;
  log::warn(formatted("{}: {}", printable(output.output),
                      flattening_notice(*output.output_format, *output.background)));
}

// Warns about ignored and doubtful options and about losses, which are known only after the run.
void warn_after(const RunReport& report, const RunOptions& run) {
  const WriteOptions& options = run.write;
  OptionUse use(options, run.limits.damaged);
  use.add(report);
  for (const std::string& warning : use.warnings())
    log::warn(warning);
  for (const OutputReport& other : report.others)
    warn_of_losses(other, options);
  for (const std::string& doubt : report.doubts)
    log::warn(formatted("{}: {}", printable(report.input), doubt));
  warn_of_losses(report, options);
  warn_of_unread(report.input == standard_stream ? "standard input" : report.input, report.unread);
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

// As cp -i and ffmpeg do. Only if somebody is there to answer.
void ask_before_replacing(const std::string& output) {
  if (isatty(STDIN_FILENO) == 0 || isatty(STDERR_FILENO) == 0) return;
  std::fputs(formatted("replace {}? [y/N] ", printable(output)).c_str(), stderr);
  std::string answer;
  if (!std::getline(std::cin, answer)) std::fputs("\n", stderr);
  if (answer.starts_with('y') || answer.starts_with('Y')) return;
  throw UsageError(printable(formatted("{}: already exists, kept", output)));
}

// Whether the output already exists, and is kept.
bool keeps(const FilterOptions& options, const std::string& output) {
  std::error_code ignored;
  if (output == standard_stream || !fs::is_regular_file(output, ignored)) return false;
  if (options.on_exists == OnExists::overwrite) {
    if (!options.on_exists_given && !options.dry_run) ask_before_replacing(output);
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

// Removes temporary files of interrupted runs with this output.
void remove_unfinished(const std::string& output) {
  if (output == standard_stream) return;
  try {
    const int removed = remove_abandoned_files_for(follow_links(output));
    if (removed == 0) return;
    log::info(formatted("{}: removed {} of interrupted runs", printable(output),
                        counted(removed, "temporary file")));
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
  warn_after(preview, options.run);
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
  check_filter_options(*options, output, file_format, run.outputs);
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
    warn_after(report, options->run);
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
