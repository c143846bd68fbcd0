#include <algorithm>
#include <memory>
#include <new>
#include <set>
#include <system_error>

#include "app/cli/commands.hpp"
#include "app/cli/parse.hpp"
#include "app/filter/run_plan.hpp"
#include "app/filter/run_request.hpp"
#include "app/report/run_page.hpp"
#include "app/report/run_reporter.hpp"
#include "base/atomic_file.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "base/threads.hpp"
#include "base/words.hpp"
#include "batch/output_name.hpp"
#include "device/pocl.hpp"
#include "pipeline/run/run.hpp"
#include "pipeline/run/run_description.hpp"

namespace gpufilter {
namespace {

// Removes temporary files of interrupted runs with the same output.
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

// Folders whose names end in a slash are created with the first result.
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
    if (is_other ? paths.contains(path) : with_last) create_parent_folder(path);
    return open_sink(path);
  };
}

RunOptions run_of_picture(const FilterOptions& options, const BatchItem& item, Nanoseconds start) {
  RunOptions run = options.run;
  run.start = start;
  run.outputs = item.others;
  run.max_memory = options.max_memory.value_or(run.max_memory);
  open_in_new_folders(options, run);
  return run;
}

// Filters the picture of the plan, or with --dry-run says what would happen.
RunReport filter_or_preview(const FilterOptions& options, const BatchItem& item,
                            Dispatcher& dispatcher, const RunOptions& run) {
  const ChainOutput output{item.output, item.output_format, item.keep_output};
  try {
    return options.dry_run ? preview_picture(item.input, output, options.chain, dispatcher, run)
                           : filter_picture(item.input, output, options.chain, dispatcher, run);
  } catch (const std::bad_alloc&) {
    throw PictureError(item.input, "not enough memory for this picture");
  }
}

// Reports the only picture of a plan.
void report_alone(const PictureResult& result, const RunReport* report, RunReporter& reporter) {
  reporter.finished(result, report);
  reporter.listed(result);
  if (result.status != PictureStatus::failed) reporter.conclude();
}

// Filters the only picture of a plan, on this thread. Its failure propagates.
void filter_alone(const FilterOptions& options, const BatchItem& item, Dispatcher& dispatcher,
                  const RunOptions& run, RunReporter& reporter) {
  PictureResult result{.item = &item};
  RunReport report;
  try {
    report = filter_or_preview(options, item, dispatcher, run);
  } catch (const ClosedPipe&) {
    throw;
  } catch (const PictureError& error) {
    result.status = PictureStatus::failed;
    result.failure = error.what();
    report_alone(result, nullptr, reporter);
    if (dynamic_cast<const UnreadParts*>(&error) != nullptr) throw UsageError(error.what());
    throw;
  }
  result.status = options.dry_run ? PictureStatus::planned : PictureStatus::done;
  result.report = report;
  report_alone(result, &report, reporter);
}

int run_picture(const FilterOptions& options, Nanoseconds start) {
  const BatchPlan plan = plan_of_picture(options);
  const BatchItem& item = plan.items.front();
  if (item.exists) {
    const auto page = page_for(options, plan);
    RunReporter reporter(plan, options, start, nullptr, page.get());
    report_alone({.item = &item, .status = PictureStatus::exists}, nullptr, reporter);
    return 0;
  }
  const auto threads = static_cast<std::size_t>(options.threads);
  const auto limit = threads > 0 ? std::make_unique<ThreadLimit>(threads) : nullptr;
  const ProcessDispatcher process(options);
  Dispatcher& dispatcher = process.get();
  if (!options.dry_run) {
    remove_unfinished(item.output);
    for (const ChainOutput& other : item.others)
      remove_unfinished(other.path);
  }
  try {
    const auto trace = open_trace(options);
    const auto page = page_for(options, plan);
    RunReporter reporter(plan, options, start, trace.get(), page.get());
    RunOptions run = run_of_picture(options, item, start);
    run.on_progress = [&](std::int64_t done, std::int64_t all) {
      reporter.advanced_rows(done, all);
    };
    if (page) page->watch_run(run);
    filter_alone(options, item, dispatcher, run, reporter);
  } catch (const PictureError&) {
    // The picture is opened during the search for the device, but a missing device is reported
    // first.
    dispatcher.await_choice();
    throw;
  }
  if (!options.dry_run) dispatcher.conclude();
  return 0;
}

int run_folder(const FilterOptions& options, Nanoseconds start) {
  check_folder_run(options);
  const ProcessDispatcher process(options);  // starts the search for devices
  Dispatcher& dispatcher = process.get();
  const BatchRequest request = request_for(options);
  BatchPlan plan = plan_of_folder(options, request);
  await_requested_device(options, dispatcher);
  if (!options.dry_run) check_trace(options, plan);
  if (plan.shard && !options.dry_run) plan = join_run(request, std::move(plan));
  return run_plan(options, plan, dispatcher, start);
}

}  // namespace

int run_filter_command(int argc, const char* const* argv) {
  const Nanoseconds start = now();
  const auto options = parse_filter_options(argc, argv);
  if (!options) return 0;
  log::set_level(options->log_level);
  if (options->threads > 0) limit_pocl_threads(options->threads);
  return is_folder_run(*options) ? run_folder(*options, start) : run_picture(*options, start);
}

}  // namespace gpufilter
