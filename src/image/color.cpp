#include "image/color.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"

namespace gpufilter {
namespace {

// https://www.w3.org/TR/css-color-3/#html4
constexpr std::array<std::pair<std::string_view, std::uint32_t>, 17> basic_colors{{
    {"black", 0x000000},
    {"silver", 0xc0c0c0},
    {"gray", 0x808080},
    {"grey", 0x808080},
    {"white", 0xffffff},
    {"maroon", 0x800000},
    {"red", 0xff0000},
    {"purple", 0x800080},
    {"fuchsia", 0xff00ff},
    {"green", 0x008000},
    {"lime", 0x00ff00},
    {"olive", 0x808000},
    {"yellow", 0xffff00},
    {"navy", 0x000080},
    {"blue", 0x0000ff},
    {"teal", 0x008080},
    {"aqua", 0x00ffff},
}};

Color split(std::uint32_t rgb) {
  return {static_cast<std::uint8_t>(rgb >> 16U), static_cast<std::uint8_t>(rgb >> 8U),
          static_cast<std::uint8_t>(rgb)};
}

std::string describe_bad_color(std::string_view text) {
  std::vector<std::string> names;
  names.reserve(std::size(basic_colors));
  for (const auto& [name, value] : basic_colors)
    names.emplace_back(name);
  const auto near = text.starts_with('#') ? std::vector<std::string>{} : words_like(text, names);
  return formatted("'{}' is not a colour: write #rgb, #rrggbb or a name such as {}",
                   printable(text), near.empty() ? "white" : enumerated(near, "or"));
}

}  // namespace

Color parse_color(std::string_view text) {
  const std::string lower = lower_case(text);
  for (const auto& [name, value] : basic_colors) {
    if (name == lower) return split(value);
  }
  std::string digits(text.substr(text.starts_with('#') ? 1 : 0));
  if (digits.size() == 3) {
    digits = {digits[0], digits[0], digits[1], digits[1], digits[2], digits[2]};
  }
  std::uint32_t value = 0;
  if (!text.starts_with('#') || digits.size() != 6 || !parse_whole(digits, value, 16))
    throw UsageError(describe_bad_color(text));
  return split(value);
}

}  // namespace gpufilter
