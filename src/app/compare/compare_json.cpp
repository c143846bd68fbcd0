// The JSON of compare_report.hpp.
#include "app/compare/compare_report.hpp"
#include "base/json.hpp"

namespace gpufilter {
namespace {

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

}  // namespace

void add_pictures(Json& json, const FileComparison& files) {
  json["a"] = json_of_file(files.a);
  json["b"] = json_of_file(files.b);
  if (files.comparison) add_numbers(json, *files.comparison);
}

std::string json_report(const CompareReport& report) {
  const CompareResult result = result_of(report.files);
  Json json{{"schema", "gpufilter-compare-1"},
            {"result", to_string(result)},
            {"exit_code", exit_code(result)},
            {"tolerance", report.tolerance.steps},
            {"fail_percent", report.tolerance.percent}};
  add_pictures(json, report.files);
  const bool drawn = report.files.comparison && report.wanted_drawing;
  json["difference_picture"] = drawn ? Json(*report.wanted_drawing) : Json(nullptr);
  return json.indented(2) + "\n";
}

}  // namespace gpufilter
