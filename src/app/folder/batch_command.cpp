#include "app/folder/batch_command.hpp"

#include <algorithm>
#include <filesystem>
#include <map>
#include <system_error>

#include <unistd.h>

#include "app/cli/paths.hpp"
#include "app/filter/format_options.hpp"
#include "app/folder/batch_page.hpp"
#include "app/folder/batch_report.hpp"
#include "app/folder/batch_reporter.hpp"
#include "app/folder/chosen_shard.hpp"
#include "app/lab/lasting_dispatcher.hpp"
#include "app/report/page_option.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"
#include "batch/shard_plan.hpp"

namespace gpufilter {
namespace {

std::map<const Codec*, ContentHash> works_of(const FilterOptions& options) {
  std::map<const Codec*, ContentHash> works;
  for (const Codec* codec : codecs())
    works[codec] = work_hash(options.chain, *codec, options.run.write);
  return works;
}

std::optional<ShardRequest> shard_for(const FilterOptions& options) {
  const auto chosen = chosen_shard(options.folder);
  if (!chosen) return std::nullopt;
  return ShardRequest{chosen->shard, chosen->source, works_of(options), options.folder.command};
}

BatchRequest request_for(const FilterOptions& options) {
  BatchRequest request;
  request.inputs = options.inputs;
  request.output = options.output;
  request.recursive = options.folder.recursive;
  request.follow_links = options.folder.follow_links;
  request.patterns = options.folder.match;
  request.excluded = options.folder.exclude;
  request.to = options.to;
  request.name = options.name;
  request.outputs = options.outputs;
  request.on_exists = options.on_exists_given ? options.on_exists : OnExists::fail;
  request.in_place = options.in_place;
  request.resume = options.folder.resume;
  request.work = run_work(options.chain, options.run.write);
  request.list = options.folder.list;
  request.shard = shard_for(options);
  return request;
}

// The memory limit for all pictures in progress. A higher one would allow more rows to be decoded
// before a GPU has started, but freeing that much pinned memory costs the time that this gains.
std::uint64_t memory_for(const FilterOptions& options) {
  constexpr std::uint64_t enough_for_one = std::uint64_t{16} << 20U;
  const auto jobs = static_cast<std::uint64_t>(options.folder.jobs);
  return options.max_memory.value_or(std::max(options.run.max_memory, jobs * enough_for_one));
}

bool timing_is_data(const FilterOptions& options) {
  return options.timing == TimingFormat::json || options.timing == TimingFormat::csv;
}

void check_streams(const FilterOptions& options) {
  if (options.output == standard_stream) {
    throw UsageError("-: several pictures go to a folder, not to standard output");
  }
  if (std::find(options.inputs.begin(), options.inputs.end(), standard_stream) !=
      options.inputs.end()) {
    throw UsageError("-: standard input has no name for its result in a folder; filter it alone");
  }
  if (options.show_kernel) throw UsageError("--show-kernel is for one picture, not for folders");
  if (options.json && timing_is_data(options)) {
    throw UsageError("--json includes the timing; leave out --timing");
  }
  if (options.trace == standard_stream && (options.json || timing_is_data(options))) {
    throw UsageError("--trace -: standard output is already in use; give --trace a file");
  }
}

// The formats of all outputs, each once.
CodecList output_formats(const BatchPlan& plan) {
  CodecList formats;
  for (const Codec* codec : codecs()) {
    const bool is_used =
        std::any_of(plan.items.begin(), plan.items.end(),
                    [codec](const BatchItem& item) { return item.output_format == codec; });
    if (is_used) formats.push_back(codec);
  }
  return formats;
}

// The first given option that has no effect with --list; empty if there is none.
std::string useless_with_list(const FolderOptions& folder) {
  return folder.follow_links       ? "--follow-links"
         : folder.recursive        ? "--recursive"
         : !folder.match.empty()   ? "--match"
         : !folder.exclude.empty() ? "--exclude"
                                   : "";
}

void check_list_and_shard(const FilterOptions& options) {
  const FolderOptions& folder = options.folder;
  if (folder.list.empty() && folder.shard.empty()) return;
  if (options.inputs.size() != 1 || !is_folder_argument(options.input)) {
    throw UsageError(formatted("{}: is for one folder, as in: gpufilter INDIR OUTDIR {} {}",
                               folder.list.empty() ? "--shard" : "--list",
                               folder.list.empty() ? "--shard" : "--list",
                               folder.list.empty() ? "I/N" : "FILE"));
  }
  if (!folder.list.empty() && !useless_with_list(folder).empty()) {
    throw UsageError(formatted("{}: has no effect with --list, which names the pictures",
                               useless_with_list(folder)));
  }
  if (folder.list == standard_stream && isatty(STDIN_FILENO) == 1) {
    throw UsageError("--list -: standard input is a terminal; give it a list of names");
  }
  if (options.in_place && !folder.shard.empty()) {
    throw UsageError(
        "--in-place: not possible with --shard, because shares depend on the sizes of the inputs");
  }
}

// Refuses options that would have no effect: they are mistakes.
void check_folder_options(const FilterOptions& options) {
  check_list_and_shard(options);
  if (options.in_place && options.name) {
    throw UsageError("--name: not possible with --in-place, which keeps the names");
  }
  const FolderOptions& folder = options.folder;
  if (folder.follow_links && !folder.recursive) {
    throw UsageError("--follow-links: has no effect without --recursive");
  }
  if (std::any_of(options.inputs.begin(), options.inputs.end(), is_folder_argument)) return;
  const char* useless = folder.recursive          ? "--recursive"
                        : !folder.match.empty()   ? "--match"
                        : !folder.exclude.empty() ? "--exclude"
                                                  : "";
  std::error_code ignored;
  if (*useless != '\0') {
    throw UsageError(formatted("{}: is for folders, but {}", useless,
                               std::filesystem::exists(options.input, ignored)
                                   ? "no input is a folder"
                                   : printable(options.input) + " does not exist"));
  }
}

// Why there is nothing to do.
std::string describe_emptiness(const BatchPlan& plan, const FolderOptions& folder) {
  const std::string where = plan.inputs.size() == 1 ? printable(plan.inputs.front()) + ": contains"
                                                    : "the inputs contain";
  if (plan.unmatched > 0) {
    return formatted("{} {}, but none matches --match '{}'", where,
                     counted(plan.unmatched, "picture"),
                     printable(formatted("{}", fmt::join(folder.match, "' or '"))));
  }
  if (plan.excluded > 0) {
    return formatted("{} {}, and --exclude skips {}", where, counted(plan.excluded, "picture"),
                     plan.excluded == 1 ? "it" : "all of them");
  }
  if (plan.not_entered > 0) {
    return formatted(
        "{} no picture; --recursive searches {} too", where,
        plan.not_entered == 1 ? "its subfolder" : formatted("its {} subfolders", plan.not_entered));
  }
  return where +
         (plan.others.empty() ? " no picture" : formatted(" no {} picture", names_of(codecs())));
}

void check_trace(const BatchPlan& plan, const std::string& trace) {
  for (const BatchItem& item : plan.items) {
    if (same_file(trace, item.input) || same_file(trace, plan.output_path(item)) ||
        std::any_of(item.others.begin(), item.others.end(),
                    [&](const ChainOutput& other) { return same_file(trace, other.path); })) {
      throw UsageError(
          formatted("{}: is a picture of this run; give --trace another file", printable(trace)));
    }
  }
}

}  // namespace

int run_batch_command(const FilterOptions& options, Nanoseconds start) {
  check_streams(options);
  check_folder_options(options);
  if (!options.report.empty()) check_report(options, options.output, true);
  const LastingDispatcher lasting(options);  // starts the search for devices
  Dispatcher& dispatcher = lasting.get();
  const BatchRequest request = request_for(options);
  BatchPlan plan = make_batch_plan(request);
  const bool is_empty = plan.shard ? plan.shard->all_pictures == 0 : plan.items.empty();
  if (is_empty) log::warn(describe_emptiness(plan, options.folder));
  refuse_unused_options(options.run.write, output_formats(plan), options.run.limits.damaged);
  BatchOptions batch;
  batch.run = options.run;
  batch.run.max_memory = memory_for(options);
  batch.jobs = options.folder.jobs;
  batch.threads = options.threads.value_or(0);
  batch.stop_on_error = options.folder.stop_on_error;
  batch.dry_run = options.dry_run;
  // If a requested device does not exist, that is reported before anything is written.
  const bool needs_none = options.device == "auto" || options.device == "all";
  if (!needs_none || options.require_device) dispatcher.await_choice();
  std::unique_ptr<ByteSink> trace;
  if (!options.trace.empty() && !batch.dry_run) {
    check_trace(plan, options.trace);
    trace = open_sink(options.trace);
  }
  if (plan.shard && !batch.dry_run) plan = join_run(request, std::move(plan));
  const auto page = page_for(options, plan);
  if (page) batch.before_picture = page->watcher();
  BatchReporter reporter(plan, options, start, trace.get(), page.get());
  run_batch(plan, options.chain, dispatcher, batch, reporter);
  reporter.conclude();
  return reporter.any_failed() ? 1 : 0;
}

}  // namespace gpufilter
