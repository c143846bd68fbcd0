#include "app/filter_options.hpp"

#include <algorithm>
#include <limits>

#include "app/chosen_shard.hpp"
#include "app/color_output.hpp"
#include "app/device_options.hpp"
#include "app/format_options.hpp"
#include "app/main_help.hpp"
#include "app/parse.hpp"
#include "app/stage_options.hpp"
#include "app/trace_file.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/thread_limit.hpp"
#include "codec/codec_table.hpp"

namespace gpufilter {
namespace {

// More than any machine can use; each thread takes memory.
constexpr int max_threads = 1024;

constexpr int max_verify_blocks = 1'000'000;

template <typename Value>
using Choices = std::vector<std::pair<std::string, Value>>;

// An option whose value is one of `choices`; the help shows them and, in brackets, the one that
// `value` holds now.
template <typename Value>
void add_choice(CLI::App& app, const std::string& name, Value& value, const Choices<Value>& choices,
                const std::string& help) {
  std::vector<std::string> words;
  std::string current;
  for (const auto& [text, choice] : choices) {
    words.push_back(text);
    if (choice == value) current = text;
  }
  app.add_option_function<std::string>(
         name,
         [&value, choices](const std::string& given) {
           for (const auto& [text, choice] : choices) {
             if (text == given) value = choice;
           }
         },
         help)
      ->check(one_of(words))
      ->option_text(formatted("{} [{}]", fmt::join(words, "|"), current));
}

void add_device_options(CLI::App& app, FilterOptions& options) {
  app.option_defaults()->group("Devices and resources");
  add_device_choice(app, options.device, options.require_device,
                    {.automatic = "whatever finishes first", .has_all = true});
  app.add_option(
         "--threads", options.threads,
         "Threads for decoding, filtering and encoding together. PoCL has as many of its own, "
         "which work while those wait.")
      ->check(whole_number(1, max_threads))
      ->option_text(formatted("N [{}]", allowed_threads()));
  app.add_option_function<std::string>(
         "--max-memory",
         [&options](const std::string& text) {
           options.max_memory = parse_bytes(text);
           ReadLimits& limits = options.run.limits;
           limits.max_memory = std::max(limits.max_memory, *options.max_memory);
           options.run.write.limit_memory(limits.max_memory);
         },
         "Memory for the bands under way, of all pictures together. In bytes, or with K, M or G. "
         "Bands become lower to fit. For folders the default is at least 16M a job. More than 1G "
         "lets larger interlaced PNGs and progressive JPEGs in.")
      ->check(byte_count())
      ->option_text("BYTES [128M]");
  app.add_option("--band-rows", options.band_rows,
                 "Rows that are filtered at a time. By default what suits the device.")
      ->check(whole_number(1, std::numeric_limits<int>::max()))
      ->option_text("N");
}

void add_kernel_options(CLI::App& app, FilterOptions& options) {
  app.add_flag_callback(
      "--no-fuse", [&options] { options.fuse = false; },
      "Give every stage a kernel of its own on an OpenCL device; the result is the same");
  app.add_flag("--show-kernel", options.show_kernel,
               "Run on an OpenCL device and print the OpenCL C that ran on standard output");
}

void add_picture_options(CLI::App& app, FilterOptions& options) {
  app.option_defaults()->group("Pictures");
  app.add_option_function<std::string>(
         "--to", [&options](const std::string& name) { options.to = &codec_named(name); },
         "Format of the output. By default the name of OUTPUT decides; for folders and for '-' it "
         "is that of the input.")
      ->check(one_of(format_names()))
      ->option_text(formatted("{}", fmt::join(main_format_names(), "|")));
  add_format_options(app, options.run.write);
  app.add_option("--max-pixels", options.run.limits.max_pixels, "Refuse pictures with more pixels.")
      ->check(whole_number(1, UINT64_MAX))
      ->option_text(formatted("N [{}]", options.run.limits.max_pixels));
  add_choice<OnExists>(
      app, "--on-exists", options.on_exists,
      {{"fail", OnExists::fail}, {"skip", OnExists::skip}, {"overwrite", OnExists::overwrite}},
      "What to do if OUTPUT already exists. For folders the default is fail.");
  app.add_flag("--in-place", options.in_place, "Let OUTPUT be the same file as INPUT.");
}

void add_report_options(CLI::App& app, FilterOptions& options) {
  app.option_defaults()->group("Reports");
  add_choice<TimingFormat>(app, "--timing", options.timing,
                           {{"line", TimingFormat::line},
                            {"table", TimingFormat::table},
                            {"json", TimingFormat::json},
                            {"csv", TimingFormat::csv},
                            {"off", TimingFormat::off}},
                           "Report where the time went. Three lines or a table on standard error, "
                           "JSON or CSV on standard output.");
  // A function, because CLI11 2.4 checks a number that is counted even where the flag is absent.
  app.add_flag_function(
         "--verify{16}",
         [&options](std::int64_t blocks) { options.run.verify_blocks = static_cast<int>(blocks); },
         "Check N random blocks of each result. A block is 8 rows; the processor computes "
         "them once more. A picture that differs fails and is not written.")
      ->check(whole_number(1, max_verify_blocks))
      ->option_text("[=N]");
  app.add_option("--trace", options.trace,
                 "Write every span of time to a file. As Chrome trace events.")
      ->option_text("FILE");
  add_choice<ProgressMode>(
      app, "--progress", options.progress,
      {{"auto", ProgressMode::automatic}, {"on", ProgressMode::on}, {"off", ProgressMode::off}},
      "Show the progress. auto: on a terminal, when it takes long.");
  app.add_flag_function(
      "-v,--verbose",
      [&options](std::int64_t times) {
        options.log_level = times > 1 ? log::Level::debug : log::Level::info;
      },
      "Say more: device, plan, programs. -vv says everything.");
  app.add_flag(
      "-q,--quiet", options.quiet,
      "Say nothing but errors and fallbacks. What --timing, --progress and --log-level ask "
      "for stays.");
  add_choice<log::Level>(app, "--log-level", options.log_level,
                         {{"debug", log::Level::debug},
                          {"info", log::Level::info},
                          {"warn", log::Level::warn},
                          {"error", log::Level::error},
                          {"off", log::Level::off}},
                         "Lines of the log on standard error.");
  add_color_output(app);
}

// The parser would give INPUT, of which there may be several, the last name too: OUTPUT is declared
// for the help alone.
void add_names(CLI::App& app, FilterOptions& options) {
  app.add_option("INPUT", options.inputs,
                 formatted("Picture to read: {}; several, if OUTPUT is a folder. A folder: every "
                           "picture in it.",
                           names_of(codecs())))
      ->option_text("...");
  app.add_option("OUTPUT", options.output,
                 "Picture to write; its name decides the format. A folder: the results in it have "
                 "the names of their inputs.");
}

void take_output_from_names(const CLI::App& app, FilterOptions& options) {
  const char* missing = options.inputs.empty()       ? "INPUT"
                        : options.inputs.size() == 1 ? "OUTPUT"
                                                     : nullptr;
  if (missing != nullptr) {
    throw UsageError(formatted("{} is required (see {} --help)", missing, app.get_name()));
  }
  options.output = options.inputs.back();
  options.inputs.pop_back();
  options.input = options.inputs.front();
  const auto& given = app.parse_order();
  options.only_names = std::all_of(given.begin(), given.end(), [](const CLI::Option* option) {
    return option->get_positional();
  });
}

// Each picture under way takes a thread, so there are not more of them than threads.
void apply_threads(const CLI::App& app, FilterOptions& options) {
  if (!options.threads) return;
  if (app.count("--jobs") == 0) {
    options.folder.jobs = std::min(options.folder.jobs, *options.threads);
  } else if (options.folder.jobs > *options.threads) {
    throw UsageError(
        formatted("--jobs {} is more than --threads {}: each picture under way takes a thread",
                  options.folder.jobs, *options.threads));
  }
}

// What is asked for by name is not taken away.
void apply_quiet(const CLI::App& app, FilterOptions& options) {
  if (!options.quiet) return;
  if (app.count("--log-level") == 0) options.log_level = log::Level::error;
  if (app.count("--timing") == 0) options.timing = TimingFormat::off;
  if (app.count("--progress") == 0) options.progress = ProgressMode::off;
}

}  // namespace

std::optional<FilterOptions> parse_filter_options(int argc, const char* const* argv) {
  FilterOptions options;
  options.command_line = command_line_text(argc, argv);
  CLI::App app("", "gpufilter");
  app.get_help_ptr()->group("Help")->description("Show what most people need, on one screen.");
  app.option_defaults()->group("Help");
  app.set_help_all_flag("--help-all", "Show every option.");
  app.set_version_flag("--version", "gpufilter " GPUFILTER_VERSION, "Show the version.");
  add_names(app, options);
  const StageOptions stages(app);
  add_device_options(app, options);
  add_kernel_options(app, options);
  add_picture_options(app, options);
  add_folder_options(app, options.folder);
  add_report_options(app, options);
  if (const auto done = parse_command_line(app, argc, argv, main_page)) return std::nullopt;
  apply_quiet(app, options);
  take_output_from_names(app, options);
  options.on_exists_given = app.count("--on-exists") > 0;
  note_folder_options(app, options.folder);
  options.folder.command = command_without_shard(argc, argv);
  apply_threads(app, options);
  options.chain = stages.chain();
  return options;
}

}  // namespace gpufilter
