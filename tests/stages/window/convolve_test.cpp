// --convolve gives the same bits everywhere: the processor with each instruction set against a
// second implementation, every device against the processor.
#include "stages/window/blur.hpp"
#include "stages/window/window_stages.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

__extension__ using Wide = __int128;

// The window around one pixel: from the definition, without tiles, tables or shortcuts.
class NaivePixel {
 public:
  NaivePixel(const Image& image, const ConvolveParameters& parameters, int x, int y)
      : matrix_(parameters.matrix), format_(image.format()) {
    for (int i = 0; i < matrix_.width * matrix_.height; ++i) {
      const int column = x + i % matrix_.width - matrix_.width / 2;
      const int row = y + i / matrix_.width - matrix_.height / 2;
      std::array<std::int64_t, 4> pixel{};
      for (int c = 0; c < format_.channels; ++c)
        pixel.at(static_cast<std::size_t>(c)) =
            sample_beyond(image, column, row, c, parameters.border);
      pixels_.push_back(pixel);
      weights_.push_back(matrix_.coefficients.at(static_cast<std::size_t>(i)));
    }
  }

  // Whole numbers. Every sum here fits 128 bits by far.
  [[nodiscard]] std::int64_t exact(int channel, bool weighted) const {
    const auto scale = static_cast<std::int64_t>(matrix_.scale);
    const std::int64_t offset = whole_offset();
    if (!weighted) return limited(nearest(sum(channel, false), scale) + offset);
    const Wide alpha = sum(alpha_channel(), false);
    if (is_alpha(channel)) return total() > 0 ? limited(nearest(alpha, total())) : centre(channel);
    if (total() <= 0) return limited(nearest(sum(channel, true), Wide{scale} * max()) + offset);
    if (alpha <= 0) return exact(channel, false);
    return limited(nearest(sum(channel, true) * total(), alpha * scale) + offset);
  }

  // Chains of fma.
  [[nodiscard]] std::int64_t decimal(int channel, bool weighted) const {
    const auto offset = static_cast<float>(matrix_.offset);
    double all = 0;
    for (const double weight : weights_)
      all += weight;
    float plain = offset;
    float products = 0;
    float alphas = 0;
    bool opaque = true;
    for (std::size_t i = 0; i < pixels_.size(); ++i) {
      const auto weight = static_cast<float>(weights_[i] / matrix_.scale);
      const auto sample = static_cast<float>(at(i, channel));
      plain = std::fma(weight, sample, plain);
      if (!weighted) continue;
      const auto alpha = static_cast<float>(at(i, alpha_channel()));
      products = std::fma(weight, sample * alpha, products);
      alphas = std::fma(weight, alpha, alphas);
      opaque = opaque && (weight == 0 || at(i, alpha_channel()) == max());
    }
    if (!weighted) return rounded(plain);
    if (is_alpha(channel)) {
      if (opaque && all > 0) return max();
      return all > 0 ? rounded(alphas * static_cast<float>(matrix_.scale / all)) : centre(channel);
    }
    if (opaque) return rounded(plain);
    if (!(all > 0)) return rounded(std::fma(products, 1.0F / static_cast<float>(max()), offset));
    if (!(alphas > 0)) return rounded(plain);
    // Half up, by long division: every number here is exact in double precision or nearly so far
    // from a tie that it does not matter; see the test of the division below.
    const float dividend =
        std::fma(offset, alphas, products * static_cast<float>(all / matrix_.scale));
    const long double quotient =
        static_cast<long double>(dividend) / static_cast<long double>(alphas);
    return limited(
        static_cast<std::int64_t>(std::floor(std::clamp<long double>(quotient, -1, 70000) + 0.5L)));
  }

