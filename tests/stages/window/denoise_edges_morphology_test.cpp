// --denoise gives the same bits everywhere: the processor with each instruction set against the
// formula, every device against the processor.

#include "stages/window/window_stages.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

using Matrix = std::array<std::array<int, 3>, 3>;

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
      samples.push_back(sample_beyond(image_, x, y, c, parameters_.border));
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
  for (const auto [x, y] : each_pixel(image)) {
    const std::vector<std::int64_t> pixel = naive.at(x, y);
    for (int c = 0; c < image.format().channels; ++c)
      set_sample(result, x, y, c, static_cast<std::uint32_t>(pixel[static_cast<std::size_t>(c)]));
  }
  return result;
}

constexpr std::array<std::pair<double, int>, 5> sigmas_and_radii{
    {{20, 4}, {2, 1}, {200, 8}, {7.5, 3}, {60, 2}}};

TEST(DenoiseOnProcessor, EqualsTheFormula) {
  std::size_t turn = 0;
  for (const auto& [sigma, radius] : sigmas_and_radii) {
    for (const auto& [format, size] :
         each_of(all_formats(), Sizes{{1, 1}, {2, 9}, {33, 7}, {1061, 2}})) {
      for (const Image& image : window_pictures_and_dull(size, format, 8)) {
        const DenoiseParameters parameters{
            sigma, radius, all_borders.at(turn++ % 4),
            turn % 5 == 0 ? AlphaMode::independent : AlphaMode::weighted};
        const Image expected = naive_denoise(image, parameters);
        ASSERT_NO_FATAL_FAILURE(
            check_on_host(image, {make_denoise(parameters)}, expected, {3, 1000}));
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
      return sample_beyond(image_, x, y, c, parameters_.border);
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
  Image result = copy_of(image);
  const NaiveChroma naive(image, parameters);
  for (const auto [x, y] : each_pixel(image)) {
    const auto colors = naive.at(x, y);
    for (int c = 0; c < 3; ++c)
      set_sample(result, x, y, c,
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
    for (const auto& [channels, depth, size] :
         each_of(std::array{3, 4}, std::array{8, 16}, Sizes{{1, 1}, {2, 9}, {33, 7}, {1061, 2}})) {
      for (const Image& image : window_pictures_and_dull(size, {channels, depth}, 8)) {
        const DenoiseParameters parameters{
            20, radius, all_borders.at(turn++ % 4),
            turn % 5 == 0 ? AlphaMode::independent : AlphaMode::weighted, chroma};
        ASSERT_NO_FATAL_FAILURE(check_on_host(image, chroma_chain(parameters),
                                              naive_chroma(image, parameters), {3, 1000}));
      }
    }
  }
}

TEST(DenoiseChroma, LeavesGreyPicturesToTheRest) {
  const Image image = random_image({40, 30}, {1, 8}, 3);
  DenoiseParameters parameters;
  const Image expected = filter_on_host(image, {make_denoise(parameters)}, {});
  parameters.chroma = 20;
  EXPECT_TRUE(same_pixels(filter_on_host(image, {make_denoise(parameters)}, {}), expected));
}

double mean_square(const Image& a, const Image& b) {
  double sum = 0;
  for (const auto [x, y, c] : each_sample(a)) {
    const double difference =
        static_cast<double>(sample_at(a, x, y, c)) - static_cast<double>(sample_at(b, x, y, c));
    sum += difference * difference;
  }
  return sum / static_cast<double>(a.size().pixels()) / a.format().channels;
}

// Two flat areas: most of the noise goes, the edge stays.
TEST(Denoise, RemovesNoiseAndKeepsEdges) {
  std::mt19937 random(1);
  Image clean({128, 128}, {3, 8});
  Image noisy({128, 128}, {3, 8});
  for (const auto [x, y, c] : each_sample({128, 128}, 3)) {
    const std::uint32_t color = x < 64 ? 60 : 180;
    // Deviates by 10: the sum of four numbers from 0 to 16, each by 4.9.
    std::uint32_t noise = 0;
    for (int i = 0; i < 4; ++i)
      noise += static_cast<std::uint32_t>(random() % 17);
    set_sample(clean, x, y, c, color);
    set_sample(noisy, x, y, c, color + noise - 32);
  }
  const Image result = filter_on_host(noisy, {denoise_stage_kind().make("10")}, {});
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

// --edges gives the same bits everywhere: the processor with each instruction set against the
// formula, every device against the processor.

constexpr std::array operators{EdgeOperator::sobel, EdgeOperator::scharr, EdgeOperator::laplacian};

// From the definition, in whole numbers.
class NaiveEdges {
 public:
  NaiveEdges(const Image& image, const EdgesParameters& parameters)
      : image_(image), parameters_(parameters), max_(image.format().max_sample()) {}

  [[nodiscard]] std::uint32_t at(int x, int y, int channel) const {
    const bool has_alpha = image_.format().has_alpha();
    if (has_alpha && channel + 1 == image_.format().channels)
      return sample_at(image_, x, y, channel);
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
    const std::int64_t color = sample_beyond(image_, x, y, channel, parameters_.border);
    if (!image_.format().has_alpha() || parameters_.alpha == AlphaMode::independent) return color;
    const std::int64_t alpha =
        sample_beyond(image_, x, y, image_.format().channels - 1, parameters_.border);
    return (2 * color * alpha + max_) / (2 * max_);
  }
  [[nodiscard]] std::int64_t sum(const Matrix& matrix, int x, int y, int channel) const {
    std::int64_t all = 0;
    for (const auto [column, row] : each_pixel({3, 3})) {
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
  for (const auto [x, y, c] : each_sample(image))
    set_sample(result, x, y, c, edges.at(x, y, c));
  return result;
}

TEST(EdgesOnProcessor, EqualTheFormula) {
  std::size_t turn = 0;
  for (const auto& [by, format, size] :
       each_of(operators, all_formats(), Sizes{{1, 1}, {2, 9}, {33, 7}, {1401, 3}})) {
    for (const Image& image : window_pictures_and_dull(size, format, 16)) {
      const EdgesParameters parameters{
          by, all_borders.at(turn++ % 4),
          turn % 3 == 0 ? AlphaMode::independent : AlphaMode::weighted};
      const Image expected = naive_edges(image, parameters);
      ASSERT_NO_FATAL_FAILURE(check_on_host(image, {make_edges(parameters)}, expected, {2, 1000}));
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
        for (const auto [x, y] : each_pixel({3, 3}))
          set_sample(image, x, y, 0, 0);
        set_sample(image, 2, 1, 0, static_cast<std::uint32_t>(right));
        set_sample(image, 1, 2, 0, static_cast<std::uint32_t>(below));
        const Image found = filter_on_host(image, {make_edges({})}, {});
        ASSERT_EQ(sample_at(found, 1, 1, 0), NaiveEdges(image, {}).at(1, 1, 0))
            << right << " " << below;
      }
    }
  }
}

// --dilate, --erode, --open and --close give the same bits everywhere: the processor with each
// instruction set against the largest and smallest samples of windows, every device against the
// processor.

constexpr std::array operations{Morphology::dilate, Morphology::erode, Morphology::open,
                                Morphology::close};

// From the definition: every sample of every window.
Image naive_extremes(const Image& image, const MorphologyParameters& parameters, bool largest) {
  const PixelFormat format = image.format();
  const bool weighs = parameters.alpha == AlphaMode::weighted && format.has_alpha();
  const auto sample = [&](int x, int y, int c) {
    return sample_beyond(image, x, y, c, parameters.border);
  };
  Image result(image.size(), format);
  const int radius = parameters.radius;
  for (const auto [x, y] : each_pixel(image)) {
    bool visible = true;
    for (int c = format.channels - 1; c >= 0; --c) {
      std::vector<std::uint32_t> window;
      for (int row = y - radius; row <= y + radius; ++row) {
        for (int column = x - radius; column <= x + radius; ++column) {
          const bool hidden = weighs && c + 1 < format.channels && largest &&
                              sample(column, row, format.channels - 1) == 0;
          window.push_back(hidden ? 0 : sample(column, row, c));
        }
      }
      const std::uint32_t found = largest ? *std::max_element(window.begin(), window.end())
                                          : *std::min_element(window.begin(), window.end());
      if (weighs && c + 1 == format.channels) visible = found > 0;
      set_sample(result, x, y, c, visible ? found : 0);
    }
  }
  return result;
}

Image naive_morphology(const Image& image, const MorphologyParameters& parameters) {
  switch (parameters.operation) {
    case Morphology::dilate:
      return naive_extremes(image, parameters, true);
    case Morphology::erode:
      return naive_extremes(image, parameters, false);
    case Morphology::open:
      return naive_extremes(naive_extremes(image, parameters, false), parameters, true);
    case Morphology::close:
      return naive_extremes(naive_extremes(image, parameters, true), parameters, false);
  }
  return copy_of(image);
}

void check_morphology(const Image& image, const MorphologyParameters& parameters) {
  const Image expected = naive_morphology(image, parameters);
  check_on_host(image, {make_morphology(parameters)}, expected, {3, 1000});
}

TEST(MorphologyOnProcessor, EqualsTheExtremesOfWindows) {
  std::size_t turn = 0;
  for (const auto& [operation, radius, format, size] :
       each_of(operations, std::array{1, 2, 3, 8}, all_formats(),
               Sizes{{1, 1}, {2, 9}, {33, 7}, {351, 3}})) {
    for (const Image& image : window_pictures(size, format)) {
      ASSERT_NO_FATAL_FAILURE(
          check_morphology(image, {operation, radius, all_borders.at(turn++ % 4),
                                   turn % 5 == 0 ? AlphaMode::independent : AlphaMode::weighted}));
    }
  }
}

// Pictures wider than a tile, which is the narrower the larger the radius is: 13056 and 1152
// samples.
TEST(MorphologyOnProcessor, HasNoSeamsInWidePicturesAndTakesTheLargestWindow) {
  std::size_t turn = 0;
  for (const auto& [operation, format] : each_of(operations, Formats{{3, 8}, {4, 16}})) {
    for (const auto& [radius, samples] : {std::pair{1, 13056}, std::pair{26, 1152}}) {
      const int width = samples / format.channels + 1 + static_cast<int>(turn % 3);
      ASSERT_NO_FATAL_FAILURE(check_morphology(random_image({width, 2}, format, 7),
                                               {operation, radius, all_borders.at(turn++ % 4)}));
    }
  }
  for (const auto& [operation, border] :
       each_of(std::array{Morphology::dilate, Morphology::erode}, all_borders)) {
    ASSERT_NO_FATAL_FAILURE(
        check_morphology(random_image({25, 5}, {3, 8}, 5), {operation, 127, border}));
  }
}

// Replicated and mirrored pixels lie in the window anyway, so they never win: OpenCV's constant
// that never wins gives the same.
TEST(Morphology, PixelsOutsideNeverWin) {
  const Image image = random_image({23, 17}, {3, 8}, 6);
  for (const auto& [operation, radius] : each_of(operations, std::array{1, 3, 30})) {
    const Image replicated =
        filter_on_host(image, {make_morphology({operation, radius, Border::replicate})}, {});
    const Image mirrored =
        filter_on_host(image, {make_morphology({operation, radius, Border::mirror})}, {});
    EXPECT_TRUE(same_pixels(replicated, mirrored));
  }
}

TEST(MorphologyText, IsAWholeNumberUpTo127) {
  EXPECT_EQ(objection_to_value(dilate_stage_kind(), "0"),
            "--dilate 0: a whole number from 1 to 127");
  EXPECT_EQ(objection_to_value(erode_stage_kind(), "128"),
            "--erode 128: a whole number from 1 to 127");
  EXPECT_EQ(objection_to_value(open_stage_kind(), "2.5"),
            "--open 2.5: a whole number from 1 to 127");
  EXPECT_EQ(objection_to_value(close_stage_kind(), "disk"),
            "--close disk: a whole number from 1 to 127");
  EXPECT_EQ(objection_to_value(close_stage_kind(), "127"), "none");
}

}  // namespace
}  // namespace gpufilter::test
