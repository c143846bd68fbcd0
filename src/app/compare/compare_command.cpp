#include <algorithm>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "app/cli/arguments.hpp"
#include "app/cli/command_words.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/parse.hpp"
#include "app/cli/shared_options.hpp"
#include "app/compare/compare_report.hpp"
#include "app/filter/format_options.hpp"
#include "app/report/report_page.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "codec/codec_table.hpp"
#include "stage/options/stage_text.hpp"

namespace gpufilter {
namespace {

html::Tone tone_of(CompareResult result) {
  const bool is_good = result == CompareResult::equal || result == CompareResult::within_tolerance;
  return is_good ? html::Tone::good : html::Tone::bad;
}

std::string file_words(const ComparedFile& file) {
  return formatted("{}x{}, {}; {}", file.size.width, file.size.height, to_string(file.format),
                   file.file_format->name);
}

std::vector<html::Fact> facts_of(const FileComparison& files) {
  return {{"A", files.a.name + ": " + file_words(files.a)},
          {"B", files.b.name + ": " + file_words(files.b)}};
}

// The result as a sentence.
std::string sentence(const FileComparison& files) {
  std::string text = phrase(files) + ".";
  text.front() = static_cast<char>(std::toupper(text.front()));
  return text;
}

// A short note next to the status.
std::string note_of(const FileComparison& files) {
  if (!files.comparison) return "other size or format";
  if (files.comparison->differing_pixels == 0) return "";
  const std::string similarity =
      files.comparison->ssim ? formatted(", SSIM {:.4f}", *files.comparison->ssim) : "";
  return formatted("by at most {}{}", files.comparison->maximum(), similarity);
}

html::Section channel_section(const Comparison& comparison) {
  html::Section section{.heading = "Differences by channel"};
  const auto names = channel_names(comparison.format);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ChannelComparison& channel = comparison.channels[i];
    section.facts.push_back(
        {names[i], formatted("{} samples differ, by at most {}, by {:.6g} on average",
                             channel.differing, channel.maximum, comparison.mean(i))});
  }
  return section;
}

class ComparePage {
 public:
  // Claims the folder. `options` outlive this. Throws UsageError, PictureError.
  explicit ComparePage(const CompareOptions& options)
      : options_(options),
        page_(options.report, html::EarlierPage::replaced, {"A", "B"}, options.limits,
              options.tolerance) {}

  // Writes the page of two pictures, once they are compared; `open` opens them again. Throws
  // PictureError.
  void write(const FileComparison& files, const OpenSource& open) {
    page_.look(1, open(options_.a), open(options_.b));
    html::Page page;
    page.subject = "gpufilter: comparison of two pictures";
    page.heading = formatted("{} and {}", files.a.name, files.b.name);
    html::Entry entry = page_.take(1);
    entry.name = page.heading;
    entry.facts = facts_of(files);
    entry.difference_text.clear();  // the summary says it
    page_.add(std::move(entry));
    page.summary = {sentence(files)};
    page.tone = tone_of(result_of(files));
    if (files.comparison && files.comparison->differing_pixels > 0)
      page.sections.push_back(channel_section(*files.comparison));
    page_.publish(std::move(page), options_.command_line, options_.quiet);
  }

  // The page of two folders: called while they are compared, for each name in order, and at the
  // end.
  [[nodiscard]] ComparisonWatch watch() {
    return {.begin = [this](std::size_t names) { page_.expect(names); },
            .look =
                [this](std::size_t place, const NameComparison& name) {
                  page_.look(place + 1, name.in_a ? opened(options_.a + "/" + name.name) : nullptr,
                             name.in_b ? opened(options_.b + "/" + name.name) : nullptr);
                }};
  }

  void add(const NameComparison& name) {
    html::Entry entry = page_.take(page_.entries() + 1);
    const CompareResult result = result_of(name);
    entry.name = name.name;
    entry.status = status_text(result);
    entry.tone = tone_of(result);
    if (!name.failure.empty()) entry.message = name.failure;
    if (name.files) {
      entry.facts = facts_of(*name.files);
      entry.note = note_of(*name.files);
      entry.difference_text = sentence(*name.files);
    }
    page_.add(std::move(entry));
  }

