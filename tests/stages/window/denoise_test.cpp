// --denoise gives the same bits everywhere: the processor with each instruction set against the
// formula, every device against the processor.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>
#include <vector>

#include <gtest/gtest.h>

#include "stages/window/window_stages.hpp"
#include "support/filtering.hpp"
#include "support/objection.hpp"
#include "support/pictures.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

using test::objection_to_value;
using test::same_pixels;

// From the formula, in 64-bit numbers.
class NaiveDenoise {
 public:
  NaiveDenoise(const Image& image, const DenoiseParameters& parameters)
      : image_(image),
        parameters_(parameters),
        colors_(image.format().channels < 3 ? 1 : 3),
        max_(image.format().max_sample()),
        limit_(std::llround(parameters.sigma_color * std::sqrt(5.0) * colors_ *
                            static_cast<double>(max_) / 255)) {}

  [[nodiscard]] std::vector<std::int64_t> at(int x, int y) const {
    const int radius = parameters_.radius;
    const std::vector<std::int64_t> centre = pixel(x, y);
    std::vector<std::int64_t> sums(static_cast<std::size_t>(colors_));
    std::int64_t weights = 0;
    for (int dy = -radius; dy <= radius; ++dy) {
      for (int dx = -radius; dx <= radius; ++dx) {
        if (dx * dx + dy * dy > radius * radius) continue;
        const std::vector<std::int64_t> other = pixel(x + dx, y + dy);
        const std::int64_t weight = weight_of(centre, other, dx * dx + dy * dy);
        weights += weight;
        for (std::size_t c = 0; c < sums.size(); ++c)
          sums[c] += weight * other[c];
      }
    }
    std::vector<std::int64_t> result = centre;
    for (std::size_t c = 0; c < sums.size() && weights > 0; ++c)
      result[c] = (sums[c] + weights / 2) / weights;
    return result;
  }

 private:
  [[nodiscard]] std::int64_t weight_of(const std::vector<std::int64_t>& a,
                                       const std::vector<std::int64_t>& b, int square) const {
    std::int64_t difference = 0;
    for (std::size_t c = 0; c < static_cast<std::size_t>(colors_); ++c)
      difference += std::abs(a[c] - b[c]);
    const std::int64_t inverse = 255 * (max_ + 1) / limit_;
    const std::int64_t u = std::min(difference, limit_) * inverse / (max_ + 1);
    const std::int64_t q = (255 * 255 - u * u) / 256;
    const auto near = static_cast<std::int64_t>(std::floor(
        256 * std::exp(-2.0 * square / (parameters_.radius * parameters_.radius)) + 0.5));
    const std::int64_t weight = near * (q * q / 256) / 256;
    if (!image_.format().has_alpha() || parameters_.alpha == AlphaMode::independent) return weight;
    return (2 * weight * b.back() + max_) / (2 * max_);
  }
  [[nodiscard]] std::vector<std::int64_t> pixel(int x, int y) const {
    std::vector<std::int64_t> samples;
    for (int c = 0; c < image_.format().channels; ++c)
      samples.push_back(test::sample_beyond(image_, x, y, c, parameters_.border));
    return samples;
  }

  const Image& image_;
  DenoiseParameters parameters_;
  int colors_;
  std::int64_t max_;
  std::int64_t limit_;
};

Image naive_denoise(const Image& image, const DenoiseParameters& parameters) {
  Image result(image.size(), image.format());
  const NaiveDenoise naive(image, parameters);
  for (const auto [x, y] : test::each_pixel(image)) {
    const std::vector<std::int64_t> pixel = naive.at(x, y);
    for (int c = 0; c < image.format().channels; ++c)
      test::set_sample(result, x, y, c,
                       static_cast<std::uint32_t>(pixel[static_cast<std::size_t>(c)]));
  }
  return result;
}

constexpr std::array<std::pair<double, int>, 5> sigmas_and_radii{
    {{20, 4}, {2, 1}, {200, 8}, {7.5, 3}, {60, 2}}};

