#include "compare/structural_similarity.hpp"

#include "base/threads.hpp"
#include "support/instruction_sets.hpp"
#include "support/process.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

// In bands of `rows` rows.
std::optional<double> ssim_of(const Image& a, const Image& b, int rows = 1000) {
  StructuralSimilarity similarity(a.size(), a.format());
  const auto part = [](const Image& image, RowRange range) {
    return ConstRows{image.rows().row(range.begin), image.pitch(), range, image.width(),
                     image.format()};
  };
  for (int y = 0; y < a.size().height; y += rows) {
    const RowRange range{y, std::min(y + rows, a.size().height)};
    similarity.add(part(a, range), part(b, range));
  }
  return similarity.mean();
}

// The samples of a window as numbers, one after the other.
std::vector<double> window_at(const Image& image, int left, int top, int channel) {
  std::vector<double> samples;
  for (int y = top; y < top + 11; ++y) {
    for (int x = left; x < left + 11; ++x)
      samples.push_back(sample_at(image, x, y, channel));
  }
  return samples;
}

std::vector<double> window_weights() {
  std::vector<double> weights;
  double sum = 0;
  for (int y = -5; y <= 5; ++y) {
    for (int x = -5; x <= 5; ++x) {
      weights.push_back(std::exp(-(x * x + y * y) / (2 * 1.5 * 1.5)));
      sum += weights.back();
    }
  }
  for (double& weight : weights)
    weight /= sum;
  return weights;
}

// Equation 13 of the article, with the moments of equations 14 to 16, for one window.
double formula(const std::vector<double>& a, const std::vector<double>& b, double largest) {
  static const std::vector<double> weights = window_weights();
  double mean_a = 0;
  double mean_b = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    mean_a += weights[i] * a[i];
    mean_b += weights[i] * b[i];
  }
  double variance_a = 0;
  double variance_b = 0;
  double covariance = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    variance_a += weights[i] * (a[i] - mean_a) * (a[i] - mean_a);
    variance_b += weights[i] * (b[i] - mean_b) * (b[i] - mean_b);
    covariance += weights[i] * (a[i] - mean_a) * (b[i] - mean_b);
  }
  const double c1 = std::pow(0.01 * largest, 2);
  const double c2 = std::pow(0.03 * largest, 2);
  return (2 * mean_a * mean_b + c1) * (2 * covariance + c2) /
         ((mean_a * mean_a + mean_b * mean_b + c1) * (variance_a + variance_b + c2));
}

double naive_ssim(const Image& a, const Image& b) {
  double sum = 0;
  int count = 0;
  for (int c = 0; c < a.format().channels; ++c) {
    for (int y = 0; y + 11 <= a.size().height; ++y) {
      for (int x = 0; x + 11 <= a.width(); ++x, ++count)
        sum += formula(window_at(a, x, y, c), window_at(b, x, y, c), a.format().max_sample());
    }
  }
  return sum / count;
}

Image constant(ImageSize size, PixelFormat format, std::uint32_t value) {
  Image image(size, format);
  for (const auto [x, y, c] : each_sample(size, format.channels))
    set_sample(image, x, y, c, value);
  return image;
}

// `image` with every sample moved by up to `steps`: similar pictures.
Image disturbed(const Image& image, std::uint32_t steps) {
  Image copy = copy_of(image);
  const Image noise = random_image(image.size(), image.format(), 77);
  for (const auto [x, y, c] : each_sample(image)) {
    const std::uint32_t sample =
        sample_at(image, x, y, c) + sample_at(noise, x, y, c) % (steps + 1);
    set_sample(copy, x, y, c, std::min(sample, image.format().max_sample()));
  }
  return copy;
}

TEST(StructuralSimilarity, AgreesWithTheFormula) {
  for (const PixelFormat format : all_formats()) {
    // One window, a row and a column of them, and more samples in a row than are computed together.
    for (const ImageSize size : {ImageSize{11, 11}, {29, 11}, {11, 23}, {171, 12}}) {
      SCOPED_TRACE(formatted("{}x{}, {}", size.width, size.height, to_string(format)));
      const Image a = random_image(size, format, 1);
      for (const Image& b : {random_image(size, format, 2), extreme_image(size, format, 3),
                             disturbed(a, format.max_sample() / 9)}) {
        const auto found = ssim_of(a, b);
        ASSERT_TRUE(found);
        EXPECT_NEAR(*found, naive_ssim(a, b), 1e-9);
      }
    }
  }
}

