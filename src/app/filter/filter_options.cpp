#include "app/filter/filter_options.hpp"

#include <algorithm>
#include <limits>

#include "app/cli/command_words.hpp"
#include "app/cli/main_help.hpp"
#include "app/cli/parse.hpp"
#include "app/cli/shared_options.hpp"
#include "app/filter/format_options.hpp"
#include "app/filter/output_choice.hpp"
#include "app/filter/stage_options.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"
#include "base/printable.hpp"
#include "base/threads.hpp"
#include "batch/journal.hpp"
#include "codec/codec_table.hpp"
#include "codec/isolated_decoding.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/colour/color_profile.hpp"

namespace gpufilter {
namespace {

// More than any machine can use; each thread takes memory.
constexpr int max_threads = 1024;

constexpr int max_verify_blocks = 1'000'000;

constexpr const char* folder_group = "Folders";
// Below the size of the table of files that a signal removes.
constexpr int max_jobs = 128;

// "LOW,HIGH". Throws UsageError.
SampleRange parse_range(const std::string& text) {
  const std::string words = "--range " + printable(text);
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) throw UsageError(words + ": write LOW,HIGH");
  const SampleRange range{parse_number(words, std::string_view(text).substr(0, comma)),
                          parse_number(words, std::string_view(text).substr(comma + 1))};
  if (range.low >= range.high) throw UsageError(words + ": LOW must be below HIGH");
  return range;
}

constexpr const char* damaged_variable = "GPUFILTER_DAMAGED";
const Choices<Damaged>& damaged_choices() {
  static const Choices<Damaged> choices{{"fail", Damaged::fail}, {"keep", Damaged::keep}};
  return choices;
}

void add_device_options(Arguments& app, FilterOptions& options) {
  app.begin_group("Devices and resources");
  add_device_choice(app, options.device, options.require_device,
                    {.automatic = "whatever finishes first", .has_all = true});
  add_choice<DecodeOn>(
      app, "--decode-on", options.run.decode_on,
      {{"auto", DecodeOn::automatic}, {"cpu", DecodeOn::cpu}, {"gpu", DecodeOn::gpu}},
      "Where to decode JPEGs that a GPU filters. The pixels are the same. auto: on the GPU if that "
      "is faster. gpu: on any OpenCL device. Progressive and damaged files, and those that do not "
      "fit into --max-memory, are decoded by the processor.");
  add_choice<EncodeOn>(
      app, "--encode-on", options.run.encode_on,
      {{"auto", EncodeOn::automatic}, {"cpu", EncodeOn::cpu}, {"gpu", EncodeOn::gpu}},
      "Where to encode JPEGs that a GPU has filtered. The file is the same. auto: on the GPU. gpu: "
      "on any OpenCL device. Progressive files, and those with --verify or several outputs, are "
      "encoded by the processor.");
  app.add_option_function(
         "--isolate",
         [](const std::string& text) {
           set_isolation(text == "on"    ? Isolation::on
                         : text == "off" ? Isolation::off
                                         : Isolation::automatic);
         },
         "Decode HEIC and AVIF in a separate process, so that a crash fails only that picture. "
         "auto: "
         "with libheif before 1.17, which crashes on some damaged files.")
      ->check(one_of({"auto", "on", "off"}))
      ->option_text("auto|on|off [auto]");
  app.add_option(
         "--threads", options.threads,
         "Threads for decoding, filtering and encoding together. PoCL starts as many of its own, "
         "which work while the others wait.")
      ->check(whole_number(1, max_threads))
      ->option_text(formatted("N [{}]", available_cores()))
      ->portable_text("N [all cores]");
  app.add_option_function(
         "--max-memory",
         [&options](const std::string& text) {
           options.max_memory = parse_bytes(text);
           options.run.decoder_memory = 0;
           ReadLimits& limits = options.run.limits;
           limits.max_memory = std::max(limits.max_memory, *options.max_memory);
           options.run.write.limit_memory(limits.max_memory);
         },
         "Memory for the bands in progress of all pictures. In bytes, or with K, M or G. "
         "Bands are made smaller to fit. For folders the default is at least 16M per job. A value "
         "above 1G also allows larger interlaced PNGs, progressive JPEGs and overlays.")
      ->check(byte_count())
      ->option_text("BYTES [128M]");
  app.add_option("--band-rows", options.band_rows,
                 "Rows in a band, the unit of work. The default suits the device.")
      ->check(whole_number(1, std::numeric_limits<int>::max()))
      ->option_text("N");
}

void add_kernel_options(Arguments& app, FilterOptions& options) {
  app.add_flag_callback(
      "--no-fuse", [&options] { options.fuse = false; },
      "On an OpenCL device, run each stage in a separate kernel. The result is the same.");
  const auto show = [&options](const std::string& word) {
    options.show_kernel = true;
    options.short_kernel = word == "short";
  };
  app.add_flag_with_words("--show-kernel", {"whole", "short"}, "whole", show,
                          "Run on an OpenCL device and print its kernels' OpenCL C on standard "
                          "output; short leaves out what all kernels share.")
      ->option_text("[=short]");
}

void add_picture_options(Arguments& app, FilterOptions& options,
                         std::vector<std::string>& formats) {
  app.begin_group("Pictures");
  app.add_option_function(
         "--to",
         [&formats](const std::string& text) {
           for (const std::string_view name : split(text, ','))
             formats.emplace_back(name);
         },
         formatted("Format of the output. One of {}; in a folder several with commas, and each "
                   "picture is written in each. By default the name of the output file decides; "
                   "'-' has the format of the input.",
                   fmt::join(main_format_names(), ", ")))
      ->check(format_name())
      ->option_text("FORMAT,...");
  app.add_option_function(
         "--name", [&options](const std::string& text) { options.name.emplace(text); },
         "Names of results in a folder. In TEMPLATE, {stem} and {ext} stand for the input's name "
         "before and after its last dot, {name} for both, {parent} for its folder's name, {to} "
         "for the extension of the output's format, {width} and {height} for those in --sizes, "
         "{n:04} for the picture's number, {date:%Y-%m-%d} for when it was taken, and {hash} for "
         "its contents and the work on it.")
      ->option_text("TEMPLATE [{stem}.{to}]");
  add_format_options(app, options.run.write);
  add_choice<OrientationRule>(
      app, "--orientation", options.orientation, orientation_rules(),
      "When the orientation in EXIF or XMP is applied. auto: before the first stage that depends "
      "on it, such as --crop, --overlay or --resize 800x; without such a stage it is carried over. "
      "apply: at the beginning, as by --auto-orient. keep: by --auto-orient only; stages see the "
      "pixels as stored.");
  app.add_option("--max-pixels", options.run.limits.max_pixels, "Refuse pictures with more pixels.")
      ->check(whole_number(1, UINT64_MAX))
      ->option_text(formatted("N [{}]", options.run.limits.max_pixels));
  app.add_option_function(
         "--range",
         [&options](const std::string& text) { options.run.limits.range = parse_range(text); },
         "Values that become black and white, for TIFF files with floating-point or signed samples "
         "or more than 16 bits. By default 0 to 1, or the full range of unsigned integers.")
      ->option_text("LOW,HIGH");
  add_choice<Damaged>(
      app, "--damaged", options.run.limits.damaged, damaged_choices(),
      formatted("What to do with a picture that can be read only in part. keep: missing rows get "
                "the colour of --background, and a warning says how many were read. Not with "
                "--in-place. {}, if it is set, is the default.",
                damaged_variable));
  app.add_flag("--keep-time", options.run.keep_time,
               "Give each output its input's modification time.");
  app.add_flag("--dry-run", options.dry_run,
               "Print what would be done, and write nothing. What a run would refuse is refused "
               "with the same exit code.");
}

void add_folder_options(Arguments& app, FilterOptions& options) {
  app.begin_group(folder_group);
  app.add_flag("--recursive", options.recursive,
               "Include subfolders of INDIR. Results keep their subfolders in OUTDIR.");
  app.add_flag("--follow-links", options.follow_links,
               "With --recursive, follow links to folders too. Links to files are always read.");
  app.add_option("--match", options.patterns,
                 "Only pictures in a folder whose names match. For example 'img*.png'; case is "
                 "ignored; may be repeated.")
      ->one_value_each()
      ->option_text("GLOB");
  app.add_option("--exclude", options.excluded,
                 "Skip files and folders in INDIR that match. A pattern without a slash means a "
                 "name, in any folder; with one, a path below INDIR, in which '**' stands for any "
                 "folders; with one at its end, folders only. May be repeated.")
      ->one_value_each()
      ->option_text("GLOB");
  app.add_option(
         "--list", options.list,
         "Read the list of pictures from FILE instead of searching INDIR. An entry is a path "
         "below INDIR, or a size, a tab and a path; it ends in NUL or a line end. '-' is "
         "standard input.")
      ->option_text("FILE")
      ->suggests({.files = Suggestions::Files::all});
  app.add_option(
         "--shard", options.share,
         "Filter only share I of N, from 0/N to N-1/N. Each share is for a separate process, on "
         "any machine. auto: I and N come from Slurm, Kubernetes, MPI or GNU parallel.")
      ->option_text("I/N|auto")
      ->suggests({.words = {"auto"}});
  options.jobs = std::clamp(static_cast<int>(available_cores()), 1, max_jobs);
  app.add_option("--jobs", options.jobs, "Pictures to filter at the same time.")
      ->check(whole_number(1, max_jobs))
      ->option_text(formatted("N [{}]", options.jobs))
      ->portable_text("N [a job for each core]");
  app.add_flag("--resume", options.resume,
               "Continue an earlier run. Only filter what is missing or has changed since.");
  app.add_flag("--stop-on-error", options.stop_on_error, "Start no more pictures once one fails.");
}

// After parsing: the first option that is for folders.
void note_folder_options(const Arguments& app, FilterOptions& options) {
  for (const Option* option : app.parse_order()) {
    if (option->group() != folder_group) continue;
    options.folder_option = option->name();
    return;
  }
}

void add_report_options(Arguments& app, FilterOptions& options) {
  app.begin_group("Reports");
  add_choice<TimingFormat>(app, "--timing", options.timing,
                           {{"line", TimingFormat::line},
                            {"table", TimingFormat::table},
                            {"json", TimingFormat::json},
                            {"csv", TimingFormat::csv},
                            {"off", TimingFormat::off}},
                           "Report where the time went. Three lines or a table on standard error, "
                           "JSON or CSV on standard output.");
  app.add_flag("--json", options.json,
               "Print one JSON document on standard output. For folders it has an object for each "
               "picture.");
  // A function, because CLI11 2.4 checks a counted flag's value even if the flag is absent.
  app.add_flag_function(
         "--verify{16}",
         [&options](std::int64_t blocks) { options.run.verify_blocks = static_cast<int>(blocks); },
         "Check N random blocks of each result. N is 16 by default; a block is 8 rows, which the "
         "processor computes again. A picture that differs fails and is not written.")
      ->check(whole_number(1, max_verify_blocks))
      ->option_text("[=N]");
  app.add_option(
         "--trace", options.trace,
         "Write a trace of the run to FILE. The format is Chrome's, which Perfetto opens too.")
      ->option_text("FILE")
      ->suggests({.files = Suggestions::Files::all, .extensions = {".json"}});
  add_report(app, options.report,
             "Make a page for browsers in DIR, with each picture before and after, differences, "
             "histograms and times.");
  add_choice<ProgressMode>(
      app, "--progress", options.progress,
      {{"auto", ProgressMode::automatic}, {"on", ProgressMode::on}, {"off", ProgressMode::off}},
      "Show the progress. auto: on a terminal, if the run takes longer than a second.");
  app.add_flag_function(
      "-v,--verbose",
      [&options](std::int64_t times) {
        options.log_level = times > 1 ? log::Level::debug : log::Level::info;
      },
      "Print more: device, plan, programs. -vv prints everything.");
  app.add_flag(
      "-q,--quiet", options.quiet,
      "Print only errors and fallbacks. --timing, --progress and --log-level still take effect if "
      "given.");
  add_choice<log::Level>(app, "--log-level", options.log_level,
                         {{"debug", log::Level::debug},
                          {"info", log::Level::info},
                          {"warn", log::Level::warn},
                          {"error", log::Level::error},
                          {"off", log::Level::off}},
                         "Print messages of this level and above on standard error.");
  add_color_output(app);
}

// Each job takes one of the threads, so there are at most as many jobs as threads.
void apply_threads(const Arguments& app, FilterOptions& options) {
  if (options.threads == 0) return;
  if (app.count("--jobs") == 0) {
    options.jobs = std::min(options.jobs, options.threads);
  } else if (options.jobs > options.threads) {
    throw UsageError(
        formatted("--jobs {} is more than --threads {}: each job takes one of the threads",
                  options.jobs, options.threads));
  }
}

// The readable part of a damaged picture must not replace the file.
void apply_damaged(const Arguments& app, FilterOptions& options) {
  ReadLimits& limits = options.run.limits;
  const auto choice = choice_of_variable(damaged_variable, damaged_choices());
  if (app.count("--damaged") == 0 && !options.in_place)
    limits.damaged = choice.value_or(Damaged::fail);
  if (limits.damaged == Damaged::keep && options.in_place) {
    throw UsageError(
        "--damaged keep with --in-place would replace damaged pictures by a part of "
        "them: write the results to a folder");
  }
  limits.missing = *options.run.write.get<Color>(background_option());
}

void print_version() {
  print_result("gpufilter " GPUFILTER_VERSION "\n" + codec_versions() + ", " +
               little_cms_of_build() + "\n");
  throw NothingLeftToDo();
}

// --quiet does not override options that are given explicitly.
void apply_quiet(const Arguments& app, FilterOptions& options) {
  if (!options.quiet) return;
  if (app.count("--log-level") == 0) options.log_level = log::Level::error;
  if (app.count("--timing") == 0) options.timing = TimingFormat::off;
  if (app.count("--progress") == 0) options.progress = ProgressMode::off;
}

// Everything that the command line may have; `stages` reads its stages.
struct CommandLine {
  FilterOptions options;
  Arguments app{"", "gpufilter"};
  std::optional<StageOptions> stages;
  std::vector<std::string> outputs;
  std::vector<std::string> formats;