TEST(DenoiseOnProcessor, EqualsTheFormula) {
  std::size_t turn = 0;
  for (const auto& [sigma, radius] : sigmas_and_radii) {
    for (const PixelFormat& format : test::all_formats()) {
      for (const ImageSize size : {ImageSize{1, 1}, {2, 9}, {33, 7}, {1061, 2}}) {
        for (const Image& image : test::window_pictures_and_dull(size, format, 8)) {
          const DenoiseParameters parameters{
              sigma, radius, test::all_borders.at(turn++ % 4),
              turn % 5 == 0 ? AlphaMode::independent : AlphaMode::weighted};
          const Image expected = naive_denoise(image, parameters);
          test::check_on_host(image, {make_denoise(parameters)}, expected, {3, 1000});
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// --chroma by its formula, in 64-bit numbers: the pixel's Y stays.
class NaiveChroma {
 public:
  NaiveChroma(const Image& image, const DenoiseParameters& parameters)
      : image_(image),
        parameters_(parameters),
        max_(image.format().max_sample()),
        limit_(std::max<std::int64_t>(
            1, std::llround(20 * parameters.chroma * static_cast<double>(max_) / 255))) {}

  [[nodiscard]] std::array<std::int64_t, 3> at(int x, int y) const {
    const int radius = parameters_.radius;
    const Planes centre = planes(x, y);
    std::int64_t sum_u = 0;
    std::int64_t sum_v = 0;
    std::int64_t weights = 0;
    for (int dy = -radius; dy <= radius; ++dy) {
      for (int dx = -radius; dx <= radius; ++dx) {
        const int square = dx * dx + dy * dy;
        if (square > radius * radius) continue;
        const Planes other = planes(x + 4 * dx, y + 4 * dy);
        const std::int64_t weight = weight_of(centre, other, square);
        weights += weight;
        sum_u += weight * (other.u + max_);
        sum_v += weight * (other.v + max_);
      }
    }
    const auto mean = [&](std::int64_t sum, std::int64_t own) {
      return weights > 0 ? (sum + weights / 2) / weights - max_ : own;
    };
    const std::int64_t u = mean(sum_u, centre.u);
    const std::int64_t v = mean(sum_v, centre.v);
    const std::int64_t green =
        centre.luma - static_cast<std::int64_t>(std::floor(static_cast<double>(u + v) / 4));
    return {std::clamp<std::int64_t>(green + u, 0, max_), std::clamp<std::int64_t>(green, 0, max_),
            std::clamp<std::int64_t>(green + v, 0, max_)};
  }

 private:
  struct Planes {
    std::int64_t luma;
    std::int64_t u;
    std::int64_t v;
    std::int64_t alpha;
  };
  [[nodiscard]] Planes planes(int x, int y) const {
    const auto sample = [&](int c) -> std::int64_t {
      return test::sample_beyond(image_, x, y, c, parameters_.border);
    };
    const std::int64_t alpha = image_.format().has_alpha() ? sample(3) : max_;
    return {(sample(0) + 2 * sample(1) + sample(2)) / 4, sample(0) - sample(1),
            sample(2) - sample(1), alpha};
  }
  [[nodiscard]] std::int64_t weight_of(const Planes& a, const Planes& b, int square) const {
    const std::int64_t difference =
        2 * std::abs(a.luma - b.luma) + std::abs(a.u - b.u) + std::abs(a.v - b.v);
    const std::int64_t inverse = 255 * (max_ + 1) / limit_;
    const std::int64_t u = std::min(difference, limit_) * inverse / (max_ + 1);
    const std::int64_t q = (255 * 255 - u * u) / 256;
    const auto near = static_cast<std::int64_t>(std::floor(
        256 * std::exp(-2.0 * square / (parameters_.radius * parameters_.radius)) + 0.5));
    const std::int64_t weight = near * (q * q / 256) / 256;
    if (parameters_.alpha == AlphaMode::independent) return weight;
    return (2 * weight * b.alpha + max_) / (2 * max_);
  }

  const Image& image_;
  DenoiseParameters parameters_;
  std::int64_t max_;
  std::int64_t limit_;
};

Image naive_chroma(const Image& image, const DenoiseParameters& parameters) {
  Image result = test::copy_of(image);
  const NaiveChroma naive(image, parameters);
  for (const auto [x, y] : test::each_pixel(image)) {
    const auto colors = naive.at(x, y);
    for (int c = 0; c < 3; ++c)
      test::set_sample(result, x, y, c,
                       static_cast<std::uint32_t>(colors.at(static_cast<std::size_t>(c))));
  }
  return result;
}

constexpr std::array<std::pair<double, int>, 5> chromas_and_radii{
    {{10, 4}, {0.01, 1}, {100, 8}, {3, 3}, {30, 2}}};

// The step of --chroma, without that of the colours.
class ChromaAlone final : public Stage {
 public:
  explicit ChromaAlone(const DenoiseParameters& parameters) : whole_(make_denoise(parameters)) {}
  [[nodiscard]] std::string name() const override { return whole_->name(); }
  [[nodiscard]] std::string key() const override { return whole_->key(); }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    Lowered lowered = whole_->lower(context);
    lowered.steps.pop_back();
    return lowered;
  }

 private:
  std::shared_ptr<const Stage> whole_;
};

StageChain chroma_chain(const DenoiseParameters& parameters) {
  return {std::make_shared<ChromaAlone>(parameters)};
}

TEST(DenoiseChromaOnProcessor, EqualsTheFormula) {
  std::size_t turn = 0;
  for (const auto& [chroma, radius] : chromas_and_radii) {
    for (const int channels : {3, 4}) {
      for (const int depth : {8, 16}) {
        for (const ImageSize size : {ImageSize{1, 1}, {2, 9}, {33, 7}, {1061, 2}}) {
          for (const Image& image : test::window_pictures_and_dull(size, {channels, depth}, 8)) {
            const DenoiseParameters parameters{
                20, radius, test::all_borders.at(turn++ % 4),
                turn % 5 == 0 ? AlphaMode::independent : AlphaMode::weighted, chroma};
            test::check_on_host(image, chroma_chain(parameters), naive_chroma(image, parameters),
                                {3, 1000});
            if (HasFatalFailure()) return;
          }
        }
      }
    }
  }
}

TEST(DenoiseChroma, LeavesGreyPicturesToTheRest) {
  const Image image = test::random_image({40, 30}, {1, 8}, 3);
  DenoiseParameters parameters;
  const Image expected = test::filter_on_host(image, {make_denoise(parameters)}, {});
  parameters.chroma = 20;
  EXPECT_TRUE(same_pixels(test::filter_on_host(image, {make_denoise(parameters)}, {}), expected));
}

double mean_square(const Image& a, const Image& b) {
  double sum = 0;
  for (const auto [x, y, c] : test::each_sample(a)) {
    const double difference = static_cast<double>(test::sample_at(a, x, y, c)) -
                              static_cast<double>(test::sample_at(b, x, y, c));
    sum += difference * difference;
  }
  return sum / static_cast<double>(a.size().pixels()) / a.format().channels;
}

// Two flat areas: most of the noise goes, the edge stays.
TEST(Denoise, RemovesNoiseAndKeepsEdges) {
  std::mt19937 random(1);
  Image clean({128, 128}, {3, 8});
  Image noisy({128, 128}, {3, 8});
  for (const auto [x, y, c] : test::each_sample({128, 128}, 3)) {
    const std::uint32_t color = x < 64 ? 60 : 180;
    // Deviates by 10: the sum of four numbers from 0 to 16, each by 4.9.
    std::uint32_t noise = 0;
    for (int i = 0; i < 4; ++i)
      noise += static_cast<std::uint32_t>(random() % 17);
    test::set_sample(clean, x, y, c, color);
    test::set_sample(noisy, x, y, c, color + noise - 32);
  }
  const Image result = test::filter_on_host(noisy, {denoise_stage_kind().make("10")}, {});
  EXPECT_NEAR(mean_square(noisy, clean), 96, 4);
  EXPECT_LT(mean_square(result, clean), 8);
}

TEST(DenoiseText, IsChecked) {
  EXPECT_EQ(objection_to_value(denoise_stage_kind(), "0", {}),
            "--denoise 0: a number from 1 to 100");
  EXPECT_EQ(objection_to_value(denoise_stage_kind(), "101", {}),
            "--denoise 101: a number from 1 to 100");
  EXPECT_EQ(objection_to_value(denoise_stage_kind(), "10", {{"--radius", "9"}}),
            "--radius 9: a whole number from 1 to 8");
  EXPECT_EQ(objection_to_value(denoise_stage_kind(), "10", {{"--sigma-color", "1"}}),
            "--sigma-color 1: a number from 2 to 200, or auto");
  EXPECT_EQ(objection_to_value(denoise_stage_kind(), "10", {{"--sigma-color", "few"}}),
            "--sigma-color: 'few' is not a number");
  EXPECT_EQ(denoise_stage_kind().make("10")->key(),
            denoise_stage_kind().make("33", {{"--sigma-color", "14"}})->key());
  EXPECT_EQ(objection_to_value(denoise_stage_kind(), "10", {{"--chroma", "101"}}),
            "--chroma 101: a number from 0 to 100");
}

}  // namespace
}  // namespace gpufilter
