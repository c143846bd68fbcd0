#include "app/filter/filter_checks.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <unistd.h>

#include "app/cli/paths.hpp"
#include "app/filter/format_options.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/posix_file.hpp"
#include "base/printable.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

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

void check_format_options(const RunOptions& options, const Codec* file_format,
                          const std::vector<ChainOutput>& others) {
  if (file_format == nullptr) return;
  CodecList formats{file_format};
  for (const ChainOutput& output : others) {
    if (std::find(formats.begin(), formats.end(), output.format) == formats.end())
      formats.push_back(output.format);
  }
  refuse_unused_options(options.write, formats, options.limits.damaged);
}

// Why two names are the same file.
std::string same_file_reason(const std::string& input, const std::string& output) {
  for (const std::string& path : {input, output}) {
    if (std::string text = link_text(path); !text.empty()) return text;
  }
  return "input and output are the same file";
}

void check_time(const FilterOptions& options, const std::string& output) {
  if (!options.run.keep_time) return;
  for (const std::string& path : {options.input, output}) {
    if (path == standard_stream)
      throw UsageError("--keep-time: '-' has no time of modification; name a file");
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

}  // namespace

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

void check_filter_options(const FilterOptions& options, const std::string& output,
                          const Codec* file_format, const std::vector<ChainOutput>& others) {
  check_format_options(options.run, file_format, others);
  check_json(options);
  check_time(options, output);
  if (!options.trace.empty()) check_trace(options, output, others);
  if (options.show_kernel) check_show_kernel(options, output);
}

}  // namespace gpufilter
