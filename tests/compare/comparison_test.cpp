#include "compare/comparison.hpp"
#include "compare/difference_picture.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {
namespace {

Comparison compare(const Image& a, const Image& b, std::uint32_t steps = 0, double percent = 0) {
  Comparer comparer(a.size(), a.format(), {steps, percent});
  comparer.add(a.rows(), b.rows());
  return comparer.result();
}

// Yields an image's rows, and fails at its end on request.
class ImageReader : public RowReader {
 public:
  explicit ImageReader(const Image& image, bool damaged_end = false)
      : image_(image), damaged_end_(damaged_end) {
    header_.size = image.size();
    header_.format = image.format();
  }
  void read(const MutableRows& rows) override {
    ++reads;
    for (int y = rows.rows.begin; y < rows.rows.end; ++y, ++next_row_)
      std::memcpy(rows.row(y), image_.rows().row(next_row_), image_.pitch());
  }
  Metadata finish() override {
    EXPECT_EQ(next_row_, image_.size().height);
    if (damaged_end_) throw PictureError("picture", "a damaged end");
    return {};
  }
  int reads = 0;

 private:
  const Image& image_;
  bool damaged_end_;
  int next_row_ = 0;
};

// Collects rows in an image.
class ImageWriter : public RowWriter {
 public:
  explicit ImageWriter(ImageSize size) : image(poisoned_image(size, difference_format)) {}
  void write(const ConstRows& rows) override {
    for (int y = rows.rows.begin; y < rows.rows.end; ++y, ++next_row_)
      std::memcpy(image.rows().row(next_row_), rows.row(y), image.pitch());
  }
  void finish(const Metadata& /*trailing*/) override { finished = true; }
  Image image;
  bool finished = false;

