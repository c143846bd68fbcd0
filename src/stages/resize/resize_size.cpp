#include "stages/resize/resize_size.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "stage/options/number.hpp"

namespace gpufilter {
namespace {

// A side in whole pixels; nothing if the text is empty.
std::optional<int> parse_side(const std::string& value, const std::string& text) {
  if (text.empty()) return std::nullopt;
  constexpr double max = 1'000'000;
  const double side = parse_number("--resize", text);
  if (side < 1 || side > max) {
    throw UsageError(
        formatted("--resize {}: sides are from 1 to {:.0f} pixels", printable(value), max));
  }
  return static_cast<int>(side);
}

bool consists_of(const std::string& text, const char* characters) {
  return text.find_first_not_of(characters) == std::string::npos;
}

// ImageMagick's signs behind a size: "800x600^".
bool set_sign(ResizeParameters& parameters, char sign) {
  switch (sign) {
    case '^':
      parameters.fit = ResizeFit::cover;
      return true;
    case '!':
      parameters.fit = ResizeFit::fill;
      return true;
    case '>':
      parameters.only = ResizeOnly::shrink;
      return true;
    case '<':
      parameters.only = ResizeOnly::enlarge;
      return true;
    default:
      return false;
  }
}

void set_percent(ResizeParameters& parameters, const std::string& value, const std::string& size) {
  constexpr double max = 10'000;
  parameters.percent = parse_number("--resize", size.substr(0, size.size() - 1));
  if (*parameters.percent > 0 && *parameters.percent <= max) return;
  throw UsageError(
      formatted("--resize {}: a percentage is above 0 and up to {}", printable(value), max));
}

}  // namespace

void set_resize_size(ResizeParameters& parameters, const std::string& value) {
  std::string size = value;
  while (!size.empty() && set_sign(parameters, size.back()))
    size.pop_back();
  if (size.size() > 1 && size.back() == '%' && consists_of(size, "0123456789.%"))
    return set_percent(parameters, value, size);
  std::ranges::replace(size, 'X', 'x');
  const std::size_t cross = std::min(size.find('x'), size.size());
  if (!consists_of(size, "0123456789x") || size.find('x', cross + 1) != std::string::npos ||
      size.empty() || size == "x") {
    throw UsageError(
        formatted("--resize {}: write WIDTHxHEIGHT, WIDTH, xHEIGHT or a percentage, such as "
                  "800x600 or 50%",
                  printable(value)));
  }
  parameters.width = parse_side(value, size.substr(0, cross));
  if (cross < size.size()) parameters.height = parse_side(value, size.substr(cross + 1));
}

}  // namespace gpufilter
