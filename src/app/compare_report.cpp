#include "app/compare_report.hpp"

#include <array>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/format.hpp"
#include "base/printable.hpp"

namespace gpufilter {
namespace {

using Json = nlohmann::ordered_json;

double share(std::uint64_t part, std::uint64_t whole) {
  return static_cast<double>(part) / static_cast<double>(whole);
}

// "12 of 3000 pixels (0.40 %)". Neither nothing nor everything is said of what is only nearly so.
std::string pixels_of(std::uint64_t part, std::uint64_t whole) {
  const double percent = 100 * share(part, whole);
  std::string rounded = formatted("{:.2f} %", percent);
  if (part > 0 && percent < 0.01) rounded = "less than 0.01 %";
  if (part < whole && percent > 99.99) rounded = "more than 99.99 %";
  return formatted("{} of {} pixels ({})", part, whole, rounded);
}

std::string shape(const PictureHeader& header) {
  return formatted("{}x{}, {}", header.size.width, header.size.height, to_string(header.format));
}

std::vector<std::uint32_t> samples(const std::array<std::uint32_t, 4>& pixel,
                                   const PixelFormat& format) {
  return {pixel.begin(), pixel.begin() + format.channels};
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

std::string text_of_differences(const CompareReport& report, const Comparison& comparison,
                                const DifferingPixel& first) {
  const std::uint64_t pixels = comparison.size.pixels();
  std::string text = formatted("{} and {} ", printable(report.a.name), printable(report.b.name));
  if (comparison.verdict() == Verdict::within_tolerance) {
    text += formatted("are equal within the tolerance of {}", comparison.tolerance);
  } else {
    text += "are different";
  }
  text += formatted(": {} differ, by at most {}\n", pixels_of(comparison.differing_pixels, pixels),
                    comparison.maximum());
  if (comparison.verdict() == Verdict::different && comparison.tolerance > 0) {
    text += formatted("beyond the tolerance of {}: {}\n", comparison.tolerance,
                      pixels_of(comparison.pixels_beyond_tolerance, pixels));
  }
  text += formatted("first at x {}, y {}: A ({}), B ({})\n", first.x, first.y,
                    fmt::join(samples(first.a, comparison.format), ", "),
                    fmt::join(samples(first.b, comparison.format), ", "));
  if (const auto psnr = comparison.psnr()) text += formatted("PSNR {:.2f} dB\n", *psnr);
  return text + channel_table(comparison);
}

Json json_of_picture(const ComparedPicture& picture) {
  return {{"name", picture.name},
          {"file_format", picture.header.file_format->name},
          {"width", picture.header.size.width},
          {"height", picture.header.size.height},
          {"channels", picture.header.format.channels},
          {"depth", picture.header.format.depth}};
}

Json json_of_first(const Comparison& comparison) {
  if (!comparison.first) return nullptr;
  return {{"x", comparison.first->x},
          {"y", comparison.first->y},
          {"a", samples(comparison.first->a, comparison.format)},
          {"b", samples(comparison.first->b, comparison.format)}};
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

void add_statistics(Json& json, const Comparison& comparison) {
  const std::uint64_t pixels = comparison.size.pixels();
  const auto psnr = comparison.psnr();
  json["pixels"] = {{"total", pixels},
                    {"differing", comparison.differing_pixels},
                    {"differing_share", share(comparison.differing_pixels, pixels)},
                    {"beyond_tolerance", comparison.pixels_beyond_tolerance}};
  json["samples"] = {{"total", comparison.samples()},
                     {"differing", comparison.differing_samples()},
                     {"beyond_tolerance", comparison.samples_beyond_tolerance()}};
  json["maximum"] = comparison.maximum();
  json["mean"] = comparison.mean();
  json["psnr_db"] = psnr ? Json(*psnr) : Json(nullptr);
  json["first"] = json_of_first(comparison);
  json["channels"] = json_of_channels(comparison);
}

const char* result_name(const CompareReport& report) {
  static constexpr std::array names{"equal", "within_tolerance", "different",
                                    "other_size_or_format"};
  return names.at(static_cast<std::size_t>(exit_code(report)));
}

}  // namespace

int exit_code(const CompareReport& report) {
  if (!report.comparison) return 3;
  switch (report.comparison->verdict()) {
    case Verdict::equal:
      return 0;
    case Verdict::within_tolerance:
      return 1;
    case Verdict::different:
      break;
  }
  return 2;
}

std::string text_report(const CompareReport& report) {
  if (!report.comparison) {
    std::string text =
        formatted("not comparable: {} is {}; {} is {}\n", printable(report.a.name),
                  shape(report.a.header), printable(report.b.name), shape(report.b.header));
    if (report.wanted_drawing)
      text += formatted("{} was not written\n", printable(*report.wanted_drawing));
    return text;
  }
  if (!report.comparison->first) {
    return formatted("{} and {} are equal: {}\n", printable(report.a.name),
                     printable(report.b.name), shape(report.a.header));
  }
  return text_of_differences(report, *report.comparison, *report.comparison->first);
}

std::string json_report(const CompareReport& report) {
  const bool drawn = report.comparison && report.wanted_drawing;
  Json json{{"schema", "gpufilter-compare-1"}, {"result", result_name(report)},
            {"exit_code", exit_code(report)},  {"tolerance", report.tolerance},
            {"a", json_of_picture(report.a)},  {"b", json_of_picture(report.b)}};
  if (report.comparison) add_statistics(json, *report.comparison);
  json["difference_picture"] = drawn ? Json(*report.wanted_drawing) : Json(nullptr);
  // JSON is UTF-8, names of files need not be: what is not is replaced.
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace gpufilter