 private:
  int next_row_ = 0;
};

// All values of Comparison, computed from a table of all differences, independently of the code
// under test.
struct Expectation {
  Expectation(const Image& a, const Image& b, std::int64_t tolerance) {
    std::map<std::tuple<int, int>, std::int64_t> largest_by_row_and_column;
    for (int c = 0; c < a.format().channels; ++c) {
      std::vector<std::int64_t> differences;
      for (int x = a.width() - 1; x >= 0; --x) {
        for (int y = a.size().height - 1; y >= 0; --y) {
          const auto difference =
              std::abs(std::int64_t{sample_at(a, x, y, c)} - sample_at(b, x, y, c));
          if (difference == 0) continue;
          differences.push_back(difference);
          auto& largest = largest_by_row_and_column[{y, x}];
          largest = std::max(largest, difference);
        }
      }
      std::sort(differences.begin(), differences.end());
      ChannelComparison channel;
      channel.differing = differences.size();
      channel.maximum = differences.empty() ? 0 : static_cast<std::uint32_t>(differences.back());
      channel.beyond_tolerance = static_cast<std::uint64_t>(
          differences.end() - std::upper_bound(differences.begin(), differences.end(), tolerance));
      for (const std::int64_t difference : differences) {
        channel.sum += static_cast<std::uint64_t>(difference);
        channel.sum_of_squares += static_cast<std::uint64_t>(difference * difference);
      }
      channels.push_back(channel);
    }
    differing_pixels = largest_by_row_and_column.size();
    std::int64_t worst_difference = 0;
    for (const auto& [place, largest] : largest_by_row_and_column) {
      if (largest > tolerance && pixels_beyond++ == 0) first_beyond = place;
      if (largest <= worst_difference) continue;
      worst_difference = largest;
      worst = place;
    }
    if (differing_pixels > 0) first = largest_by_row_and_column.begin()->first;
  }
  std::vector<ChannelComparison> channels;
  std::uint64_t differing_pixels = 0;
  std::uint64_t pixels_beyond = 0;
  // Row and column.
  using Place = std::optional<std::tuple<int, int>>;
  Place first;
  Place first_beyond;
  Place worst;
};

// Expects that `pixel` is the one at `place`, with the samples of both pictures there.
void expect_pixel(const std::optional<DifferingPixel>& pixel, const Expectation::Place& place,
                  const Image& a, const Image& b) {
  ASSERT_EQ(pixel.has_value(), place.has_value());
  if (!place) return;
  const auto [y, x] = *place;
  EXPECT_EQ(pixel->x, x);
  EXPECT_EQ(pixel->y, y);
  for (int c = 0; c < a.format().channels; ++c) {
    EXPECT_EQ(pixel->a.at(static_cast<std::size_t>(c)), sample_at(a, x, y, c));
    EXPECT_EQ(pixel->b.at(static_cast<std::size_t>(c)), sample_at(b, x, y, c));
  }
}

void expect_as_computed_naively(const Image& a, const Image& b, std::uint32_t tolerance) {
  const Comparison found = compare(a, b, tolerance);
  const Expectation expected(a, b, tolerance);
  ASSERT_EQ(found.channels.size(), expected.channels.size());
  std::uint64_t differing = 0;
  std::uint64_t beyond = 0;
  std::uint32_t maximum = 0;
  double sum = 0;
  double squares = 0;
  const auto pixels = static_cast<double>(a.width()) * a.size().height;
  for (std::size_t c = 0; c < found.channels.size(); ++c) {
    const ChannelComparison& channel = expected.channels[c];
    EXPECT_EQ(found.channels[c].differing, channel.differing);
    EXPECT_EQ(found.channels[c].beyond_tolerance, channel.beyond_tolerance);
    EXPECT_EQ(found.channels[c].maximum, channel.maximum);
    EXPECT_EQ(found.channels[c].sum, channel.sum);
    EXPECT_EQ(found.channels[c].sum_of_squares, channel.sum_of_squares);
    EXPECT_DOUBLE_EQ(found.mean(c), static_cast<double>(channel.sum) / pixels);
    differing += channel.differing;
    beyond += channel.beyond_tolerance;
    maximum = std::max(maximum, channel.maximum);
    sum += static_cast<double>(channel.sum);
    squares += static_cast<double>(channel.sum_of_squares);
  }
  const double samples = pixels * a.format().channels;
  EXPECT_EQ(static_cast<double>(found.samples()), samples);
  EXPECT_EQ(found.differing_samples(), differing);
  EXPECT_EQ(found.samples_beyond_tolerance(), beyond);
  EXPECT_EQ(found.maximum(), maximum);
  EXPECT_DOUBLE_EQ(found.mean(), sum / samples);
  EXPECT_EQ(found.differing_pixels, expected.differing_pixels);
  EXPECT_EQ(found.pixels_beyond_tolerance, expected.pixels_beyond);
  EXPECT_DOUBLE_EQ(found.percent_beyond_tolerance(),
                   static_cast<double>(expected.pixels_beyond) / pixels * 100);
  expect_pixel(found.first, expected.first, a, b);
  expect_pixel(found.first_beyond_tolerance, expected.first_beyond, a, b);
  expect_pixel(found.worst, expected.worst, a, b);
  ASSERT_EQ(found.psnr().has_value(), expected.differing_pixels > 0);
  if (!found.psnr()) return;
  const double peak = a.format().depth == 8 ? 255 : 65535;
  EXPECT_NEAR(*found.psnr(), 20 * std::log10(peak) - 10 * std::log10(squares / samples), 1e-9);
}

// A copy in which about one sample in `every` is replaced by that of `other`.
Image sprinkled(const Image& image, const Image& other, std::uint32_t every) {
  Image copy = copy_of(image);
  const Image lots = random_image(image.size(), {image.format().channels, 16}, 99);
  for (const auto [x, y, c] : each_sample(image)) {
    if (sample_at(lots, x, y, c) % every != 0) continue;
    set_sample(copy, x, y, c, sample_at(other, x, y, c));
  }
  return copy;
}

struct ComparisonOfFormat : ::testing::TestWithParam<std::tuple<int, int>> {
  [[nodiscard]] static PixelFormat format() {
    return {std::get<0>(GetParam()), std::get<1>(GetParam())};
  }
};

TEST_P(ComparisonOfFormat, AgreesWithNaiveStatisticsToTheVeryLastSample) {
  std::uint64_t seed = 1;
  for (const ImageSize size : {ImageSize{1, 1}, {1, 37}, {41, 1}, {65, 33}, {17, 63}}) {
    const Image a = random_image(size, format(), seed++);
    const Image b = random_image(size, format(), seed++);
    const Image extreme_a = extreme_image(size, format(), seed++);
    const Image extreme_b = extreme_image(size, format(), seed++);
    for (const std::uint32_t tolerance : {0U, 1U, 100U, format().max_sample()}) {
      SCOPED_TRACE(formatted("{}x{}, tolerance {}", size.width, size.height, tolerance));
      expect_as_computed_naively(a, b, tolerance);
      expect_as_computed_naively(extreme_a, extreme_b, tolerance);
      expect_as_computed_naively(a, sprinkled(a, b, 97), tolerance);
      expect_as_computed_naively(a, copy_of(a), tolerance);
    }
  }
  const Image a = random_image({67, 19}, format(), 7);
  Image b = copy_of(a);
  const int last = format().channels - 1;
  set_sample(b, 66, 18, last, sample_at(a, 66, 18, last) ^ 1U);
  const Comparison found = compare(a, b);
  EXPECT_EQ(found.verdict(), Verdict::different);
  EXPECT_EQ(found.differing_pixels, 1);
  EXPECT_EQ(found.differing_samples(), 1);
  EXPECT_EQ(found.maximum(), 1);
  ASSERT_TRUE(found.first);
  EXPECT_EQ(found.first->x, 66);
  EXPECT_EQ(found.first->y, 18);
}

TEST_P(ComparisonOfFormat, LetsPassExactlyWhatTheToleranceSays) {
  Image a = poisoned_image({5, 3}, format(), 0);
  Image b = copy_of(a);
  set_sample(b, 2, 1, 0, 9);
  set_sample(a, 4, 2, 0, 10);
  EXPECT_EQ(compare(a, b, 0).verdict(), Verdict::different);
  EXPECT_EQ(compare(a, b, 8).pixels_beyond_tolerance, 2);
  EXPECT_EQ(compare(a, b, 9).verdict(), Verdict::different);
  EXPECT_EQ(compare(a, b, 9).pixels_beyond_tolerance, 1);
  EXPECT_EQ(compare(a, b, 10).verdict(), Verdict::within_tolerance);
  EXPECT_EQ(compare(a, b, 11).verdict(), Verdict::within_tolerance);
  EXPECT_EQ(compare(a, a, 11).verdict(), Verdict::equal);
}

TEST_P(ComparisonOfFormat, NamesTheFirstOfTheWorstPixels) {
  Image a = poisoned_image({9, 7}, format(), 0);
  Image b = copy_of(a);
  const int last = format().channels - 1;
  set_sample(b, 8, 0, 0, 3);
  set_sample(b, 1, 3, last, 6);
  set_sample(a, 2, 3, 0, 7);
  set_sample(b, 7, 5, 0, 7);
  const Comparison found = compare(a, b, 3);
  ASSERT_TRUE(found.first && found.first_beyond_tolerance && found.worst);
  EXPECT_EQ(std::tie(found.first->x, found.first->y), std::tuple(8, 0));
  EXPECT_EQ(std::tie(found.first_beyond_tolerance->x, found.first_beyond_tolerance->y),
            std::tuple(1, 3));
  EXPECT_EQ(std::tie(found.worst->x, found.worst->y), std::tuple(2, 3));
  EXPECT_EQ(found.worst->a[0], 7);
  EXPECT_EQ(found.worst->b[0], 0);
  EXPECT_FALSE(compare(a, b, 7).first_beyond_tolerance);
  EXPECT_FALSE(compare(a, a).worst);
}

INSTANTIATE_TEST_SUITE_P(All, ComparisonOfFormat,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4),
                                            ::testing::Values(8, 16)),
                         [](const auto& parameter) {
                           return formatted("{}Channels{}Bit", std::get<0>(parameter.param),
                                            std::get<1>(parameter.param));
                         });