  void write(const std::string& summary, CompareResult result) {
    html::Page page;
    page.subject = "gpufilter: comparison of two folders";
    page.heading = formatted("{} and {}", options_.a, options_.b);
    page.summary = {summary};
    page.tone = tone_of(result);
    page.is_grid = true;
    page_.publish(std::move(page), options_.command_line, options_.quiet);
  }

 private:
  const CompareOptions& options_;
  ReportPage page_;
};

constexpr int trouble = 4;

constexpr const char* compare_description =
    "Compares two decoded pictures sample by sample: a PNG and a JPEG can be equal,\n"
    "and metadata does not matter. Two folders are compared picture by picture, by\n"
    "name. Differences are counted in steps of a sample.";

constexpr const char* compare_explanation = R"(Exit codes:
  0  equal
  1  different, but within the given tolerance
  2  different
  3  different size or format (channels, bits per sample)
  4  could not compare: a file cannot be read or written, folders without a
     picture, or wrong usage
For two folders it is the highest code of all pictures. A picture that only
one of the folders has counts as different.

PSNR and SSIM say how alike two pictures are: the PSNR in decibels, by their
squared differences, the SSIM by their structure, 1 for equal pictures.

--diff draws an 8-bit RGB picture. Equal pixels show A, grey and dimmed. Pixels
that differ within the tolerance are dark bluish green. Beyond the tolerance, a
pixel is yellow for a difference of one and a step redder for each doubling; red
is half of the full range or more. If only alpha is beyond the tolerance, the
colours go from cyan to blue instead.

Examples:
  gpufilter compare a.png b.png
  gpufilter compare a.png b.jpg --tolerance 8 --diff differences.png
  gpufilter compare a.png b.jpg --tolerance 8 --fail-percent 0.5
  gpufilter compare expected.png result.png --json | jq .maximum
  gpufilter compare expected/ results/ --recursive
  gpufilter in.png - --blur auto | gpufilter compare -q - other.png && echo same
)";

// The formats for drawings: a difference of one step has to stay visible.
CodecList drawing_formats() {
  CodecList list;
  std::ranges::copy_if(codecs(), std::back_inserter(list), &Codec::is_lossless);
  return list;
}

ValueCheck percentage() {
  const auto complaint = [](const std::string& text) -> std::string {
    const auto number = to_number(text);
    if (number && *number >= 0 && *number <= 100) return "";
    return formatted("'{}' is not a number from 0 to 100", text);
  };
  return complaint;
}

void declare_tolerance(Arguments& app, Tolerance& tolerance) {
  app.add_option("--tolerance", tolerance.steps,
                 "Allow samples to differ by up to N steps of the pictures' own depth.")
      ->check(whole_number(0, 65535))
      ->option_text("N [0]");
  app.add_option_function(
         "--fail-percent",
         [&tolerance](const std::string& text) { tolerance.percent = to_number(text).value(); },
         "Allow up to P percent of a picture's pixels to differ by more than that.")
      ->check(percentage())
      ->option_text("P [0]");
}

void declare_options(Arguments& app, CompareOptions& options) {
  app.add_option("A", options.a, "A picture, or a folder; - is standard input")
      ->required()
      ->suggests(picture_files())
      ->option_text(" ");
  app.add_option("B", options.b, "The picture or folder to compare with; - is standard input")
      ->required()
      ->suggests(picture_files())
      ->option_text(" ");
  declare_tolerance(app, options.tolerance);
  app.add_option(
         "--diff", options.drawing,
         formatted("Draw the differences into this file ({}).", names_of(drawing_formats())))
      ->option_text("OUT.png")
      ->suggests(picture_files(drawing_formats()));
  add_report(app, options.report,
             "Make a page for browsers in DIR, with A and B, their differences and histograms.");
  app.add_option("--max-pixels", options.limits.max_pixels, "Refuse pictures with more pixels.")
      ->check(whole_number(1, UINT64_MAX))
      ->option_text(formatted("N [{}]", options.limits.max_pixels));
  app.add_flag("--recursive", options.recursive, "Include subfolders of A and B.")
      ->option_text(" ");
  auto* json = app.add_flag("--json", options.json, "Print the result as one JSON object.");
  json->option_text(" ");
  app.add_flag("-q,--quiet", options.quiet, "Print no result, only set the exit code.")
      ->excludes(json)
      ->option_text(" ");
  add_color_output(app);
  app.footer(compare_explanation);
}