TEST(StructuralSimilarity, OfConstantEqualAndSmallPictures) {
  for (const PixelFormat format : all_formats()) {
    const double largest = format.max_sample();
    const double c1 = 0.0001 * largest * largest;
    const Image black = constant({20, 15}, format, 0);
    const Image white = constant({20, 15}, format, format.max_sample());
    EXPECT_NEAR(ssim_of(black, white).value(), 0.0001 / 1.0001, 1e-12);
    const Image dark = constant({20, 15}, format, 50);
    EXPECT_NEAR(ssim_of(dark, constant({20, 15}, format, 200)).value(),
                (2 * 50.0 * 200 + c1) / (50.0 * 50 + 200.0 * 200 + c1), 1e-9);
  }
  for (const PixelFormat format : all_formats()) {
    const Image a = random_image({53, 31}, format, 4);
    EXPECT_EQ(ssim_of(a, copy_of(a)), 1.0);
    // Equal windows beside others: only those that hold the last pixel are not 1.
    Image b = copy_of(a);
    set_sample(b, 52, 30, 0, sample_at(a, 52, 30, 0) ^ (format.max_sample() / 2 + 1));
    EXPECT_LT(ssim_of(a, b).value(), 1.0);
    EXPECT_NEAR(ssim_of(a, b).value(), naive_ssim(a, b), 1e-12);
  }
  for (const ImageSize size : {ImageSize{10, 11}, {11, 10}, {1, 1}, {1, 400}, {400, 1}}) {
    const Image a = random_image(size, {3, 8}, 5);
    EXPECT_EQ(ssim_of(a, copy_of(a)), std::nullopt);
    EXPECT_EQ(ssim_of(a, random_image(size, {3, 8}, 6), 3), std::nullopt);
  }
}

TEST(StructuralSimilarity, HasTheSameBitsForAllBandsThreadsAndInstructionSets) {
  for (const PixelFormat format : {PixelFormat{3, 8}, {4, 16}}) {
    const ImageSize size{203, 61};
    const Image a = random_image(size, format, 8);
    Image b = disturbed(a, 20);
    // Rows of equal windows between others.
    for (int y = 20; y < 40; ++y)
      std::copy_n(a.rows().row(y), a.pitch(), b.rows().row(y));
    const double expected = ssim_of(a, b).value();
    EXPECT_NEAR(expected, naive_ssim(a, b), 1e-9);
    for (const int rows : {1, 2, 7, 10, 11, 12, 60})
      EXPECT_EQ(ssim_of(a, b, rows), expected) << rows;
    for (const std::size_t threads : {1U, 2U, 5U}) {
      const ThreadLimit limit(threads);
      EXPECT_EQ(ssim_of(a, b), expected) << threads;
    }
    with_each_instruction_set([&] { EXPECT_EQ(ssim_of(a, b), expected); });
  }
}

// The samples, row by row, in the machine's byte order.
std::string raw_samples(const Image& image) {
  std::string bytes;
  for (int y = 0; y < image.size().height; ++y) {
    const auto* row = reinterpret_cast<const char*>(image.rows().row(y));
    bytes.append(row, static_cast<std::size_t>(image.width()) * image.format().bytes_per_pixel());
  }
  return bytes;
}

constexpr const char* python = "/usr/bin/python3";  // that of the package python3-skimage

constexpr const char* by_skimage = R"(
import sys
import numpy
from skimage.metrics import structural_similarity
a, b = (numpy.fromfile(name, sys.argv[3]).reshape(int(sys.argv[4]), -1, int(sys.argv[5]))
        for name in sys.argv[1:3])
print(repr(float(structural_similarity(a, b, channel_axis=2, gaussian_weights=True, sigma=1.5,
    use_sample_covariance=False, data_range=numpy.iinfo(a.dtype).max))))
)";

bool has_skimage() {
  try {
    return run_process({python, "-c", "import skimage.metrics"}).exit_code == 0;
  } catch (const std::system_error&) {
    return false;
  }
}

TEST(StructuralSimilarity, AgreesWithScikitImage) {
  if (!has_skimage()) GTEST_SKIP() << "skipped: python3-skimage is not installed";
  const TemporaryFolder folder;
  for (const PixelFormat format : all_formats()) {
    SCOPED_TRACE(to_string(format));
    const Image a = random_image({64, 45}, format, 9);
    const Image b = disturbed(a, format.max_sample() / 3);
    write_file(folder / "a", raw_samples(a));
    write_file(folder / "b", raw_samples(b));
    const ProcessResult result = run_process({python, "-c", by_skimage, folder / "a", folder / "b",
                                              format.depth == 8 ? "uint8" : "uint16", "45",
                                              std::to_string(format.channels)});
    ASSERT_EQ(result.exit_code, 0) << result.err;
    EXPECT_NEAR(ssim_of(a, b).value(), std::stod(result.out), 1e-6);
  }
}

}  // namespace
}  // namespace gpufilter::test
