#include "stages/number.hpp"

#include <charconv>
#include <cmath>

#include "base/error.hpp"
#include "base/format.hpp"

namespace gpufilter {

double parse_number(std::string_view what, std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stopped, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc{} || stopped != end || !std::isfinite(value)) {
    throw UsageError(format("{}: '{}' is no number", what, text));
  }
  return value;
}

}  // namespace gpufilter
