#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "app/cli/arguments.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/parse.hpp"
#include "app/cli/shared_options.hpp"
#include "app/filter/format_options.hpp"
#include "app/report/stats_report.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "chart/histogram_plot.hpp"
#include "codec/unread.hpp"
#include "pipeline/choose/dispatcher.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

constexpr const char* stats_description =
    "Prints statistics of a picture's samples as they are stored, for each channel: minimum, "
    "maximum, mean, standard deviation, percentiles, and the bitwise and, or and xor.";

constexpr const char* stats_explanation =
    R"(The standard deviation is divided by the number of pixels, not by one less. The
percentile P is the smallest value that at least P percent of the pixels do not
exceed. and, or, xor combine all samples bit by bit: a bit that is 0 in 'or' is
0 in every sample.

Examples:
  gpufilter stats photo.jpg
  gpufilter stats photo.jpg --plot histogram.svg
  gpufilter in.png - --levels auto | gpufilter stats -
  gpufilter stats a.png --json | jq '.channels[] | {name, mean}'
)";

struct StatsOptions {
  std::string input;
  bool json = false;
  std::string plot;  // file; empty: none
  std::string device = "auto";
  bool require_device = false;
  ReadLimits limits;
};

void declare_options(Arguments& app, StatsOptions& options) {
  app.add_option("FILE", options.input,
                 formatted("A picture: {}; - is standard input.", names_of(codecs())))
      ->required()
      ->suggests(picture_files());
  app.add_flag("--json", options.json, "Print one JSON object, with histograms.");
  add_plot(app, options.plot, "Draw the histogram of each channel into this SVG file.");
  add_device_choice(app, options.device, options.require_device, {.automatic = "the processor"});
  app.add_option("--max-pixels", options.limits.max_pixels, "Refuse pictures with more pixels.")
      ->check(whole_number(1, UINT64_MAX))
      ->option_text(formatted("N [{}]", options.limits.max_pixels));
  add_color_output(app);
  app.footer(stats_explanation);
}

void check_paths(const StatsOptions& options) {
  if (is_folder_argument(options.input)) {
    throw UsageError(options.input + ": is a folder; stats takes one picture");
  }
  std::error_code ignored;
  if (!options.plot.empty() && fs::equivalent(options.input, options.plot, ignored)) {
    throw UsageError(options.plot + ": is the input picture; give --plot another name");
  }
}

// The device that --device means here, and why, if nothing else says so. Statistics cost less than
// starting any device.
struct ChosenDevice {
  std::string name;
  std::string reason;
};

ChosenDevice chosen_device(const StatsOptions& options) {
  if (options.device != "auto" && options.device != "all") return {options.device, ""};
  if (options.require_device) return {"opencl", ""};
  return {"cpu", "statistics take less time than starting a device"};
}

StatsReport measure(RowReader& reader, Engine& engine, const std::string& reason) {
  CountedPicture counted = count_picture(reader, engine, reason);
  StatsReport report;
  report.file_format = reader.header().file_format;
  report.size = reader.header().size;
  report.format = reader.header().format;
  report.histograms = std::move(counted.histograms);
  report.engine = std::move(counted.engine);
  report.gathering = std::move(counted.gathering);
  return report;
}

std::string plot_of(const StatsReport& report) {
  const std::string title = fs::path(report.name).filename();
  const std::string subtitle =
      formatted("{} x {}, {}, {} pixels", report.size.width, report.size.height,
                to_string(report.format), report.size.pixels());
  return lab::draw_histograms(report.histograms, report.format, title, subtitle);
}

}  // namespace

int run_stats_command(int argc, const char* const* argv) {
  StatsOptions options;
  Arguments app(stats_description, "gpufilter stats");
  declare_options(app, options);
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  check_paths(options);

  const ChosenDevice chosen = chosen_device(options);
  const auto engine = make_engine(chosen.name, options.require_device, default_engine_options());
  engine->await_choice();
  std::unique_ptr<ByteSource> source = open_source(options.input);
  const std::string name = source->name();
  const auto reader = open_picture(std::move(source), options.limits);
  const auto plot = open_drawing(options.plot, "--plot", "SVG");
  StatsReport report = measure(*reader, *engine, chosen.reason);
  report.name = name;
  warn_of_unread(name, reader->header().unread);
  if (plot) write_plot(*plot, plot_of(report));
  options.json ? print_document(json_report(report)) : print_result(text_report(report));
  engine->keep_programs();
  return 0;
}

}  // namespace gpufilter