TEST(Comparison, IgnoresWhatPadsTheRowsAndFailsAtADamagedEnd) {
  const Image a = random_image({3, 5}, {3, 8}, 1);
  Image b = random_image({3, 5}, {3, 8}, 2);
  for (int y = 0; y < 5; ++y)
    std::memcpy(b.rows().row(y), a.rows().row(y), 9);
  ASSERT_NE(std::memcmp(a.rows().row(0), b.rows().row(0), a.pitch()), 0);
  EXPECT_EQ(compare(a, b).verdict(), Verdict::equal);
  const Image image = random_image({4, 4}, {3, 8}, 1);
  for (const bool first : {true, false}) {
    ImageReader a(image, first);
    ImageReader b(image, !first);
    ImageWriter writer(image.size());
    EXPECT_THROW((void)compare_pictures(a, b, {}, &writer), PictureError);
    EXPECT_FALSE(writer.finished);
  }
}

TEST(Comparison, CountsAlphaOnItsOwn) {
  for (const int channels : {2, 4}) {
    const Image a = mixed_alpha_image({9, 4}, {channels, 8}, 5);
    Image b = copy_of(a);
    const std::uint32_t alpha = sample_at(a, 3, 2, channels - 1);
    set_sample(b, 3, 2, channels - 1, alpha ^ 1U);
    set_sample(b, 4, 2, channels - 1, sample_at(a, 4, 2, channels - 1) ^ 128U);
    set_sample(b, 5, 2, channels - 1, sample_at(a, 5, 2, channels - 1) ^ 128U);
    set_sample(b, 5, 2, 0, sample_at(a, 5, 2, 0) ^ 1U);
    const Comparison found = compare(a, b);
    EXPECT_EQ(found.differing_pixels, 3);
    EXPECT_EQ(found.channels.back().differing, 3);
    EXPECT_EQ(found.channels.front().differing, 1);
  }
}

