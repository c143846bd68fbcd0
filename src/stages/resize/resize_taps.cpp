#include "stages/resize/resize_taps.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/elementary.hpp"

namespace gpufilter {
namespace {

struct Shape {
  double support;  // it is 0 beyond this, on either side
  double (*at)(double x);
};

double sinc(double x) {
  if (x == 0) return 1;
  constexpr double pi = 3.14159265358979323846;
  const double turns = std::abs(x) / 2;
  return sine_of_degrees(360 * (turns - std::floor(turns))) / (pi * std::abs(x));
}

double lanczos(double x) {
  return -3 <= x && x < 3 ? sinc(x) * sinc(x / 3) : 0;
}

// R. Keys, Cubic convolution interpolation for digital image processing, 1981, with a = -0.5.
double cubic(double x) {
  constexpr double a = -0.5;
  x = std::abs(x);
  if (x < 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

double linear(double x) {
  return std::max(1 - std::abs(x), 0.0);
}

double box(double x) {
  return x > -0.5 && x <= 0.5 ? 1 : 0;
}

Shape shape_of(ResizeKernel kernel) {
  switch (kernel) {
    case ResizeKernel::lanczos:
      return {3, lanczos};
    case ResizeKernel::cubic:
      return {2, cubic};
    case ResizeKernel::linear:
      return {1, linear};
    default:
      return {0.5, box};
  }
}

constexpr double one = 1 << ResizeTaps::weight_bits;

std::int32_t rounded(double weight) {
  const double scaled = weight * one;
  return static_cast<std::int32_t>(scaled < 0 ? scaled - 0.5 : scaled + 0.5);
}

// Errors of single weights do not add up, and a mirrored picture gets the mirrored weights.
std::vector<std::int32_t> rounded_to_one(const std::vector<double>& weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::int32_t> result;
  double exact = 0;
  std::int32_t total = 0;
  for (const double weight : weights) {
    exact += weight;
    const auto next = static_cast<std::int32_t>(std::nearbyint(exact / sum * one));
    result.push_back(next - total);
    total = next;
  }
  return result;
}

// The samples first ... first + weights.size() - 1 and their weights, which add up to 1.
struct Tap {
  int first = 0;
  std::vector<double> weights;
};

Tap tap_at(int i, int source, double scale, const Shape& shape) {
  const double width = std::max(scale, 1.0);
  const double support = shape.support * width;
  const double centre = (i + 0.5) * scale;
  Tap tap;
  tap.first = std::max(static_cast<int>(centre - support + 0.5), 0);
  const int end = std::min(static_cast<int>(centre + support + 0.5), source);
  double sum = 0;
  for (int x = tap.first; x < end; ++x) {
    tap.weights.push_back(shape.at((x - centre + 0.5) / width));
    sum += tap.weights.back();
  }
  for (double& weight : tap.weights) {
    if (sum != 0) weight /= sum;
  }
  return tap;
}

Tap area_at(int i, int source, int target, double extent) {
  const double begin = extent * i / target;
  const double end = extent * (i + 1) / target;
  Tap tap{std::min(static_cast<int>(begin), source - 1), {}};
  for (int x = tap.first; x < std::min(end, static_cast<double>(source)); ++x) {
    const double covered = std::min(end, x + 1.0) - std::max(begin, static_cast<double>(x));
    tap.weights.push_back(covered / (end - begin));
  }
  return tap;
}

}  // namespace

ResizeTaps make_resize_taps(int source, int target, ResizeKernel kernel, int depth, double extent) {
  const double scale = extent / target;
  std::vector<Tap> all;
  ResizeTaps taps;
  double position = scale / 2;  // added up, as Pillow does it
  for (int i = 0; i < target; ++i, position += scale) {
    if (kernel == ResizeKernel::nearest) {
      all.push_back({std::min(static_cast<int>(position), source - 1), {1.0}});
    } else if (kernel == ResizeKernel::area) {
      all.push_back(area_at(i, source, target, extent));
    } else {
      all.push_back(tap_at(i, source, scale, shape_of(kernel)));
    }
    taps.count = std::max(taps.count, static_cast<int>(all.back().weights.size()));
  }
  const bool to_one = depth == 16 || kernel == ResizeKernel::area;
  for (const Tap& tap : all) {
    const int first = std::min(tap.first, source - taps.count);
    taps.first.push_back(first);
    const auto begin =
        taps.weights.insert(taps.weights.end(), static_cast<std::size_t>(taps.count), 0) +
        (tap.first - first);
    if (to_one) {
      std::ranges::copy(rounded_to_one(tap.weights), begin);
    } else {
      std::ranges::transform(tap.weights, begin, rounded);
    }
  }
  return taps;
}

std::vector<std::uint32_t> ResizeTaps::grouped(int neighbours, bool aligned) const {
  const int bits = 32 / neighbours;
  const auto size = static_cast<std::size_t>(neighbours);
  const auto groups = static_cast<std::size_t>(group_count(neighbours, aligned));
  std::vector<std::uint32_t> all(first.size() * groups * parts(neighbours));
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::size_t before = aligned ? static_cast<std::size_t>(first[i]) % size : 0;
    for (std::size_t k = 0; k < static_cast<std::size_t>(count); ++k) {
      std::int32_t rest = weights[i * static_cast<std::size_t>(count) + k];
      const std::size_t group = i * groups + (before + k) / size;
      const auto place = static_cast<int>((before + k) % size) * bits;
      for (std::size_t part = 0; part < parts(neighbours); ++part) {
        const auto low = static_cast<std::uint32_t>(rest) << (32 - bits);
        all[group * parts(neighbours) + part] |= low >> (32 - bits) << place;
        rest = (rest - (static_cast<std::int32_t>(low) >> (32 - bits))) >> bits;
      }
    }
  }
  return all;
}

}  // namespace gpufilter
