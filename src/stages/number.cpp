#include "stages/number.hpp"

#include <charconv>
#include <cmath>

#include "base/error.hpp"
#include "base/format.hpp"

namespace gpufilter {

std::optional<double> to_number(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end || !std::isfinite(value)) return std::nullopt;
  return value;
}

double parse_number(std::string_view what, std::string_view text) {
  if (const auto value = to_number(text)) return *value;
  throw UsageError(formatted("{}: '{}' is not a number", what, text));
}

}  // namespace gpufilter
