#include "app/compare_command.hpp"

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include <CLI/CLI.hpp>

#include "app/color_output.hpp"
#include "app/compare_report.hpp"
#include "app/failure.hpp"
#include "app/parse.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "codec/codec_table.hpp"
#include "pipeline/comparison.hpp"

namespace gpufilter {
namespace {

constexpr int trouble = 4;

constexpr const char* description =
    "Compares two pictures sample for sample, as decoded: a PNG and a JPEG can be\n"
    "equal, and what files say beside their pixels does not matter. A difference is\n"
    "counted in steps of a sample.";

constexpr const char* explanation = R"(Exit codes:
  0  equal
  1  different, but every sample by at most the tolerance
  2  different
  3  other size or format (channels, bits a sample)
  4  could not compare: a file cannot be read or written, or wrong usage

The picture that --diff draws (RGB, 8-bit) shows A dimmed and grey where the two
are equal. Where they differ it is yellow for a difference of one and a step
redder for each doubling of the largest difference there; red is half of the
full range and more. Where alpha alone differs it goes from cyan to blue
instead. Differences within the tolerance are drawn too.

Examples:
  gpufilter compare a.png b.png
  gpufilter compare a.png b.jpg --tolerance 8 --diff differences.png
  gpufilter compare expected.png result.png --json | jq .maximum
  gpufilter in.png - --blur auto | gpufilter compare -q - other.png && echo same
)";

struct CompareOptions {
  std::string a;
  std::string b;
  std::uint32_t tolerance = 0;
  std::optional<std::string> drawing;
  std::uint64_t max_pixels = ReadLimits{}.max_pixels;
  bool json = false;
  bool quiet = false;
};

// The formats for drawings: a difference of one step has to stay visible.
CodecList drawing_formats() {
  CodecList list;
  std::ranges::copy_if(codecs(), std::back_inserter(list), &Codec::is_lossless);
  return list;
}

void declare_options(CLI::App& app, CompareOptions& options) {
  app.add_option("A", options.a, "A picture; - is standard input")->required()->option_text(" ");
  app.add_option("B", options.b, "The picture to compare with; - is standard input")
      ->required()
      ->option_text(" ");
  app.add_option("--tolerance", options.tolerance,
                 "Let differences of a sample up to N pass, in steps of the pictures' own depth")
      ->check(whole_number(0, 65535))
      ->option_text("N [0]");
  app.add_option("--diff", options.drawing,
                 "Draw the differences into this file, " + names_of(drawing_formats()))
      ->option_text("OUT.png");
  app.add_option("--max-pixels", options.max_pixels, "Refuse pictures with more pixels than this")
      ->check(whole_number(1, UINT64_MAX))
      ->option_text(formatted("N [{}]", options.max_pixels));
  auto* json = app.add_flag("--json", options.json, "Print the result as one JSON object");
  json->option_text(" ");
  app.add_flag("-q,--quiet", options.quiet, "No result, only the exit code; failures are reported")
      ->excludes(json)
      ->option_text(" ");
  add_color_output(app);
  app.footer(explanation);
}

void check_inputs(const CompareOptions& options) {
  if (options.a == "-" && options.b == "-") {
    throw UsageError("compare: only one of the two pictures can be standard input");
  }
  for (const std::string& path : {options.a, options.b}) {
    std::error_code ignored;
    if (path != "-" && std::filesystem::is_directory(path, ignored)) {
      throw UsageError(path + ": is a folder; compare takes two pictures");
    }
  }
}

void check_drawing(const CompareOptions& options) {
  if (!options.drawing) return;
  if (*options.drawing == "-" || !codec_for_output(*options.drawing).is_lossless) {
    throw UsageError(
        formatted("{}: differences are drawn as {}; give --diff a name that ends in {}",
                  *options.drawing, names_of(drawing_formats()), endings_of(drawing_formats())));
  }
  for (const std::string& path : {options.a, options.b}) {
    std::error_code ignored;
    if (std::filesystem::equivalent(path, *options.drawing, ignored)) {
      throw UsageError(*options.drawing +
                       ": is one of the pictures to compare; give --diff another");
    }
  }
}

Comparison compare_and_draw(RowReader& a, RowReader& b, const CompareOptions& options) {
  if (!options.drawing) return compare_pictures(a, b, options.tolerance);
  const std::unique_ptr<ByteSink> sink = open_sink(*options.drawing);
  PictureHeader header;
  header.size = a.header().size;
  header.format = difference_format;
  const std::unique_ptr<RowWriter> writer =
      create_picture(codec_for_output(*options.drawing), *sink, header);
  Comparison comparison = compare_pictures(a, b, options.tolerance, writer.get());
  sink->commit();
  return comparison;
}

CompareReport compare(const CompareOptions& options) {
  check_inputs(options);
  check_drawing(options);
  const ReadLimits limits{options.max_pixels};
  std::unique_ptr<ByteSource> source_a = open_source(options.a);
  std::unique_ptr<ByteSource> source_b = open_source(options.b);
  CompareReport report;
  report.tolerance = options.tolerance;
  report.wanted_drawing = options.drawing;
  report.a.name = source_a->name();
  report.b.name = source_b->name();
  const std::unique_ptr<RowReader> a = open_picture(std::move(source_a), limits);
  const std::unique_ptr<RowReader> b = open_picture(std::move(source_b), limits);
  report.a.header = a->header();
  report.b.header = b->header();
  if (comparable(a->header(), b->header())) report.comparison = compare_and_draw(*a, *b, options);
  return report;
}

int parse_and_compare(int argc, const char* const* argv) {
  CompareOptions options;
  CLI::App app(description, "gpufilter compare");
  declare_options(app, options);
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  if (options.quiet) log::set_level(log::Level::error);
  const CompareReport report = compare(options);
  if (!options.quiet) print_result(options.json ? json_report(report) : text_report(report));
  return exit_code(report);
}

}  // namespace

int run_compare_command(int argc, const char* const* argv) {
  try {
    return parse_and_compare(argc, argv);
  } catch (...) {
    return report_failure({trouble, trouble, trouble});
  }
}

}  // namespace gpufilter