 private:
  [[nodiscard]] std::int64_t max() const { return format_.max_sample(); }
  [[nodiscard]] int alpha_channel() const { return format_.channels - 1; }
  [[nodiscard]] bool is_alpha(int channel) const {
    return format_.has_alpha() && channel == alpha_channel();
  }
  [[nodiscard]] std::int64_t at(std::size_t i, int channel) const {
    return pixels_.at(i).at(static_cast<std::size_t>(channel));
  }
  [[nodiscard]] std::int64_t centre(int channel) const { return at(pixels_.size() / 2, channel); }
  [[nodiscard]] std::int64_t whole_offset() const {
    return static_cast<std::int64_t>(
        matrix_.offset_in_percent
            ? std::nearbyint(matrix_.offset * static_cast<double>(max()) / 100)
            : matrix_.offset);
  }
  [[nodiscard]] Wide sum(int channel, bool times_alpha) const {
    Wide all = 0;
    for (std::size_t i = 0; i < pixels_.size(); ++i)
      all += Wide{static_cast<std::int64_t>(weights_[i])} * at(i, channel) *
             (times_alpha ? at(i, alpha_channel()) : 1);
    return all;
  }
  [[nodiscard]] Wide total() const {
    Wide all = 0;
    for (const double weight : weights_)
      all += static_cast<std::int64_t>(weight);
    return all;
  }
  // Half up.
  static std::int64_t nearest(Wide dividend, Wide divisor) {
    const Wide twice = 2 * dividend + divisor;
    Wide quotient = twice / (2 * divisor);
    if (quotient * 2 * divisor > twice) --quotient;
    return static_cast<std::int64_t>(quotient);
  }
  [[nodiscard]] std::int64_t limited(std::int64_t number) const {
    return std::clamp<std::int64_t>(number, 0, max());
  }
  [[nodiscard]] std::int64_t rounded(float number) const {
    return static_cast<std::int64_t>(
        std::nearbyint(std::clamp(number, 0.0F, static_cast<float>(max()))));
  }

  const ConvolutionMatrix& matrix_;
  PixelFormat format_;
  std::vector<std::array<std::int64_t, 4>> pixels_;
  std::vector<double> weights_;
};

Image naive_convolution(const Image& image, const ConvolveParameters& parameters, bool exact) {
  Image result(image.size(), image.format());
  const bool weighted = parameters.alpha == AlphaMode::weighted && image.format().has_alpha();
  for (const auto [x, y] : each_pixel(image)) {
    const NaivePixel pixel(image, parameters, x, y);
    for (int c = 0; c < image.format().channels; ++c) {
      const std::int64_t sample = exact ? pixel.exact(c, weighted) : pixel.decimal(c, weighted);
      set_sample(result, x, y, c, static_cast<std::uint32_t>(sample));
    }
  }
  return result;
}

struct MatrixSample {
  ConvolutionMatrix matrix;
  bool exact = true;
};

ConvolutionMatrix random_matrix(int width, int height, int low, int high, unsigned seed) {
  std::mt19937 random(seed);
  ConvolutionMatrix matrix{.width = width, .height = height};
  for (int i = 0; i < width * height; ++i)
    matrix.coefficients.push_back(
        low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1)));
  return matrix;
}

ConvolutionMatrix scaled(ConvolutionMatrix matrix, double scale, double offset) {
  matrix.scale = scale;
  matrix.offset = offset;
  return matrix;
}

ConvolutionMatrix averaging(ConvolutionMatrix matrix) {
  matrix.scale = std::accumulate(matrix.coefficients.begin(), matrix.coefficients.end(), 0.0);
  return matrix;
}

ConvolutionMatrix in_decimals(ConvolutionMatrix matrix) {
  for (double& number : matrix.coefficients)
    number = number * 0.37 + 0.01;
  return matrix;
}

