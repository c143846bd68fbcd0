#include "app/compare/compare_report.hpp"

#include <array>

#include "base/format.hpp"
#include "base/printable.hpp"

namespace gpufilter {
namespace {

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

}  // namespace

CompareResult result_of(const FileComparison& files) {
  if (!files.comparison) return CompareResult::other_size_or_format;
  switch (files.comparison->verdict()) {
    case Verdict::equal:
      return CompareResult::equal;
    case Verdict::within_tolerance:
      return CompareResult::within_tolerance;
    case Verdict::different:
      break;
  }
  return CompareResult::different;
}

int exit_code(CompareResult result) {
  static constexpr std::array codes{0, 1, 2, 3, 2, 2, 4};
  return codes.at(static_cast<std::size_t>(result));
}

const char* to_string(CompareResult result) {
  static constexpr std::array names{
      "equal",     "within_tolerance", "different", "other_size_or_format",
      "only_in_a", "only_in_b",        "unreadable"};
  return names.at(static_cast<std::size_t>(result));
}

std::string text_report(const CompareReport& report) {
  const FileComparison& files = report.files;
  const std::string a = printable(files.a.name);
  const std::string b = printable(files.b.name);
  if (!files.comparison) {
    std::string text =
        formatted("not comparable: {} is {}; {} is {}\n", a, shape(files.a), b, shape(files.b));
    if (report.wanted_drawing) {
      text += formatted("{} was not written\n", printable(*report.wanted_drawing));
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

}  // namespace gpufilter
