#include "codec/sample_range.hpp"

#include <algorithm>
#include <cmath>

#include "base/format.hpp"

namespace gpufilter {

std::uint16_t sample_in(const SampleRange& range, double value, std::uint32_t max) {
  const double sample = (value - range.low) * (max / (range.high - range.low));
  return static_cast<std::uint16_t>(
      sample > 0 ? std::nearbyint(std::min(sample, static_cast<double>(max))) : 0);
}

void SeenRange::note(double value) {
  if (!std::isfinite(value)) return;
  seen_.low = std::min(seen_.low, value);
  seen_.high = std::max(seen_.high, value);
}

std::optional<SampleRange> SeenRange::cut_off() const {
  const bool is_within = seen_.low == range_.low && seen_.high == range_.high;
  return is_within ? std::nullopt : std::optional(seen_);
}

std::string range_account(const std::string& samples, const SampleRange& range,
                          const std::optional<SampleRange>& cut_off) {
  std::string text = formatted("its {} become samples of 16 bits, {} to {} the whole range",
                               samples, range.low, range.high);
  if (cut_off) {
    text += formatted("; others, from {} to {}, are clipped: --range chooses another range",
                      cut_off->low, cut_off->high);
  }
  return text;
}

std::string float_account(int bits, const SampleRange& range,
                          const std::optional<SampleRange>& cut_off) {
  return range_account(formatted("{}-bit floating-point samples", bits), range, cut_off) +
         "; --depth float as the first stage keeps them";
}

}  // namespace gpufilter