// Sides from 1 to 15, sums above, below and at 0, scales that are and are not the sum, sums of 24,
// 32 and more bits.
const std::vector<MatrixSample>& samples() {
  static const std::vector<MatrixSample> all{
      {{3, 3, {1, 2, 1, 2, 4, 2, 1, 2, 1}, 16}},
      {{3, 3, {-1, -1, -1, -1, 8, -1, -1, -1, -1}, 1}},
      {{3, 3, {0, -1, 0, -1, 5, -1, 0, -1, 0}, 1}},
      {{3, 3, {-1, 0, 1, -2, 0, 2, -1, 0, 1}, 3, 128}},
      {{1, 1, {3}, 2}},
      {{1, 1, {1}, 1, 50, true}},
      {{5, 1, {1, -4, 6, -4, 1}, 7, -3}},
      {scaled(random_matrix(1, 15, -5, 90, 1), 450, 0)},
      {scaled(random_matrix(15, 15, 0, 9, 2), 1000, 0)},
      {scaled(random_matrix(7, 3, -900, 4000, 3), 32768, 11)},
      {averaging(random_matrix(3, 5, 0, 40000, 4))},
      {{3, 1, {1, 2, -7}, 5}},
      {in_decimals({3, 3, {1, 2, 1, 2, 4, 2, 1, 2, 1}, 6}), false},
      {in_decimals({3, 3, {-1, -1, -1, -1, 8, -1, -1, -1, -1}, 1, 12.5}), false},
      {in_decimals(scaled(random_matrix(9, 7, -5, 9, 5), 44.4, 0)), false},
      {{5, 1, {-0.5, 0, 0, 0, 0.5}, 1}, false},
      {{1, 3, {-2.5, 1, -0.25}, 1, 100}, false}};
  return all;
}

// With alpha, most shortcuts need pixels that are opaque and others that are not.
std::vector<Image> convolve_pictures(ImageSize size, PixelFormat format) {
  std::vector<Image> made;
  made.push_back(random_image(size, format, 1));
  made.push_back(format.has_alpha() ? mixed_alpha_image(size, format, 2)
                                    : extreme_image(size, format, 2));
  if (format.has_alpha()) made.push_back(opaque_image(size, format, 3));
  return made;
}

void check_convolution(const Image& image, const ConvolveParameters& parameters, bool exact) {
  const Image expected = naive_convolution(image, parameters, exact);
  check_on_host(image, {make_convolve(parameters)}, expected, {2, 1000});
}

TEST(ConvolveOnProcessor, EqualsTheDefinition) {
  std::size_t turn = 0;
  for (const auto& [sample, format, size] :
       each_of(samples(), all_formats(), Sizes{{1, 1}, {2, 9}, {33, 7}, {351, 3}})) {
    for (const Image& image : convolve_pictures(size, format)) {
      const ConvolveParameters parameters{
          sample.matrix, all_borders.at(turn++ % 4),
          turn % 3 == 0 ? AlphaMode::independent : AlphaMode::weighted};
      ASSERT_NO_FATAL_FAILURE(check_convolution(image, parameters, sample.exact));
    }
  }
}

TEST(ConvolveOnDevices, EqualsTheProcessor) {
  std::vector<ChainInTurn> chains;
  for (const MatrixSample& sample : samples()) {
    chains.emplace_back([&](Border border, AlphaMode alpha) {
      return StageChain{make_convolve({sample.matrix, border, alpha})};
    });
  }
  expect_the_processors_bits(chains, {.share = 2, .pictures = convolve_pictures});
}

TEST(Convolve, OfOnesIsTheBlurAndDoesNotTurnTheMatrixRound) {
  const ConvolutionMatrix ones{3, 3, std::vector<double>(9, 1), 9};
  for (const PixelFormat& format : all_formats()) {
    for (const Image& image : convolve_pictures({67, 19}, format)) {
      for (const auto& [border, alpha] :
           each_of(all_borders, std::array{AlphaMode::weighted, AlphaMode::independent})) {
        EXPECT_TRUE(same_pixels(
            filter_on_host(image, {make_convolve({ones, border, alpha})}, {}),
            filter_on_host(image, {make_blur({.border = border, .alpha = alpha})}, {})));
      }
    }
  }
  // The first coefficient is that of the top left neighbour, so everything moves down and right.
  const Image image = random_image({9, 7}, {3, 8}, 5);
  const Image moved =
      filter_on_host(image, {convolve_stage_kind().make("1 0 0; 0 0 0; 0 0 0")}, {});
  EXPECT_EQ(sample_at(moved, 4, 3, 1), sample_at(image, 3, 2, 1));
}

