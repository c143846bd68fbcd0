#include "app/compare/compare_report.hpp"

#include <algorithm>
#include <vector>

#include "app/cli/parse.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"

namespace gpufilter {
namespace {

// Names and meanings of results, in the order of CompareResult.
struct ResultRow {
  const char* key;     // in JSON
  const char* status;  // on pages
  const char* words;   // in texts; the folder follows "only in "
  int exit_code;
};
constexpr std::array rows{
    ResultRow{"equal", "equal", "equal", 0},
    ResultRow{"within_tolerance", "within the tolerance", "equal within the tolerance", 1},
    ResultRow{"different", "different", "different", 2},
    ResultRow{"other_size_or_format", "not comparable", "not comparable", 3},
    ResultRow{"only_in_a", "only in A", "only in ", 2},
    ResultRow{"only_in_b", "only in B", "only in ", 2},
    ResultRow{"unreadable", "unreadable", "cannot be read", 4},
};

const ResultRow& row_of(CompareResult result) {
  return rows.at(static_cast<std::size_t>(result));
}

// "12 of 3000 pixels (0.40 %)". A share that only rounds to 0 % or 100 % is not shown as such.
std::string pixels_of(std::uint64_t part, std::uint64_t whole) {
  const double percent = 100 * static_cast<double>(part) / static_cast<double>(whole);
  std::string rounded = formatted("{:.2f} %", percent);
  if (part > 0 && percent < 0.01) rounded = "less than 0.01 %";
  if (part < whole && percent > 99.99) rounded = "more than 99.99 %";
  return formatted("{} of {} pixels ({})", part, whole, rounded);
}

std::string differing_pixels(const Comparison& comparison) {
  return pixels_of(comparison.differing_pixels, comparison.size.pixels());
}

std::string pixels_beyond(const Comparison& comparison) {
  return pixels_of(comparison.pixels_beyond_tolerance, comparison.size.pixels());
}

std::string shape(const ComparedFile& file) {
  return formatted("{}x{}, {}", file.size.width, file.size.height, to_string(file.format));
}

std::string sample_list(const std::array<std::uint32_t, 4>& pixel, const PixelFormat& format) {
  return formatted("{}", fmt::join(pixel.begin(), pixel.begin() + format.channels, ", "));
}

// "x 2, y 3: A (1, 2, 3), B (1, 2, 4)".
std::string place_and_samples(const DifferingPixel& pixel, const PixelFormat& format) {
  return formatted("x {}, y {}: A ({}), B ({})", pixel.x, pixel.y, sample_list(pixel.a, format),
                   sample_list(pixel.b, format));
}

// A similarity below 1 that only rounds to it is not shown as such.
std::string ssim_text(const Comparison& comparison) {
  if (!comparison.ssim) {
    return formatted("no SSIM below {0}x{0} pixels", StructuralSimilarity::window);
  }
  const bool rounds_to_one = *comparison.ssim < 1 && *comparison.ssim > 0.9999;
  return rounds_to_one ? "SSIM more than 0.9999" : formatted("SSIM {:.4f}", *comparison.ssim);
}

// "PSNR 41.20 dB, SSIM 0.9731", for pictures that are not equal.
std::string quality_text(const Comparison& comparison) {
  return formatted("PSNR {:.2f} dB, {}", comparison.psnr().value(), ssim_text(comparison));
}

std::string channel_table(const Comparison& comparison) {
  std::string table =
      formatted("{:<8}{:>14}{:>10}{:>14}\n", "channel", "differing", "maximum", "mean");
  const std::vector<std::string> names = channel_names(comparison.format);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ChannelComparison& channel = comparison.channels[i];
    table += formatted("{:<8}{:>14}{:>10}{:>14.6g}\n", names[i], channel.differing, channel.maximum,
                       comparison.mean(i));
  }
  return table;
}

// "the tolerance of 2", "the tolerance of 2 in all but 0.5 % of the pixels".
std::string tolerance_text(const Tolerance& tolerance) {
  std::string text = formatted("the tolerance of {}", tolerance.steps);
  if (tolerance.percent > 0) text += formatted(" in all but {} % of the pixels", tolerance.percent);
  return text;
}

std::string first_and_worst(const Comparison& comparison) {
  const PixelFormat& format = comparison.format;
  std::string text;
  if (comparison.first_beyond_tolerance && comparison.tolerance.steps > 0) {
    text += formatted("first beyond the tolerance at {}\n",
                      place_and_samples(*comparison.first_beyond_tolerance, format));
  } else if (comparison.first) {
    text += formatted("first at {}\n", place_and_samples(*comparison.first, format));
  }
  if (comparison.worst) {
    text += formatted("worst at {}\n", place_and_samples(*comparison.worst, format));
  }
  return text;
}

std::string text_of_differences(const std::string& names, const Comparison& comparison) {
  const bool within = comparison.verdict() == Verdict::within_tolerance;
  std::string text =
      formatted("{} are {}: {} differ, by at most {}\n", names,
                within ? "equal within " + tolerance_text(comparison.tolerance) : "different",
                differing_pixels(comparison), comparison.maximum());
  if (comparison.tolerance.steps > 0) {
    text += formatted("beyond the tolerance of {}: {}\n", comparison.tolerance.steps,
                      pixels_beyond(comparison));
  }
  return text + first_and_worst(comparison) + quality_text(comparison) + "\n" +
         channel_table(comparison);
}

double share(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

Json json_of_file(const ComparedFile& file) {
  return {{"name", file.name},
          {"file_format", file.file_format->name},
          {"width", file.size.width},
          {"height", file.size.height},
          {"channels", file.format.channels},
          {"depth", file.format.depth}};
}

Json json_of_pixel(const std::optional<DifferingPixel>& pixel, const PixelFormat& format) {
  if (!pixel) return nullptr;
  const auto samples = [&format](const std::array<std::uint32_t, 4>& all) {
    return std::vector<std::uint32_t>(all.begin(), all.begin() + format.channels);
  };
  return {{"x", pixel->x}, {"y", pixel->y}, {"a", samples(pixel->a)}, {"b", samples(pixel->b)}};
}

Json json_of_channels(const Comparison& comparison) {
  Json channels = Json::array();
  const std::vector<std::string> names = channel_names(comparison.format);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ChannelComparison& channel = comparison.channels[i];
    channels.push_back({{"name", names[i]},
                        {"differing", channel.differing},
                        {"beyond_tolerance", channel.beyond_tolerance},
                        {"maximum", channel.maximum},
                        {"mean", comparison.mean(i)},
                        {"sum", channel.sum},
                        {"sum_of_squares", channel.sum_of_squares}});
  }
  return channels;
}

void add_numbers(Json& json, const Comparison& comparison) {
  const std::uint64_t pixels = comparison.size.pixels();
  const auto psnr = comparison.psnr();
  json["pixels"] = {{"total", pixels},
                    {"differing", comparison.differing_pixels},
                    {"differing_share", share(comparison.differing_pixels, pixels)},
                    {"beyond_tolerance", comparison.pixels_beyond_tolerance},
                    {"beyond_tolerance_share", share(comparison.pixels_beyond_tolerance, pixels)}};
  json["samples"] = {{"total", comparison.samples()},
                     {"differing", comparison.differing_samples()},
                     {"beyond_tolerance", comparison.samples_beyond_tolerance()}};
  json["maximum"] = comparison.maximum();
  json["mean"] = comparison.mean();
  json["psnr_db"] = psnr ? Json(*psnr) : Json(nullptr);
  json["ssim"] = comparison.ssim ? Json(*comparison.ssim) : Json(nullptr);
  json["first"] = json_of_pixel(comparison.first, comparison.format);
  json["first_beyond_tolerance"] =
      json_of_pixel(comparison.first_beyond_tolerance, comparison.format);
  json["worst"] = json_of_pixel(comparison.worst, comparison.format);
  json["channels"] = json_of_channels(comparison);
}

// Adds the pictures, "a" and "b", and, if they were compared, all results.
void add_pictures(Json& json, const FileComparison& files) {
  json["a"] = json_of_file(files.a);
  json["b"] = json_of_file(files.b);
  if (files.comparison) add_numbers(json, *files.comparison);
}

}  // namespace