// Whether both are folders.
bool are_folders(const CompareOptions& options) {
  if (options.a == standard_stream && options.b == standard_stream) {
    throw UsageError("compare: only one of the two pictures can be standard input");
  }
  const bool folder_a = is_folder_argument(options.a);
  const bool folder_b = is_folder_argument(options.b);
  if (folder_a != folder_b) {
    const std::string& other = folder_a ? options.b : options.a;
    if (other != standard_stream && !exists(other))
      throw PictureError(other, "no such file or folder");
    throw UsageError(
        formatted("{}: is a folder, but {} is not; compare two pictures or two folders",
                  folder_a ? options.a : options.b, folder_a ? options.b : options.a));
  }
  if (folder_a && options.drawing) {
    throw UsageError("--diff draws the differences of two pictures; A and B are folders");
  }
  if (!folder_a && options.recursive) {
    throw UsageError("--recursive is for folders; A and B are not");
  }
  return folder_a;
}

void check_drawing(const CompareOptions& options) {
  if (!options.drawing) return;
  if (*options.drawing == standard_stream || !codec_for_output(*options.drawing).is_lossless) {
    throw UsageError(
        formatted("{}: differences are drawn as {}; give --diff a name that ends in {}",
                  *options.drawing, names_of(drawing_formats()), extensions_of(drawing_formats())));
  }
  for (const std::string& path : {options.a, options.b}) {
    if (same_file(path, *options.drawing)) {
      throw UsageError(*options.drawing +
                       ": is one of the pictures to compare; give --diff another name");
    }
  }
}

// The page that was requested; nullptr if there is none.
std::unique_ptr<ComparePage> page_for(const CompareOptions& options) {
  return options.report.empty() ? nullptr : std::make_unique<ComparePage>(options);
}

int compare_pair(const CompareOptions& options) {
  check_drawing(options);
  const auto page = page_for(options);
  // The page reads the pictures again.
  const RepeatableSource a(options.a, page != nullptr);
  const RepeatableSource b(options.b, page != nullptr);
  const auto open = [&](const std::string& path) {
    return path == options.a ? a.open() : b.open();
  };
  const FileComparison files = compare_files(
      {options.a, options.b, options.tolerance, options.limits, options.drawing, open});
  if (options.json) {
    print_document(json_report(options, files));
  } else if (!options.quiet) {
    print_result(text_report(options, files));
  }
  if (page) page->write(files, open);
  return exit_code(result_of(files));
}

int compare_all(const CompareOptions& options) {
  FoldersReport report(options);
  const auto page = page_for(options);
  const auto take = [&](const NameComparison& name) {
    report.add(name);
    if (page) page->add(name);
  };
  compare_folders({options.a, options.b, options.recursive, options.tolerance, options.limits},
                  take, page ? page->watch() : ComparisonWatch());
  report.finish();
  if (page) page->write(report.summary_text(), report.result());
  return report.exit_code();
}

int parse_and_compare(int argc, const char* const* argv) {
  CompareOptions options;
  Arguments app(compare_description, "gpufilter compare");
  declare_options(app, options);
  options.command_line = "gpufilter " + command_line_text(argc, argv);
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  if (options.quiet) log::set_level(log::Level::error);
  return are_folders(options) ? compare_all(options) : compare_pair(options);
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
