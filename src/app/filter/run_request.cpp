#include "app/filter/run_request.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <iterator>
#include <map>
#include <set>

#include <unistd.h>

#include "app/cli/parse.hpp"
#include "app/filter/format_options.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "base/process.hpp"
#include "base/words.hpp"
#include "batch/output_name.hpp"
#include "batch/shard.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

// The name of a folder: it exists, or ends in a slash.
bool names_folder(const std::string& output) {
  return is_folder_argument(output) || output.ends_with('/');
}

// The path of an output of one picture, which gets the input's name in a folder. `option` begins
// the error message.
std::string output_path(const FilterOptions& options, const std::string& name,
                        const char* option = "") {
  if (!names_folder(name)) return name;
  if (options.input() == standard_stream) {
    throw UsageError(formatted("{}{}: is a folder, and standard input has no name; name a file",
                               option, printable(name)));
  }
  const fs::path input = options.input();
  return fs::path(name) /
         options.of(input.parent_path(), input.filename(), 1, options.work).back().path;
}

// The path of the result.
std::string result_path(const FilterOptions& options) {
  if (!options.name || names_folder(options.output)) return output_path(options, options.output);
  throw UsageError(formatted("--name: is for results in a folder, and {} is not a folder",
                             printable(options.output)));
}

void check_against(const std::string& path, const std::string& other, const char* reason) {
  if (same_file(path, other))
    throw UsageError(formatted("--output {}: {}", printable(path), reason));
}

// The outputs besides `result`, with their paths and formats.
std::vector<ChainOutput> other_outputs(const FilterOptions& options, const std::string& result) {
  std::vector<ChainOutput> outputs = options.outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::string& path = outputs[i].path;
    path = output_path(options, path, "--output ");
    outputs[i].format = &codec_for_output(path);
    check_against(path, options.input(), "is the input; give the output another name");
    constexpr const char* twice = "two outputs have this name; give one of them another";
    check_against(path, result, twice);
    for (std::size_t other = 0; other < i; ++other)
      check_against(path, outputs[other].path, twice);
  }
  return outputs;
}

// The format to write; nullptr for standard output without --to, which keeps the input's.
const Codec* output_format(const FilterOptions& options, const std::string& output) {
  const Codec* wanted = options.one_format();
  if (output == standard_stream) return wanted;
  // The input was probably meant to be a folder; then the output's name is not the mistake.
  if (codec_of_name(output) == nullptr && codec_of_name(options.input()) == nullptr &&
      options.input() != standard_stream && !exists(options.input())) {
    throw PictureError(options.input(), "no such file or folder");
  }
  const Codec& named = codec_for_output(output);
  if (wanted != nullptr && wanted != &named &&
      std::none_of(options.outputs.begin(), options.outputs.end(),
                   [](const ChainOutput& other) { return names_folder(other.path); })) {
    throw UsageError(formatted("--to {}: {} is the name of a {}; leave out --to, or rename OUTPUT",
                               wanted->extensions.front().substr(1), printable(output),
                               named.name));
  }
  return &named;
}

// Asks like cp -i and ffmpeg, if somebody is there to answer.
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
  if (output == standard_stream || !is_regular_file(output)) return false;
  if (options.on_exists == OnExists::overwrite) {
    if (!options.on_exists_given && !options.dry_run) ask_before_replacing(output);
    return false;
  }
  if (options.on_exists == OnExists::fail) {
    throw UsageError(formatted("{}: already exists; --on-exists overwrite replaces it", output));
  }
  return true;
}

// "gpufilter *.png" with two pictures must not replace the second one: copying one picture over
// another is hardly ever meant.
void check_intent(const FilterOptions& options) {
  if (!options.only_names || !is_regular_file(options.input()) || !is_regular_file(options.output))
    return;
  throw UsageError(formatted(
      "{}: already exists, and no stage or option is given; --on-exists overwrite replaces it",
      printable(options.output)));
}

// Why two names are the same file.
std::string same_file_reason(const std::string& input, const std::string& output) {
  for (const std::string& path : {input, output}) {
    if (std::string text = link_text(path); !text.empty()) return text;
  }
  return "input and output are the same file";
}

// Whether the picture may go from its INPUT to `output`.
void check_paths(const FilterOptions& options, const std::string& output) {
  if (!options.folder_option.empty()) {
    throw UsageError(formatted("{} is for results in a folder, and {} is not a folder",
                               options.folder_option, printable(options.output)));
  }
  if (!options.in_place && same_file(options.input(), output)) {
    throw UsageError(printable(formatted("{0}: {1}; gpufilter {0} --in-place replaces it", output,
                                         same_file_reason(options.input(), output))));
  }
  check_intent(options);
  if (options.input() == standard_stream && isatty(STDIN_FILENO) == 1) {
    throw UsageError("standard input: is a terminal; give it a picture: gpufilter - ... < in.png");
  }
  if (output == standard_stream && isatty(STDOUT_FILENO) == 1) {
    throw UsageError("standard output: is a terminal; redirect it: gpufilter ... - > out.png");
  }
}