  CommandLine() {
    app.help_option().group("Help")->description("Show the most common options on one screen.");
    app.begin_group("Help");
    app.add_help_all("Show every option.");
    app.add_flag_callback("-V,--version", print_version, "Show the version.");
    add_names(app, options);
    stages.emplace(app);
    stages->add_sizes();
    add_device_options(app, options);
    add_kernel_options(app, options);
    add_picture_options(app, options, formats);
    add_existing_file_options(app, options);
    add_chain_outputs(app, outputs);
    add_folder_options(app, options);
    add_report_options(app, options);
  }
};

// Several results of a picture need a folder.
void note_several_results(CommandLine& line) {
  FilterOptions& options = line.options;
  for (const std::string& name : line.formats) {
    const Codec* codec = &codec_named(name);
    if (std::ranges::find(options.to, codec) != options.to.end())
      throw UsageError(formatted("--to {}: {} is given twice", name, codec->name));
    options.to.push_back(codec);
  }
  for (const std::string& size : line.stages->sizes())
    options.sizes.push_back(parse_result_size(size));
  if (options.folder_option.empty() && options.are_several())
    options.folder_option = options.sizes.empty() ? "--to with several formats" : "--sizes";
}

// The chain makes the last size; the others leave it before the stage that does.
void divide_by_sizes(const StageOptions& stages, FilterOptions& options) {
  options.stages = options.chain.size();
  if (options.sizes.empty()) return;
  if (!options.outputs.empty()) {
    throw UsageError("--output: does not work with --sizes; write that size with --sizes too");
  }
  const std::size_t turns = options.chain.size() - options.asked_chain.size();
  options.stages_before_sizes = turns + *stages.place_of_sizes();
  options.run.branches = stages.branches(options.chain, options.stages_before_sizes);
}

}  // namespace