TEST(Convolve, LeavesTheAlphaOfAnOpaquePictureOpaque) {
  const Image image = opaque_image({20, 10}, {4, 8}, 6);
  const Image edges =
      filter_on_host(image, {convolve_stage_kind().make("-1 -1 -1; -1 8 -1; -1 -1 -1")}, {});
  const Image brighter =
      filter_on_host(image, {convolve_stage_kind().make("1 2 1", {{"--scale", "2"}})}, {});
  for (const auto [x, y] : each_pixel({20, 10})) {
    ASSERT_EQ(sample_at(edges, x, y, 3), 255U);
    ASSERT_EQ(sample_at(brighter, x, y, 3), 255U);
  }
}

// Too large to be weighted by alpha.
TEST(Convolve, OfLargeWholeNumbersIsExactWithIndependentAlpha) {
  const ConvolveParameters parameters{
      {3, 1, {1, 40'000, 1}, 1}, Border::mirror, AlphaMode::independent};
  for (const PixelFormat& format : all_formats())
    check_convolution(random_image({33, 7}, format, 7), parameters, true);
}

// The value of --convolve: a matrix written out, or a file.

std::string convolve_key(const std::string& value, const GivenParameters& given = {}) {
  return convolve_stage_kind().make(value, given)->key();
}

TEST(ConvolveText, HasScaleAndOffsetAndMayBeAFileOfLibvipsOrOfRows) {
  EXPECT_EQ(convolve_key("1 2 1; 2 4 2; 1 2 1"),
            convolve_key("1,2,1;2,4,2;1,2,1", {{"--scale", "16"}}));
  EXPECT_EQ(convolve_key("1 -2 1"), convolve_key("1 -2 1", {{"--scale", "1"}, {"--offset", "0"}}));
  EXPECT_EQ(convolve_key("1 -2 1", {{"--scale", "-1"}}),
            convolve_key("-1 2 -1", {{"--scale", "1"}}));
  EXPECT_NE(convolve_key("1 -2 1"), convolve_key("1 -2 1", {{"--offset", "50%"}}));
  EXPECT_NE(convolve_key("1 -2 1", {{"--offset", "50"}}),
            convolve_key("1 -2 1", {{"--offset", "50%"}}));
  const TemporaryFolder folder;
  write_file(folder / "vips.mat", "3 3 8 128\n-1 -1 -1\n-1 16 -1\n-1 -1 -1\n");
  EXPECT_EQ(convolve_key(folder / "vips.mat"),
            convolve_key("-1 -1 -1; -1 16 -1; -1 -1 -1", {{"--scale", "8"}, {"--offset", "128"}}));
  EXPECT_EQ(convolve_key(folder / "vips.mat", {{"--scale", "auto"}, {"--offset", "0"}}),
            convolve_key("-1 -1 -1; -1 16 -1; -1 -1 -1", {{"--scale", "8"}}));
  write_file(folder / "short.mat", "3 1\n1 2 1\n");  // scale 1, as libvips
  EXPECT_EQ(convolve_key(folder / "short.mat"), convolve_key("1 2 1", {{"--scale", "1"}}));
  write_file(folder / "rows.txt", "# a comment\n1 2 1\r\n2, 4, 2\n1 2 1 # more\n");
  EXPECT_EQ(convolve_key(folder / "rows.txt"), convolve_key("1 2 1; 2 4 2; 1 2 1"));
}

std::string convolve_objection(const std::string& value, const GivenParameters& given = {}) {
  return objection_to_value(convolve_stage_kind(), value, given);
}

TEST(ConvolveText, RefusesWhatIsNoMatrix) {
  EXPECT_EQ(convolve_objection("1 2; 3 4"),
            "--convolve: 2x2 numbers; each side is odd, from 1 to 15");
  EXPECT_EQ(convolve_objection("1 2 3; 4 5 6"),
            "--convolve: 3x2 numbers; each side is odd, from 1 to 15");
  EXPECT_EQ(convolve_objection("1 2 3; 4 5; 1 2 3"),
            "--convolve: row 2: 2 numbers, but the first row has 3");
  EXPECT_EQ(convolve_objection("1 2 x"), "--convolve 1 2 x: neither a matrix nor a file");
  EXPECT_EQ(convolve_objection("none.mat"), "--convolve none.mat: neither a matrix nor a file");
  EXPECT_EQ(convolve_objection("1 2e 3"), "--convolve: row 1: '2e' is not a number");
  EXPECT_EQ(convolve_objection("1 , , 3"), "--convolve: row 1: ',' without a number before it");
  EXPECT_EQ(convolve_objection("1 2 1", {{"--scale", "0"}}),
            "--convolve: the scale is 0, and cannot divide");
  EXPECT_EQ(convolve_objection("1 2 1", {{"--scale", "few"}}), "--scale: 'few' is not a number");
  EXPECT_EQ(convolve_objection("1 2 1", {{"--offset", "65536"}}),
            "--convolve: the offset has to be from -65535 to 65535");
  EXPECT_EQ(convolve_objection("1 2 1", {{"--offset", "-101%"}}),
            "--convolve: the offset has to be from -100 to 100%");
  std::string wide;
  for (int i = 0; i < 17; ++i)
    wide += "1 ";
  EXPECT_EQ(convolve_objection(wide), "--convolve: 17x1 numbers; each side is odd, from 1 to 15");
}

TEST(ConvolveText, RefusesNumbersThatAreTooLarge) {
  EXPECT_EQ(
      convolve_objection("1 1e7 1", {{"--scale", "1"}}),
      "--convolve: the absolute values of the coefficients, divided by the scale of 1, add up to "
      "more than 1048576; use a larger --scale");
  const auto too_large = [](int scale) {
    return formatted(
        "--convolve: these whole numbers are too large to be summed exactly; divide them "
        "and --scale ({}) by a common factor",
        scale);
  };
  EXPECT_EQ(convolve_objection("1 10000000 1"), too_large(10'000'002));
  EXPECT_EQ(convolve_objection("-524288 0 524288", {{"--scale", "1048576"}}), "none");
  EXPECT_EQ(convolve_objection("-524288 0 524289", {{"--scale", "1048576"}}), too_large(1'048'576));
  EXPECT_EQ(convolve_objection("1 2 1", {{"--scale", "1048577"}}), too_large(1'048'577));
  EXPECT_EQ(convolve_objection("1.5 2 1", {{"--scale", "1048577"}}), "none");  // decimals
}

// 2^14 * 2^15 is the largest product.
TEST(ConvolveText, RefusesNumbersThatAreTooLargeForWeightsOfAlpha) {
  EXPECT_EQ(convolve_objection("32768", {{"--scale", "2"}}), "none");
  EXPECT_EQ(convolve_objection("32769", {{"--scale", "2"}}),
            "--convolve: these whole numbers are too large to be weighted by alpha exactly; use "
            "--alpha independent, or divide them and --scale (2) by a common factor");
  EXPECT_EQ(convolve_objection("32769", {{"--scale", "2"}, {"--alpha", "independent"}}), "none");
  EXPECT_EQ(convolve_objection("-32769", {{"--scale", "2"}}),
            "none");  // there is no mean to be weighted
}

}  // namespace
}  // namespace gpufilter::test
