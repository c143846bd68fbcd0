#include "app/filter_options.hpp"

#include <algorithm>
#include <limits>

#include "app/color_output.hpp"
#include "app/device_options.hpp"
#include "app/format_options.hpp"
#include "app/parse.hpp"
#include "app/stage_options.hpp"
#include "app/trace_file.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/thread_limit.hpp"
#include "codec/codec_table.hpp"

namespace gpufilter {
namespace {

constexpr const char* examples =
    R"(Stages run in the order in which they are written; any may be repeated.
A parameter belongs to the stage before it; given before the first stage, it is
the default of all stages that take it.
'-' is standard input or standard output.

Examples:
  gpufilter in.png out.png --blur tiled             blur, see the time it took
  gpufilter in.jpg out.png --blur auto --blur auto  blur twice
  gpufilter in.png out.png --blur tiled --tile 32 --border mirror --device gpu
  gpufilter in.png out.png --border wrap --blur auto --blur auto --border mirror
  gpufilter in.png out.jpg --quality 85             only convert
  gpufilter - - --blur auto < in.png > out.png      in a pipe
  gpufilter in.png out.png --blur auto --timing json --trace trace.json
  gpufilter photos/ results/ --blur auto --recursive --resume
  gpufilter devices                                 list the devices
  gpufilter compare a.png b.png                     are the two the same?

Exit codes: 0 done, 1 a picture failed, 2 wrong usage, 3 no such device,
130 and 143 interrupted.)";

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
  std::string names;
  std::string current;
  for (const auto& [text, choice] : choices) {
    names += (names.empty() ? "" : "|") + text;
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
      ->check(CLI::IsMember([&choices] {
        std::vector<std::string> texts;
        for (const auto& [text, choice] : choices)
          texts.push_back(text);
        return texts;
      }()))
      ->option_text(formatted("{} [{}]", names, current));
}

void add_device_options(CLI::App& app, FilterOptions& options) {
  add_device_choice(app, options.device, options.require_device,
                    "all (folders are spread over them), ");
  app.add_option(
         "--threads", options.threads,
         "Threads that decoding, filtering on the CPU and encoding take in all; PoCL has as "
         "many of its own, while those wait")
      ->check(whole_number(1, max_threads))
      ->option_text(formatted("N [{}]", allowed_threads()));
  app.add_option_function<std::string>(
         "--max-memory",
         [&options](const std::string& text) { options.max_memory = parse_bytes(text); },
         "What the bands under way may take, of all pictures together: bytes, or with K, M or G; "
         "bands get lower for it. In folders at least 16M a job, where it is not given")
      ->check(byte_count())
      ->option_text("BYTES [128M]");
  app.add_option("--band-rows", options.band_rows,
                 "Rows that the device gets at a time; by default what suits it")
      ->check(whole_number(1, std::numeric_limits<int>::max()))
      ->option_text("N");
}

void add_picture_options(CLI::App& app, FilterOptions& options) {
  add_format_options(app, options.run.write);
  app.add_option("--max-pixels", options.run.limits.max_pixels, "Refuse larger pictures")
      ->check(whole_number(1, UINT64_MAX))
      ->option_text(formatted("N [{}]", options.run.limits.max_pixels));
  add_choice<OnExists>(
      app, "--on-exists", options.on_exists,
      {{"fail", OnExists::fail}, {"skip", OnExists::skip}, {"overwrite", OnExists::overwrite}},
      "What to do where OUTPUT already exists; for folders the default is fail");
  app.add_flag("--in-place", options.in_place, "Let OUTPUT be the same file as INPUT");
}

void add_report_options(CLI::App& app, FilterOptions& options) {
  add_choice<TimingFormat>(app, "--timing", options.timing,
                           {{"line", TimingFormat::line},
                            {"table", TimingFormat::table},
                            {"json", TimingFormat::json},
                            {"csv", TimingFormat::csv},
                            {"off", TimingFormat::off}},
                           "Where the time went: three lines or a table on standard error, JSON or "
                           "CSV on standard output");
  app.add_flag("--verify{16}", options.run.verify_blocks,
               "Compute N random blocks of 8 rows once more by the processor's baseline; a picture "
               "in which one differs fails")
      ->check(whole_number(1, max_verify_blocks))
      ->option_text("[=N]");
  app.add_option("--trace", options.trace, "Write every span of time as Chrome trace events")
      ->option_text("FILE");
  add_choice<ProgressMode>(
      app, "--progress", options.progress,
      {{"auto", ProgressMode::automatic}, {"on", ProgressMode::on}, {"off", ProgressMode::off}},
      "Show how far it is; auto: on a terminal, when it takes long");
  app.add_flag_function(
      "-v,--verbose",
      [&options](std::int64_t times) {
        options.log_level = times > 1 ? log::Level::debug : log::Level::info;
      },
      "Say more: device, plan, programs; -vv: everything");
  app.add_flag("-q,--quiet", options.quiet,
               "Say nothing but errors, fallbacks, and what --timing asks for");
  add_choice<log::Level>(app, "--log-level", options.log_level,
                         {{"debug", log::Level::debug},
                          {"info", log::Level::info},
                          {"warn", log::Level::warn},
                          {"error", log::Level::error},
                          {"off", log::Level::off}},
                         "Which lines of the log appear on standard error");
  add_color_output(app);
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
  CLI::App app("Filters pictures on the processor and on GPUs: exact to the bit on every device.",
               "gpufilter");
  app.footer(examples);
  app.set_version_flag("--version", "gpufilter " GPUFILTER_VERSION);
  app.add_option(
         "INPUT", options.input,
         formatted("Picture to read: {}. A folder: every picture in it", names_of(codecs())))
      ->required();
  app.add_option("OUTPUT", options.output,
                 "Picture to write; its name decides the format. A folder: INPUT's name in it, "
                 "or the pictures of a folder")
      ->required();
  const StageOptions stages(app);
  add_device_options(app, options);
  add_picture_options(app, options);
  add_report_options(app, options);
  add_folder_options(app, options.folder);
  if (const auto done = parse_command_line(app, argc, argv)) {
    return std::nullopt;
  }
  apply_quiet(app, options);
  options.on_exists_given = app.count("--on-exists") > 0;
  note_folder_options(app, options.folder);
  apply_threads(app, options);
  options.chain = stages.chain();
  return options;
}

}  // namespace gpufilter