// Every share of 10,000 pixels with two decimals, exactly at the limit and one pixel beyond.
TEST(Comparison, LetsPassExactlyTheShareOfPixelsThatIsAllowed) {
  const Image a = poisoned_image({100, 100}, {1, 8}, 0);
  Image b = copy_of(a);
  for (int count = 0; count < 10'000; ++count) {
    const double percent = std::stod(formatted("{}.{:02}", count / 100, count % 100));
    if (count % 37 == 0) {
      const Verdict verdict = compare(a, b, 0, percent).verdict();
      ASSERT_EQ(verdict, count == 0 ? Verdict::equal : Verdict::within_tolerance) << percent;
    }
    set_sample(b, count % 100, count / 100, 0, 1);
    if (count % 37 == 0) {
      ASSERT_EQ(compare(a, b, 0, percent).verdict(), Verdict::different) << percent;
      ASSERT_EQ(compare(a, b, 1, percent).verdict(), Verdict::within_tolerance) << percent;
    }
  }
  EXPECT_EQ(compare(a, b, 0, 100).verdict(), Verdict::within_tolerance);
}

TEST(Comparison, OfPicturesInManyBandsIsThatOfTheWhole) {
  const ImageSize size{1, 150'001};
  const Image a = random_image(size, {4, 16}, 1);
  Image b = copy_of(a);
  for (const int y : {149'999, 150'000})
    set_sample(b, 0, y, 2, sample_at(a, 0, y, 2) ^ 0x4000U);
  ImageReader reader_a(a);
  ImageReader reader_b(b);
  ImageWriter writer(size);
  const Comparison found = compare_pictures(reader_a, reader_b, {0x3FFF, 0}, &writer);
  EXPECT_GE(reader_a.reads, 2) << "the picture is too small for this test";
  EXPECT_EQ(found.verdict(), Verdict::different);
  EXPECT_EQ(found.pixels_beyond_tolerance, 2);
  EXPECT_EQ(found.channels[2].sum, 2 * 0x4000);
  ASSERT_TRUE(found.first);
  EXPECT_EQ(found.first->y, 149'999);
  EXPECT_TRUE(writer.finished);
  Image drawing = poisoned_image(size, difference_format);
  draw_difference(a.rows(), b.rows(), 0x3FFF, drawing.rows());
  EXPECT_TRUE(same_pixels(writer.image, drawing));

  ImageReader again_a(a);
  ImageReader again_b(b);
  EXPECT_EQ(compare_pictures(again_a, again_b, {0x4000, 0}).verdict(), Verdict::within_tolerance);
}

Image drawn(const Image& a, const Image& b, std::uint32_t tolerance = 0) {
  Image drawing = poisoned_image(a.size(), difference_format);
  draw_difference(a.rows(), b.rows(), tolerance, drawing.rows());
  return drawing;
}

using Drawn = std::array<std::uint32_t, 3>;
constexpr Drawn within{0, 79, 58};

Drawn color_at(const Image& drawing, int x, int y) {
  return {sample_at(drawing, x, y, 0), sample_at(drawing, x, y, 1), sample_at(drawing, x, y, 2)};
}

struct DifferencePictureOfFormat : ::testing::TestWithParam<std::tuple<int, int>> {
  [[nodiscard]] static PixelFormat format() {
    return {std::get<0>(GetParam()), std::get<1>(GetParam())};
  }
};

TEST_P(DifferencePictureOfFormat, ShowsEqualPixelsDimmedAndGrey) {
  const Image a = random_image({21, 13}, format(), 11);
  for (const std::uint32_t tolerance : {0U, 9U}) {
    const Image drawing = drawn(a, a, tolerance);
    for (const auto [x, y] : each_pixel({21, 13})) {
      const Drawn color = color_at(drawing, x, y);
      EXPECT_EQ(color[0], color[1]);
      EXPECT_EQ(color[0], color[2]);
      // BT.601's luma, rounded, then a third of its upper 8 bits.
      std::uint32_t luma = sample_at(a, x, y, 0);
      if (format().color_channels() == 3) {
        const double exact =
            0.299 * luma + 0.587 * sample_at(a, x, y, 1) + 0.114 * sample_at(a, x, y, 2);
        luma = static_cast<std::uint32_t>(exact + 0.5 + 1e-9);
      }
      EXPECT_EQ(color[0], (format().depth == 16 ? luma / 256 : luma) / 3);
    }
  }
}

TEST_P(DifferencePictureOfFormat, ShowsDifferencesRedderWithEachDoubling) {
  const int depth = format().depth;
  Image a = poisoned_image({depth, 1}, format(), 0);
  Image b = copy_of(a);
  const int channel = format().color_channels() - 1;
  for (int x = 0; x < depth; ++x)
    set_sample(b, x, 0, channel, (2U << x) - 1U);
  const Image drawing = drawn(a, b);
  EXPECT_EQ(color_at(drawing, 0, 0), (Drawn{255, 255, 0}));
  EXPECT_EQ(color_at(drawing, depth - 1, 0), (Drawn{255, 0, 0}));
  for (int x = 1; x < depth; ++x) {
    EXPECT_LT(color_at(drawing, x, 0)[1], color_at(drawing, x - 1, 0)[1]);
    EXPECT_EQ(color_at(drawing, x, 0)[0], 255);
    EXPECT_EQ(color_at(drawing, x, 0)[2], 0);
  }
  EXPECT_TRUE(same_pixels(drawn(b, a), drawing)) << "either may be the larger one";
}

// Every step of the range: differences within the tolerance have one colour, which no larger
// difference has, and colours beyond the tolerance do not depend on it.
TEST_P(DifferencePictureOfFormat, TellsWithinTheToleranceFromBeyond) {
  const int width = 256;
  Image a = poisoned_image({width, 1}, format(), 0);
  for (int channel = 0; channel < format().channels; ++channel) {
    Image b = copy_of(a);
    for (int x = 0; x < width; ++x)
      set_sample(b, x, 0, channel, static_cast<std::uint32_t>(x));
    const Image strict = drawn(a, b);
    for (const std::uint32_t tolerance : {1U, 7U, 8U, 254U}) {
      const Image drawing = drawn(a, b, tolerance);
      EXPECT_EQ(color_at(drawing, 0, 0), (Drawn{0, 0, 0}));
      for (int x = 1; x < width; ++x) {
        const bool is_within = static_cast<std::uint32_t>(x) <= tolerance;
        ASSERT_NE(color_at(strict, x, 0), within);
        const Drawn expected = is_within ? within : color_at(strict, x, 0);
        ASSERT_EQ(color_at(drawing, x, 0), expected) << x << ", " << tolerance;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, DifferencePictureOfFormat,
                         ::testing::Combine(::testing::Values(1, 2, 3, 4),
                                            ::testing::Values(8, 16)),
                         [](const auto& parameter) {
                           return formatted("{}Channels{}Bit", std::get<0>(parameter.param),
                                            std::get<1>(parameter.param));
                         });

TEST(DifferencePicture, ShowsAlphaThatDiffersAloneInBlue) {
  for (const int channels : {2, 4}) {
    const Image a = mixed_alpha_image({9, 4}, {channels, 8}, 5);
    const int alpha = channels - 1;
    Image b = copy_of(a);
    set_sample(b, 3, 2, alpha, sample_at(a, 3, 2, alpha) ^ 1U);
    set_sample(b, 4, 2, alpha, sample_at(a, 4, 2, alpha) ^ 128U);
    // If a colour differs too, it decides the hue.
    set_sample(b, 5, 2, alpha, sample_at(a, 5, 2, alpha) ^ 128U);
    set_sample(b, 5, 2, 0, sample_at(a, 5, 2, 0) ^ 1U);
    const Image strict = drawn(a, b);
    EXPECT_EQ(color_at(strict, 3, 2), (Drawn{0, 255, 255}));
    EXPECT_EQ(color_at(strict, 4, 2), (Drawn{0, 0, 255}));
    EXPECT_EQ(color_at(strict, 5, 2), (Drawn{255, 0, 0}));
    // A colour that differs within the tolerance does not.
    const Image tolerant = drawn(a, b, 1);
    EXPECT_EQ(color_at(tolerant, 3, 2), within);
    EXPECT_EQ(color_at(tolerant, 4, 2), (Drawn{0, 0, 255}));
    EXPECT_EQ(color_at(tolerant, 5, 2), (Drawn{0, 0, 255}));
  }
}

Image mapped(const Image& a, const Image& b, ImageSize size, std::uint32_t tolerance = 0) {
  DifferenceMap map({a.size(), a.format()}, size, tolerance);
  constexpr int band = 5;
  for (int y = 0; y < a.size().height; y += band) {
    const RowRange rows{y, std::min(y + band, a.size().height)};
    map.add(a.rows().part(rows), b.rows().part(rows));
  }
  return map.image();
}

TEST(DifferenceMap, OfFullSizeIsTheDrawing) {
  for (const PixelFormat format : {PixelFormat{1, 8}, {2, 16}, {3, 16}, {4, 8}}) {
    const Image a = random_image({37, 19}, format, 1);
    const Image b = random_image({37, 19}, format, 2);
    EXPECT_TRUE(same_pixels(mapped(a, b, a.size(), 9), drawn(a, b, 9)));
  }
}

TEST(DifferenceMap, KeepsASinglePixelVisible) {
  const Image a = random_image({101, 67}, {3, 8}, 1);
  for (const auto& [x, y] : {std::pair{0, 0}, {100, 66}, {50, 33}, {9, 66}}) {
    Image b = copy_of(a);
    set_sample(b, x, y, 1, sample_at(a, x, y, 1) ^ 128U);
    const Image map = mapped(a, b, {10, 7});
    int colored = 0;
    for (const auto [column, row] : each_pixel({10, 7})) {
      const Drawn color = color_at(map, column, row);
      if (color[0] == color[2]) continue;
      ++colored;
      EXPECT_EQ(color, (Drawn{255, 0, 0})) << "half of the range";
      EXPECT_EQ(column, x * 10 / 101);
      EXPECT_EQ(row, y * 7 / 67);
    }
    EXPECT_EQ(colored, 1) << x << ", " << y;
  }
}

TEST(DifferenceMap, EqualAreasShowTheirMeanBrightness) {
  Image a({4, 2}, {1, 8});
  for (int x = 0; x < 4; ++x) {
    for (int y = 0; y < 2; ++y)
      set_sample(a, x, y, 0, x < 2 ? static_cast<std::uint32_t>(60 * (x + y)) : 240U);
  }
  const Image map = mapped(a, a, {2, 1});
  EXPECT_EQ(color_at(map, 0, 0), (Drawn{20, 20, 20})) << "(0 + 60 + 60 + 120) / 4 / 3";
  EXPECT_EQ(color_at(map, 1, 0), (Drawn{80, 80, 80}));
}

}  // namespace
}  // namespace gpufilter::test