// The results of pictures that were compared are in the order of verdicts.
CompareResult result_of(const FileComparison& files) {
  static_assert(static_cast<int>(CompareResult::different) == static_cast<int>(Verdict::different));
  return files.comparison ? static_cast<CompareResult>(files.comparison->verdict())
                          : CompareResult::other_size_or_format;
}

CompareResult result_of(const NameComparison& name) {
  if (!name.failure.empty()) return CompareResult::unreadable;
  if (!name.in_b) return CompareResult::only_in_a;
  if (!name.in_a) return CompareResult::only_in_b;
  return result_of(*name.files);
}

int exit_code(CompareResult result) {
  return row_of(result).exit_code;
}

const char* status_text(CompareResult result) {
  return row_of(result).status;
}

std::string text_report(const CompareOptions& options, const FileComparison& files) {
  const std::string a = printable(files.a.name);
  const std::string b = printable(files.b.name);
  if (!files.comparison) {
    std::string text =
        formatted("not comparable: {} is {}; {} is {}\n", a, shape(files.a), b, shape(files.b));
    if (options.drawing) {
      text += formatted("{} was not written\n", printable(*options.drawing));
    }
    return text;
  }
  const std::string names = formatted("{} and {}", a, b);
  if (result_of(files) == CompareResult::equal) {
    return formatted("{} are equal: {}\n", names, shape(files.a));
  }
  return text_of_differences(names, *files.comparison);
}

