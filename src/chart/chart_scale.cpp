#include "chart/chart_scale.hpp"

#include <cmath>

#include "base/format.hpp"

namespace gpufilter::lab {
namespace {

// A round distance for about five ticks over `range`.
double tick_distance(double range) {
  const double power = std::pow(10, std::floor(std::log10(range / 5)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (range / (factor * power) <= 6) return factor * power;
  }
  return 10 * power;
}

}  // namespace

std::string short_number(double value) {
  const double size = std::abs(value);
  if (size >= 99.95 || size == 0) return formatted("{:.0f}", value);
  if (size >= 9.95) return formatted("{:.1f}", value);
  if (size >= 1e-4) return formatted("{:#.2g}", value);
  return formatted("{:.1e}", value);
}

Scale::Scale(double low, double high, Scaling scaling) : low_(low), high_(high), scaling_(scaling) {
  if (low_ < high_) return;
  low_ = scaling == Scaling::linear ? low - 1 : low / 2;
  high_ = scaling == Scaling::linear ? low + 1 : low * 2;
}

double Scale::place(double value) const {
  if (scaling_ == Scaling::linear) return (value - low_) / (high_ - low_);
  return std::log(value / low_) / std::log(high_ / low_);
}

std::vector<Scale::Tick> Scale::ticks() const {
  if (scaling_ == Scaling::linear) return linear_ticks();
  const auto powers = logarithmic_ticks({1});
  return powers.size() < 3 ? logarithmic_ticks({1, 2, 5}) : powers;
}

std::vector<Scale::Tick> Scale::linear_ticks() const {
  const double distance = tick_distance(high_ - low_);
  const int digits = std::max(0, static_cast<int>(-std::floor(std::log10(distance) + 1e-9)));
  std::vector<Tick> ticks;
  for (double i = std::ceil(low_ / distance - 1e-9); i * distance <= high_ * (1 + 1e-9); ++i)
    ticks.push_back({i * distance, formatted("{:.{}f}", i * distance + 0.0, digits)});  // no "-0"
  return ticks;
}

std::vector<Scale::Tick> Scale::logarithmic_ticks(const std::vector<double>& factors) const {
  std::vector<Tick> ticks;
  for (double power = std::floor(std::log10(low_)); std::pow(10, power) <= high_; ++power) {
    for (const double factor : factors) {
      const double value = factor * std::pow(10, power);
      if (value < low_ * (1 - 1e-9) || value > high_ * (1 + 1e-9)) continue;
      ticks.push_back({value, value < 1 ? formatted("{:g}", value) : formatted("{:.0f}", value)});
    }
  }
  return ticks;
}

}  // namespace gpufilter::lab