void check_trace_stream(const FilterOptions& options, bool is_in_use) {
  if (options.trace == standard_stream && is_in_use)
    throw UsageError("--trace -: standard output is already in use; give --trace a file");
}

// Checks which documents may share standard output with a picture's result, and with each other.
void check_streams_of_picture(const FilterOptions& options, const std::string& output) {
  const bool is_in_use = output == standard_stream || timing_is_data(options);
  check_trace_stream(options, is_in_use);
  if (!options.show_kernel) return;
  if (is_in_use || options.trace == standard_stream) {
    throw UsageError(
        "--show-kernel: standard output is already in use; write the picture, timing and trace "
        "elsewhere");
  }
  if (options.device == "cpu" || options.device == "all") {
    throw UsageError(formatted("--show-kernel: --device {} need not run a kernel; name one device",
                               options.device));
  }
}

// Checks that the page has its own folder, without results. `output` is the run's file or folder.
void check_report(const FilterOptions& options, const std::string& output, bool output_is_folder) {
  if (options.report.empty()) return;
  if (options.dry_run) {
    throw UsageError("--report: not possible with --dry-run, which writes nothing");
  }
  if (!options.share.empty()) {
    throw UsageError(
        "--report: not possible with --shard; once all shares are done, gpufilter compare --report "
        "shows inputs and results");
  }
  if (output == standard_stream) return;
  const std::string folder = output_is_folder ? output : fs::path(output).parent_path().string();
  if (!path_within(folder, options.report).empty()) {
    throw UsageError(
        formatted("{}: results go there; give --report another folder", printable(options.report)));
  }
}

// The first given option that searches folders; empty if there is none.
std::string option_of_search(const FilterOptions& options) {
  return options.recursive           ? "--recursive"
         : !options.patterns.empty() ? "--match"
         : !options.excluded.empty() ? "--exclude"
                                     : "";
}

void check_list_and_share(const FilterOptions& options) {
  if (options.list.empty() && options.share.empty()) return;
  const char* option = options.list.empty() ? "--shard" : "--list";
  if (options.inputs.size() != 1 || !is_folder_argument(options.input())) {
    throw UsageError(formatted("{0}: is for one folder, as in: gpufilter INDIR OUTDIR {0} {1}",
                               option, options.list.empty() ? "I/N" : "FILE"));
  }
  const std::string useless = options.follow_links ? "--follow-links" : option_of_search(options);
  if (!options.list.empty() && !useless.empty()) {
    throw UsageError(formatted("{}: has no effect with --list, which names the pictures", useless));
  }
  if (options.list == standard_stream && isatty(STDIN_FILENO) == 1) {
    throw UsageError("--list -: standard input is a terminal; give it a list of names");
  }
  if (!options.share.empty() && options.name) {
    for (const char* field : {"n", "date", "hash"}) {
      if (!options.name->has(field)) continue;
      throw UsageError(formatted(
          "--name: {{{}}} does not work with --shard: names have to follow from paths", field));
    }
  }
  if (options.in_place && !options.share.empty()) {
    throw UsageError(
        "--in-place: not possible with --shard, because shares depend on the sizes of the inputs");
  }
}

// Refuses options that would have no effect: they are mistakes.
void check_folder_options(const FilterOptions& options) {
  check_list_and_share(options);
  if (options.in_place && options.name) {
    throw UsageError("--name: not possible with --in-place, which keeps the names");
  }
  if (options.in_place && options.are_several()) {
    throw UsageError(
        "--in-place: replaces a picture by one result; --sizes and several formats in --to need a "
        "folder for the results");
  }
  if (options.follow_links && !options.recursive) {
    throw UsageError("--follow-links: has no effect without --recursive");
  }
  if (std::any_of(options.inputs.begin(), options.inputs.end(), is_folder_argument)) return;
  const std::string useless = option_of_search(options);
  if (!useless.empty()) {
    throw UsageError(formatted("{}: is for folders, but {}", useless,
                               exists(options.input())
                                   ? "no input is a folder"
                                   : printable(options.input()) + " does not exist"));
  }
}

void check_streams_of_folder(const FilterOptions& options) {
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
  check_trace_stream(options, options.json || timing_is_data(options));
}

