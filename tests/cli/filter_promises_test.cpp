// What filters promise, shown by small files: each was once filtered otherwise.
#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "cli/filter_fixture.hpp"
#include "support/pictures.hpp"

namespace gpufilter::test {
namespace {

class FilterPromises : public FilterTest {
 protected:
  static std::string given_file(const std::string& name) {
    return std::string(GPUFILTER_SOURCE) + "/tests/cases/" + name;
  }

  // The samples of a result, row by row.
  std::vector<std::uint32_t> samples_of(std::vector<std::string> stage, const std::string& in) {
    const std::string out = folder_ / "out.png";
    std::vector<std::string> words{in, out};
    words.insert(words.end(), stage.begin(), stage.end());
    filter_quietly(words);
    const Image image = read_picture(out);
    std::vector<std::uint32_t> samples;
    for (const auto [x, y, c] : each_sample(image))
      samples.push_back(sample_at(image, x, y, c));
    return samples;
  }

  std::string grey_row(const std::string& numbers, int width) {
    std::string path = folder_ / "row.pgm";
    write_file(path, "P2\n" + std::to_string(width) + " 1\n255\n" + numbers + "\n");
    return path;
  }
};

using SampleRow = std::vector<std::uint32_t>;

TEST_F(FilterPromises, AreaIsAMean) {
  const auto resized = [&](const std::string& numbers, int width, const std::string& size) {
    return samples_of({"--resize", size, "--fit", "fill", "--kernel", "area"},
                      grey_row(numbers, width));
  };
  EXPECT_EQ(resized("0 90 30", 3, "2x1"), (SampleRow{30, 50}));
  EXPECT_EQ(resized("255 0 255 0 0", 5, "1x1"), (SampleRow{102}));
  EXPECT_EQ(resized("0 100", 2, "3x1"), (SampleRow{0, 50, 100}));
}

TEST_F(FilterPromises, ConvolvingWithZerosLeavesTheOffset) {
  EXPECT_EQ(
      samples_of({"--convolve", "0 0 0; 0 0 0; 0 0 0", "--offset", "100"}, grey_row("7 80 255", 3)),
      (SampleRow{100, 100, 100}));
}

TEST_F(FilterPromises, ANegativeAngleTurnsToTheLeft) {
  const Image image = random_image({5, 3}, {3, 8}, 1);
  const std::string in = stored(image, "in.png");
  EXPECT_EQ(samples_of({"--rotate", "-90"}, in), samples_of({"--rotate", "270"}, in));
  EXPECT_EQ(samples_of({"--rotate", "450"}, in), samples_of({"--rotate", "90"}, in));
}

// The values are OpenColorIO's.
TEST_F(FilterPromises, ACubeMayHaveAShaper) {
  const SampleRow found =
      samples_of({"--lut", given_file("oracle-lut-shaper-and-cube/resolve_1d3d.cube")},
                 given_file("oracle-lut-shaper-and-cube/five.ppm"));
  const SampleRow expected{77, 70, 64, 118, 118, 115, 109, 86, 108, 79, 117, 86, 92, 85, 79};
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i)
    EXPECT_NEAR(found[i], expected[i], 1) << i;
}

TEST_F(FilterPromises, ACubeMayBeInLowerCase) {
  const std::string lower = given_file("cube-lower-case-keywords.cube");
  std::string text = read_file(lower);
  text.replace(text.find("lut_3d_size"), 11, "LUT_3D_SIZE");
  const std::string upper = folder_ / "upper.cube";
  write_file(upper, text);
  const std::string in = stored(random_image({31, 9}, {3, 8}, 2), "in.png");
  EXPECT_EQ(samples_of({"--lut", lower}, in), samples_of({"--lut", upper}, in));
}

// docs/stages/pad.md: an odd rest is rounded towards zero.
TEST_F(FilterPromises, PaddingCutsTheMiddleAsThePageSays) {
  const std::string in = given_file("oracle-pad-middle-rounding/in.ppm");
  const Image source = read_picture(in);
  const std::string out = folder_ / "out.png";
  filter_quietly({in, out, "--pad", "6x4"});
  const Image found = read_picture(out);
  const int left = (6 - source.width()) / 2;
  for (int x = 0; x < source.width(); ++x)
    EXPECT_EQ(sample_at(found, x + left, 0, 0), sample_at(source, x, 16, 0));
}

// docs/stages/trim.md says how ImageMagick and libvips differ.
TEST_F(FilterPromises, TrimmingGoesByTheFirstPixel) {
  const auto trimmed = [&](const std::string& name) {
    const std::string out = folder_ / "out.png";
    filter_quietly({given_file("oracle-trim-unlike-peers/" + name), out, "--trim"});
    return read_picture(out).size();
  };
  EXPECT_EQ(trimmed("two-corners.png"), (ImageSize{50, 40}));
  EXPECT_EQ(trimmed("speck.png"), (ImageSize{31, 23}));
}

double psnr_of(const Image& a, const Image& b) {
  double sum = 0;
  double count = 0;
  for (const auto [x, y] : each_pixel(a)) {
    for (int c = 0; c < 3; ++c, ++count)
      sum += std::pow(double(sample_at(a, x, y, c)) - double(sample_at(b, x, y, c)), 2);
  }
  return 10 * std::log10(255.0 * 255.0 * count / sum);
}

TEST_F(FilterPromises, DenoisingKnowsWhatSuitsTheNoise) {
  const std::string out = folder_ / "out.png";
  for (const auto& [sigma, least] : {std::pair{"10", 31.2}, {"20", 29.1}}) {
    const std::string folder = given_file(std::string("oracle-denoise-auto-") + sigma);
    filter_quietly({folder + "/noisy.png", out, "--denoise", sigma});
    EXPECT_GE(psnr_of(read_picture(out), read_picture(folder + "/clean.png")), least) << sigma;
  }
}

// Noise as wide as several pixels that deviates by `sigma`.
std::vector<double> blotches(int side, double sigma, std::mt19937& random) {
  std::vector<double> noise(static_cast<std::size_t>(side * side));
  for (double& number : noise)
    number = static_cast<double>(random() % 2001) / 1000 - 1;
  const auto blur = [&](int step, int reach) {
    const std::vector<double> from = noise;
    for (int i = 0; i < side * side; ++i) {
      double sum = 0;
      for (int k = -reach; k <= reach; ++k)
        sum += from[static_cast<std::size_t>((i + k * step + side * side) % (side * side))];
      noise[static_cast<std::size_t>(i)] = sum;
    }
  };
  for (int round = 0; round < 2; ++round) {
    blur(1, 2);
    blur(side, 2);
  }
  double square = 0;
  for (const double number : noise)
    square += number * number;
  for (double& number : noise)
    number *= sigma / std::sqrt(square / (side * side));
  return noise;
}

// As a camera's JPEG has it: coloured blotches, and little noise in brightness.
TEST_F(FilterPromises, ChromaNoiseIsSmoothedByItself) {
  constexpr int side = 192;
  const std::string source = std::string(GPUFILTER_SOURCE) + "/samples/landscape.jpg";
  const std::string clean = folder_ / "clean.png";
  filter_quietly({source, clean, "--crop", "192x192+40+20"});
  std::mt19937 random(5);
  const std::vector<double> red = blotches(side, 12, random);
  const std::vector<double> blue = blotches(side, 12, random);
  Image noisy = copy_of(read_picture(clean));
  for (const auto [x, y] : each_pixel({side, side})) {
    const auto at = static_cast<std::size_t>(y * side + x);
    const double luma = static_cast<double>(random() % 21) - 10;
    const std::array noise{luma + 1.402 * red[at], luma - 0.714 * red[at] - 0.344 * blue[at],
                           luma + 1.772 * blue[at]};
    for (int c = 0; c < 3; ++c) {
      const double sample = sample_at(noisy, x, y, c) + noise.at(static_cast<std::size_t>(c));
      set_sample(noisy, x, y, c, static_cast<std::uint32_t>(std::clamp(sample, 0.0, 255.0)));
    }
  }
  const std::string jpeg = folder_ / "noisy.jpg";
  filter_quietly({stored(noisy, "noisy.png"), jpeg, "--quality", "85"});
  const auto denoised = [&](const std::vector<std::string>& stage) {
    const std::string out = folder_ / "out.png";
    std::vector<std::string> words{jpeg, out};
    words.insert(words.end(), stage.begin(), stage.end());
    filter_quietly(words);
    return psnr_of(read_picture(out), read_picture(clean));
  };
  const double before = denoised({});
  const double by_color = denoised({"--denoise", "6"});
  const double by_chroma = denoised({"--denoise", "6", "--chroma", "12"});
  EXPECT_LT(by_color, before + 2);
  EXPECT_GT(by_chroma, before + 4);
  EXPECT_GT(by_chroma, by_color + 2.5);
}

}  // namespace
}  // namespace gpufilter::test
