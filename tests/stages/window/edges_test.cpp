// --edges gives the same bits everywhere: the processor with each instruction set against the
// formula, every device against the processor.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include <gtest/gtest.h>

#include "stages/window/window_stages.hpp"
#include "support/filtering.hpp"
#include "support/pictures.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

using test::same_pixels;

constexpr std::array operators{EdgeOperator::sobel, EdgeOperator::scharr, EdgeOperator::laplacian};

using Matrix = std::array<std::array<int, 3>, 3>;

// From the definition, in whole numbers.
class NaiveEdges {
 public:
  NaiveEdges(const Image& image, const EdgesParameters& parameters)
      : image_(image), parameters_(parameters), max_(image.format().max_sample()) {}

  [[nodiscard]] std::uint32_t at(int x, int y, int channel) const {
    const bool has_alpha = image_.format().has_alpha();
    if (has_alpha && channel + 1 == image_.format().channels)
      return test::sample_at(image_, x, y, channel);
    if (parameters_.by == EdgeOperator::laplacian) {
      constexpr Matrix cross{{{0, 1, 0}, {1, -4, 1}, {0, 1, 0}}};
      return limited(std::abs(sum(cross, x, y, channel)));
    }
    const int corner = parameters_.by == EdgeOperator::sobel ? 1 : 3;
    const int middle = parameters_.by == EdgeOperator::sobel ? 2 : 10;
    const Matrix to_right{{{-corner, 0, corner}, {-middle, 0, middle}, {-corner, 0, corner}}};
    const Matrix down{{{-corner, -middle, -corner}, {0, 0, 0}, {corner, middle, corner}}};
    const std::int64_t dx = sum(to_right, x, y, channel);
    const std::int64_t dy = sum(down, x, y, channel);
    return limited(nearest_root(dx * dx + dy * dy));
  }

 private:
  [[nodiscard]] std::int64_t sample(int x, int y, int channel) const {
    const std::int64_t color = test::sample_beyond(image_, x, y, channel, parameters_.border);
    if (!image_.format().has_alpha() || parameters_.alpha == AlphaMode::independent) return color;
    const std::int64_t alpha =
        test::sample_beyond(image_, x, y, image_.format().channels - 1, parameters_.border);
    return (2 * color * alpha + max_) / (2 * max_);
  }
  [[nodiscard]] std::int64_t sum(const Matrix& matrix, int x, int y, int channel) const {
    std::int64_t all = 0;
    for (const auto [column, row] : test::each_pixel({3, 3})) {
      all += matrix.at(static_cast<std::size_t>(row)).at(static_cast<std::size_t>(column)) *
             sample(x + column - 1, y + row - 1, channel);
    }
    return all;
  }
  // By halving an interval.
  static std::int64_t nearest_root(std::int64_t number) {
    std::int64_t low = 0;
    std::int64_t high = std::int64_t{1} << 22;
    while (high - low > 1) {
      const std::int64_t middle = (low + high) / 2;
      (middle * middle <= number ? low : high) = middle;
    }
    // Nearer to low + 1 if above the square of low + 1/2.
    return 4 * number > (2 * low + 1) * (2 * low + 1) ? low + 1 : low;
  }
  [[nodiscard]] std::uint32_t limited(std::int64_t number) const {
    return static_cast<std::uint32_t>(std::min(number, max_));
  }

  const Image& image_;
  EdgesParameters parameters_;
  std::int64_t max_;
};

Image naive_edges(const Image& image, const EdgesParameters& parameters) {
  Image result(image.size(), image.format());
  const NaiveEdges edges(image, parameters);
  for (const auto [x, y, c] : test::each_sample(image))
    test::set_sample(result, x, y, c, edges.at(x, y, c));
  return result;
}

TEST(EdgesOnProcessor, EqualTheFormula) {
  std::size_t turn = 0;
  for (const EdgeOperator by : operators) {
    for (const PixelFormat& format : test::all_formats()) {
      for (const ImageSize size : {ImageSize{1, 1}, {2, 9}, {33, 7}, {1401, 3}}) {
        for (const Image& image : test::window_pictures_and_dull(size, format, 16)) {
          const EdgesParameters parameters{
              by, test::all_borders.at(turn++ % 4),
              turn % 3 == 0 ? AlphaMode::independent : AlphaMode::weighted};
          const Image expected = naive_edges(image, parameters);
          test::check_on_host(image, {make_edges(parameters)}, expected, {2, 1000});
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// A pair of differences for each root, just below and above the middle between whole numbers.
TEST(EdgesOnProcessor, RoundToTheNearestRoot) {
  // Three rows of three pixels: with a single one at the right, dx is twice it and dy is 0; below,
  // the other way round. Both: any pair of even numbers.
  for (const int depth : {8, 16}) {
    const int max = depth == 8 ? 63 : 16383;
    const int step = depth == 8 ? 1 : 331;
    for (int right = 0; right <= max; right += step) {
      for (int below = 0; below <= max; below += step) {
        Image image({3, 3}, {1, depth});
        for (const auto [x, y] : test::each_pixel({3, 3}))
          test::set_sample(image, x, y, 0, 0);
        test::set_sample(image, 2, 1, 0, static_cast<std::uint32_t>(right));
        test::set_sample(image, 1, 2, 0, static_cast<std::uint32_t>(below));
        const Image found = test::filter_on_host(image, {make_edges({})}, {});
        ASSERT_EQ(test::sample_at(found, 1, 1, 0), NaiveEdges(image, {}).at(1, 1, 0))
            << right << " " << below;
      }
    }
  }
}

}  // namespace
}  // namespace gpufilter