std::string differing_text(const Comparison& comparison) {
  return formatted("{} differ, by at most {} at x {}, y {}", differing_pixels(comparison),
                   comparison.maximum(), comparison.worst.value().x, comparison.worst->y);
}

std::string phrase(const FileComparison& files) {
  if (!files.comparison) {
    return formatted("not comparable: {}; {}", shape(files.a), shape(files.b));
  }
  const Comparison& comparison = *files.comparison;
  if (!comparison.worst) return "equal";
  std::string text = comparison.verdict() == Verdict::different
                         ? "different"
                         : "equal within " + tolerance_text(comparison.tolerance);
  text += ": " + differing_text(comparison);
  if (comparison.tolerance.steps > 0) {
    text += formatted(", {} beyond the tolerance", pixels_beyond(comparison));
  }
  return text + ", " + quality_text(comparison);
}

std::string json_report(const CompareOptions& options, const FileComparison& files) {
  const CompareResult result = result_of(files);
  Json json{{"schema", "gpufilter-compare-1"},
            {"result", row_of(result).key},
            {"exit_code", exit_code(result)},
            {"tolerance", options.tolerance.steps},
            {"fail_percent", options.tolerance.percent}};
  add_pictures(json, files);
  const bool drawn = files.comparison && options.drawing;
  json["difference_picture"] = drawn ? Json(*options.drawing) : Json(nullptr);
  return json.indented(2) + "\n";
}

void FoldersReport::add(const NameComparison& name) {
  const CompareResult result = result_of(name);
  ++names_;
  ++counts_.at(static_cast<std::size_t>(result));
  exit_code_ = std::max(exit_code_, gpufilter::exit_code(result));
  if (!name.failure.empty()) log::error(name.failure);
  if (!options_.quiet && !options_.json) add_text(name, result);
  if (options_.json) add_json(name, result);
}

std::string FoldersReport::words_of(CompareResult result) const {
  if (result == CompareResult::only_in_a) return row_of(result).words + options_.a;
  if (result == CompareResult::only_in_b) return row_of(result).words + options_.b;
  return row_of(result).words;
}

void FoldersReport::add_text(const NameComparison& name, CompareResult result) const {
  if (result == CompareResult::equal) return;
  const std::string text = name.files ? phrase(*name.files) : words_of(result);
  print_result(printable(formatted("{}: {}", name.name, text)) + "\n");
}

void FoldersReport::add_json(const NameComparison& name, CompareResult result) {
  std::string text = ",\n";
  if (names_ == 1) {
    const Json about{{"schema", "gpufilter-compare-folders-1"},
                     {"tolerance", options_.tolerance.steps},
                     {"fail_percent", options_.tolerance.percent},
                     {"recursive", options_.recursive},
                     {"a", options_.a},
                     {"b", options_.b}};
    text = about.on_one_line();
    text.pop_back();  // the brace: more follows
    text += ",\"pictures\":[\n";
  }
  Json json{{"name", name.name},
            {"result", row_of(result).key},
            {"exit_code", gpufilter::exit_code(result)}};
  if (name.files) add_pictures(json, *name.files);
  if (!name.failure.empty()) json["error"] = name.failure;
  print_document(text + json.on_one_line());
}

std::string FoldersReport::summary_text() const {
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    if (i == 0 || counts_.at(i) > 0)
      parts.push_back(formatted("{} {}", counts_.at(i), words_of(static_cast<CompareResult>(i))));
  }
  const char* names = names_ == 1 ? "name" : "names";
  return printable(formatted("{} {}: {}", names_, names, fmt::join(parts, ", ")));
}

void FoldersReport::finish() {
  if (names_ == 0) {
    throw UsageError(
        formatted("{} and {}: neither folder holds a picture", options_.a, options_.b));
  }
  if (!options_.quiet && !options_.json) print_result(summary_text() + "\n");
  if (options_.json) print_document(summary_json());
}

// The first result with the exit code: names that only one folder has make the folders different.
CompareResult FoldersReport::result() const {
  return static_cast<CompareResult>(std::ranges::find(rows, exit_code_, &ResultRow::exit_code) -
                                    rows.begin());
}

std::string FoldersReport::summary_json() const {
  Json counts{{"names", names_}};
  for (std::size_t i = 0; i < counts_.size(); ++i)
    counts[rows.at(i).key] = counts_.at(i);
  const Json summary{
      {"result", row_of(result()).key}, {"exit_code", exit_code_}, {"counts", counts}};
  return "\n],\"summary\":" + summary.on_one_line() + "}\n";
}

}  // namespace gpufilter