std::optional<FilterOptions> parse_filter_options(int argc, const char* const* argv) {
  CommandLine line;
  const Arguments& app = line.app;
  FilterOptions& options = line.options;
  options.command_line = command_line_text(argc, argv);
  options.repetition = command_to_repeat(argc, argv);
  if (const auto done = parse_command_line(line.app, argc, argv, main_page)) return std::nullopt;
  apply_quiet(app, options);
  note_folder_options(app, options);
  note_several_results(line);
  choose_output(app, command_words(app, argc, argv), options);
  options.share_command = command_without_shard(argc, argv);
  apply_threads(app, options);
  apply_damaged(app, options);
  options.typed_stages = line.stages->typed();
  options.chain = options.asked_chain = line.stages->chain(options.run.limits);
  options.outputs = chain_outputs(app, line.outputs);
  add_upright_stage(options.chain, options.orientation, options.outputs);
  divide_by_sizes(*line.stages, options);
  options.work = run_work(options.chain, options.run.write, options.run.branches);
  return options;
}

std::vector<std::string> filter_option_names() {
  return long_names(CommandLine().app);
}

std::string filter_option_page(const std::string& name) {
  const CommandLine line;
  const Option* option = line.app.find(name);
  if (option == nullptr || option->is_positional()) return "";
  return option_page(*option);
}

}  // namespace gpufilter