// Why there is nothing to do.
std::string describe_emptiness(const BatchPlan& plan, const std::vector<std::string>& patterns) {
  const std::string where = plan.inputs.size() == 1 ? printable(plan.inputs.front()) + ": contains"
                                                    : "the inputs contain";
  if (plan.unmatched > 0) {
    return formatted("{} {}, but none matches --match '{}'", where,
                     counted(plan.unmatched, "picture"),
                     printable(formatted("{}", fmt::join(patterns, "' or '"))));
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

// The share that --shard requests; nothing without it.
std::optional<ShardRequest> share_for(const FilterOptions& options) {
  if (options.share.empty()) return std::nullopt;
  const DetectedShard chosen = options.share == "auto"
                                   ? detect_shard(environment())
                                   : DetectedShard{parse_shard(options.share), "--shard"};
  ShardRequest request{chosen.shard, chosen.source, {}, options.share_command};
  for (std::size_t size = 0; size <= options.run.branches.size(); ++size) {
    const bool is_last = size == options.run.branches.size();
    ChainOutput output;
    output.stages = is_last ? options.stages : options.stages_before_sizes;
    if (!is_last) output.branch = size;
    const StageChain chain = chain_to(output, options.chain, options.run.branches);
    for (const Codec* codec : codecs())
      request.works[{codec, size}] = work_hash(chain, *codec, options.run.write);
  }
  return request;
}

// The formats of all outputs, each once; empty if an input decides one.
CodecList output_formats(const BatchPlan& plan) {
  std::set<const Codec*> used;
  for (const BatchItem& item : plan.items) {
    if (plan.is_one_picture && item.output_format == nullptr) return {};
    used.insert(item.output_format);
    for (const ChainOutput& other : item.others)
      used.insert(other.format);
  }
  CodecList formats;
  std::copy_if(codecs().begin(), codecs().end(), std::back_inserter(formats),
               [&used](const Codec* codec) { return used.contains(codec); });
  return formats;
}

void check_formats(const FilterOptions& options, const BatchPlan& plan) {
  refuse_unused_options(options.run.write, output_formats(plan), options.run.limits.damaged);
}

}  // namespace

bool timing_is_data(const FilterOptions& options) {
  return options.timing == TimingFormat::json || options.timing == TimingFormat::csv;
}

void check_trace(const FilterOptions& options, const BatchPlan& plan) {
  const std::string& trace = options.trace;
  if (trace.empty()) return;
  for (const BatchItem& item : plan.items) {
    if (same_file(trace, item.input) || same_file(trace, plan.output_path(item)) ||
        std::any_of(item.others.begin(), item.others.end(),
                    [&](const ChainOutput& other) { return same_file(trace, other.path); })) {
      throw UsageError(
          formatted("{}: is a picture of this run; give --trace another file", printable(trace)));
    }
  }
}

bool is_folder_run(const FilterOptions& options) {
  return options.inputs.size() > 1 || is_folder_argument(options.input()) ||
         ((!options.folder_option.empty() || options.json || options.dry_run) &&
          names_folder(options.output));
}

BatchPlan plan_of_picture(const FilterOptions& options) {
  BatchPlan plan;
  plan.inputs = options.inputs;
  plan.is_one_picture = true;
  BatchItem item;
  item.input = options.input();
  item.output = result_path(options);
  item.output_format = output_format(options, item.output);
  check_paths(options, item.output);
  item.others = other_outputs(options, item.output);
  item.bytes = bytes_of_file(item.input);
  item.replaces_input = options.in_place;
  plan.items.push_back(std::move(item));
  check_formats(options, plan);
  BatchItem& picture = plan.items.front();
  if (options.json &&
      (timing_is_data(options) || options.trace == standard_stream || options.show_kernel)) {
    throw UsageError(
        "--json: standard output has room for one document; leave out --timing json, "
        "--timing csv, --trace - and --show-kernel");
  }
  if (options.run.keep_time &&
      (options.input() == standard_stream || picture.output == standard_stream))
    throw UsageError("--keep-time: '-' has no modification time; name a file");
  check_trace(options, plan);
  check_streams_of_picture(options, picture.output);
  check_report(options, picture.output, false);
  picture.keep_output = !options.in_place && keeps(options, picture.output);
  picture.exists = picture.keep_output;
  for (ChainOutput& other : picture.others) {
    other.keep = keeps(options, other.path);
    picture.exists = picture.exists && other.keep;
  }
  return plan;
}

void check_folder_run(const FilterOptions& options) {
  check_streams_of_folder(options);
  check_folder_options(options);
  check_report(options, options.output, true);
}

BatchRequest request_for(const FilterOptions& options) {
  BatchRequest request = options;
  if (!options.on_exists_given) request.on_exists = OnExists::fail;
  request.shard = share_for(options);
  return request;
}

BatchPlan plan_of_folder(const FilterOptions& options, const BatchRequest& request) {
  BatchPlan plan = make_batch_plan(request);
  const bool is_empty = plan.shard ? plan.shard->all_pictures == 0 : plan.items.empty();
  if (is_empty) log::warn(describe_emptiness(plan, options.patterns));
  check_formats(options, plan);
  return plan;
}

}  // namespace gpufilter
