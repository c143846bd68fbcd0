// Statistics of pictures gathered on every device, by every path, equal those computed one sample
// at a time.

#include <cctype>

#include "compute/picture_reduction.hpp"
#include "support/instruction_sets.hpp"
#include "support/picture_counting.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

using Case = std::tuple<ReductionPath, Quantity>;

constexpr std::array sizes{ImageSize{1, 1},    ImageSize{1, 40},   ImageSize{40, 1},
                           ImageSize{31, 33},  ImageSize{33, 31},  ImageSize{257, 29},
                           ImageSize{1919, 7}, ImageSize{4097, 3}, ImageSize{9001, 2}};

// Leaves data in memory that the next allocations may get.
void poison_memory(Session& session) {
  const std::vector<std::uint8_t> pattern(std::size_t{4} << 20U, 0xA5);
  Queue queue = session.make_queue();
  std::vector<Buffer> buffers;
  for (std::size_t bytes = 64; bytes <= pattern.size(); bytes *= 2) {
    buffers.push_back(session.allocate(bytes));
    queue.upload(buffers.back(), pattern.data(), bytes);
  }
  queue.finish();
}

// The rows of a band in a buffer that ends with them.
PictureStatistics gathered(Session& session, PictureReducer& reducer, const Image& image,
                           int band_rows) {
  Queue queue = session.make_queue();
  for (int y = 0; y < image.size().height; y += band_rows) {
    const ConstRows band = image.rows().part({y, std::min(y + band_rows, image.size().height)});
    const std::size_t bytes = band.pitch * static_cast<std::size_t>(band.rows.count());
    const Buffer buffer = session.allocate(bytes);
    queue.upload(buffer, band.data, bytes);
    EXPECT_FALSE(reducer.add(queue, {&buffer, band.rows}).empty());
    queue.finish();
  }
  return reducer.result(queue);
}

class OnDevice : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    std::tie(path_, quantity_) = GetParam();
    for (const auto& session : all_sessions()) {
      if (objection(session->device(), path_).empty()) sessions_.push_back(session.get());
    }
    if (sessions_.empty()) {
      GTEST_SKIP() << "skipped: no OpenCL device here reduces by " << to_string(path_);
    }
  }

  void expect_counted(const Image& image, int band_rows) {
    const PictureStatistics expected = counted(image, quantity_);
    for (Session* session : sessions_) {
      PictureReducer reducer(*session, image.width(), image.format(), quantity_, path_);
      EXPECT_TRUE(gathered(*session, reducer, image, band_rows) == expected)
          << session->device().name << ", " << reducer.description().variant << ", "
          << to_string(image.format()) << ", " << image.width() << "x" << image.size().height
          << ", bands of " << band_rows;
    }
  }

  ReductionPath path_ = ReductionPath::automatic;
  Quantity quantity_ = Quantity::totals;
  std::vector<Session*> sessions_;
};

std::string path_and_quantity(const ::testing::TestParamInfo<Case>& info) {
  static constexpr std::array names{"totals", "histograms", "luma"};
  std::string name = std::string(to_string(std::get<0>(info.param))) + "_" +
                     names.at(static_cast<std::size_t>(std::get<1>(info.param)));
  for (char& letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(
    Totals, OnDevice,
    ::testing::Combine(::testing::Values(ReductionPath::automatic, ReductionPath::serial,
                                         ReductionPath::nvidia, ReductionPath::sub_groups,
                                         ReductionPath::local_memory),
                       ::testing::Values(Quantity::totals)),
    path_and_quantity);
// Histograms use work-groups of one and of many work-items.
INSTANTIATE_TEST_SUITE_P(
    Histograms, OnDevice,
    ::testing::Combine(::testing::Values(ReductionPath::serial, ReductionPath::local_memory),
                       ::testing::Values(Quantity::channel_histograms, Quantity::luma_histogram)),
    path_and_quantity);

TEST_P(OnDevice, EqualsTheDefinitionForAnyBands) {
  for (const PixelFormat& format : all_formats()) {
    for (Session* session : sessions_)
      poison_memory(*session);
    for (const ImageSize& size : sizes) {
      const Image random = random_image(size, format, 1);
      for (const int rows : {1, 7, 1000}) {
        if (rows == 1 && size.height > 7 && size.width > 1) continue;
        expect_counted(random, rows);
        if (rows >= size.height) break;
      }
      expect_counted(extreme_image(size, format, 2), 5);
    }
  }
}

// Only odd samples: their product shows whether each was counted once.
TEST_P(OnDevice, TakesEachSampleOnce) {
  for (const PixelFormat& format : all_formats()) {
    Image image = random_image({523, 11}, format, 3);
    for (const auto [x, y, c] : each_sample({523, 11}, format.channels))
      set_sample(image, x, y, c, sample_at(image, x, y, c) | 1U);
    expect_counted(image, 4);
  }
}

TEST_P(OnDevice, GoesOnAfterAResult) {
  const Image first = random_image({31, 33}, {3, 8}, 4);
  const Image second = random_image({31, 9}, {3, 8}, 5);
  PictureStatistics expected = counted(first, quantity_);
  add_statistics(expected, counted(second, quantity_));
  for (Session* session : sessions_) {
    PictureReducer reducer(*session, 31, {3, 8}, quantity_, path_);
    Queue queue = session->make_queue();
    EXPECT_TRUE(reducer.result(queue) == no_statistics({3, 8}, quantity_));
    EXPECT_TRUE(gathered(*session, reducer, first, 10) == counted(first, quantity_));
    EXPECT_TRUE(reducer.result(queue) == counted(first, quantity_)) << "asked twice";
    EXPECT_TRUE(gathered(*session, reducer, second, 10) == expected);
  }
}

TEST_P(OnDevice, NoRowsAddNothing) {
  for (Session* session : sessions_) {
    PictureReducer reducer(*session, 31, {3, 8}, quantity_, path_);
    Queue queue = session->make_queue();
    const Buffer buffer = session->allocate(1);
    EXPECT_TRUE(reducer.add(queue, {&buffer, {5, 5}}).empty());
    EXPECT_TRUE(reducer.result(queue) == no_statistics({3, 8}, quantity_));
  }
}

// Seven bands of 155 pixels where the device's counters hold 500: three bands at a time.
TEST(CounterRange, NoCountIsLostWhereCountersStartAgain) {
  const Image image = random_image({31, 35}, {3, 8}, 6);
  for (const auto& [session, quantity] :
       each_of(all_sessions(), std::vector<Quantity>{Quantity::totals, Quantity::channel_histograms,
                                                     Quantity::luma_histogram})) {
    PictureReducer reducer(*session, 31, {3, 8}, quantity, ReductionPath::automatic, 500);
    EXPECT_TRUE(gathered(*session, reducer, image, 5) == counted(image, quantity));
    Queue queue = session->make_queue();
    const Buffer buffer = session->allocate(image.bytes());
    queue.upload(buffer, image.rows().data, image.bytes());
    EXPECT_THROW(static_cast<void>(reducer.add(queue, {&buffer, {0, 35}})), std::overflow_error);
    std::size_t commands = 0;
    for (int y = 0; y < 35; y += 5)
      commands += reducer.add(queue, {&buffer, {y, y + 5}}).size();
    // Counters are cleared by a separate command, three times here.
    EXPECT_EQ(commands, quantity == Quantity::totals ? 7U : 10U);
  }
}

// A white picture of more pixels than 32 bits can count, from one band added again and again.
class ManyPixels : public ::testing::Test {
 protected:
  static constexpr ImageSize band{16384, 2048};
  static constexpr int times = 129;  // 2^32 pixels are 128 of these bands

  void SetUp() override {
    for (const auto& session : all_sessions()) {
      if (session->device().kind != DeviceKind::cpu) sessions_.push_back(session.get());
    }
    if (sessions_.empty()) GTEST_SKIP() << "skipped: no GPU here, and CPUs take half a minute";
  }

  static PictureStatistics gathered(Session& session, const PixelFormat& format,
                                    Quantity quantity) {
    const Image white = poisoned_image(band, format, 0xFF);
    const Buffer buffer = session.allocate(white.bytes());
    Queue queue = session.make_queue();
    queue.upload(buffer, white.rows().data, white.bytes());
    PictureReducer reducer(session, band.width, format, quantity);
    for (int i = 0; i < times; ++i)
      static_cast<void>(reducer.add(queue, {&buffer, {0, band.height}}));
    return reducer.result(queue);
  }

  std::vector<Session*> sessions_;
};

TEST_F(ManyPixels, AreCountedExactly) {
  const std::uint64_t pixels = band.pixels() * times;
  ASSERT_EQ(pixels, (UINT64_C(1) << 32U) + (UINT64_C(1) << 25U));
  // 255 to the power of 2^32 + 2^25 pixels.
  std::uint64_t product = 255;
  std::uint64_t at_25 = 0;
  for (int i = 1; i <= 32; ++i) {
    product *= product;
    if (i == 25) at_25 = product;
  }
  product *= at_25;
  const PictureTotals expected{
      pixels, {{pixels * 255, pixels * 255 * 255, 255, 255, product, 255, 255, 0}}};
  Histogram counts(256, 0);
  counts[255] = pixels;
  for (Session* session : sessions_) {
    EXPECT_TRUE(gathered(*session, {1, 8}, Quantity::totals) == PictureStatistics(expected));
    EXPECT_TRUE(gathered(*session, {1, 8}, Quantity::luma_histogram) == PictureStatistics(counts));
  }
}

// Statistics of pictures: the processor with each instruction set against one sample at a time, for
// any split into bands.

PictureStatistics by_bands(const Image& image, Quantity quantity, int band_rows) {
  PictureStatistics statistics = no_statistics(image.format(), quantity);
  for (int y = 0; y < image.size().height; y += band_rows)
    add_pixels(statistics, image.rows().part({y, std::min(y + band_rows, image.size().height)}));
  return statistics;
}

TEST(PictureStatistics, EqualTheDefinitionForAnyBands) {
  for (const auto& [format, size] : each_of(
           all_formats(),
           Sizes{{1, 1}, {1, 40}, {40, 1}, {15, 17}, {257, 29}, {1023, 2}, {1024, 1}, {2051, 3}})) {
    for (const Image& image : {random_image(size, format, 1), extreme_image(size, format, 2)}) {
      for (const Quantity quantity : quantities) {
        const PictureStatistics expected = counted(image, quantity);
        with_each_instruction_set([&] {
          for (const int rows : {1, 7, 1000}) {
            EXPECT_TRUE(by_bands(image, quantity, rows) == expected)
                << to_string(format) << ", " << size.width << "x" << size.height << ", bands of "
                << rows << ", quantity " << static_cast<int>(quantity);
          }
        });
      }
    }
  }
}

TEST(PictureStatistics, OfPartsAddUpToTheWhole) {
  const Image image = random_image({31, 33}, {4, 16}, 3);
  for (const Quantity quantity : quantities) {
    PictureStatistics sum = no_statistics(image.format(), quantity);
    for (const RowRange part : {RowRange{20, 33}, RowRange{0, 20}}) {
      PictureStatistics statistics = no_statistics(image.format(), quantity);
      add_pixels(statistics, image.rows().part(part));
      add_statistics(sum, statistics);
    }
    EXPECT_TRUE(sum == counted(image, quantity));
    add_statistics(sum, no_statistics(image.format(), quantity));
    EXPECT_TRUE(sum == counted(image, quantity)) << "no pixel changes nothing";
  }
}

// Products that never become 0: of odd samples, and of a single value.
TEST(PictureStatistics, ProductsAreModulo64Bits) {
  for (const PixelFormat& format : all_formats()) {
    Image odd = random_image({1100, 3}, format, 5);
    Image constant({1100, 3}, format);
    for (const auto [x, y, c] : each_sample({1100, 3}, format.channels)) {
      set_sample(odd, x, y, c, sample_at(odd, x, y, c) | 1U);
      set_sample(constant, x, y, c, format.max_sample() - 2 * static_cast<unsigned>(c));
    }
    for (const Image* image : {&odd, &constant}) {
      EXPECT_TRUE(by_bands(*image, Quantity::totals, 2) == counted(*image, Quantity::totals))
          << to_string(format);
    }
  }
}

TEST(PictureStatistics, LumaRoundsToTheNearest) {
  for (const int depth : {8, 16}) {
    Image image({1, 1}, {3, depth});
    const std::uint32_t max = image.format().max_sample();
    const auto luma_of = [&](std::uint32_t red, std::uint32_t green, std::uint32_t blue) {
      set_sample(image, 0, 0, 0, red);
      set_sample(image, 0, 0, 1, green);
      set_sample(image, 0, 0, 2, blue);
      PictureStatistics statistics = no_statistics(image.format(), Quantity::luma_histogram);
      add_pixels(statistics, image.rows());
      const auto& histogram = std::get<Histogram>(statistics);
      return std::find(histogram.begin(), histogram.end(), 1U) - histogram.begin();
    };
    EXPECT_EQ(luma_of(max, max, max), max);
    EXPECT_EQ(luma_of(0, 0, 0), 0);
    EXPECT_EQ(luma_of(0, 0, 6), 0);   // 4332
    EXPECT_EQ(luma_of(0, 0, 7), 1);   // 5054
    EXPECT_EQ(luma_of(1, 0, 0), 0);   // 2126
    EXPECT_EQ(luma_of(0, 1, 0), 1);   // 7152
    EXPECT_EQ(luma_of(10, 0, 5), 2);  // 24870
    EXPECT_EQ(luma_of(7, 0, 14), 2);  // 24990
    EXPECT_EQ(luma_of(5, 2, 1), 3);   // 25656
  }
}

TEST(PictureStatistics, FollowFromTheHistogram) {
  for (const PixelFormat& format : all_formats()) {
    const Image image = random_image({61, 37}, format, 4);
    const auto totals = std::get<PictureTotals>(counted(image, Quantity::totals));
    const auto histograms = std::get<Histograms>(counted(image, Quantity::channel_histograms));
    for (std::size_t c = 0; c < totals.channels.size(); ++c)
      EXPECT_TRUE(totals_of(histograms.channels[c]) == totals.channels[c]) << to_string(format);
  }
  EXPECT_TRUE(totals_of(Histogram(256, 0)) == ChannelTotals{});
}

TEST(PictureStatistics, SumsBeyond64BitsAreAnError) {
  PictureTotals most{1, {ChannelTotals{}}};
  most.channels[0].sum_of_squares = UINT64_MAX - 65535;
  PictureStatistics totals = most;
  Image image({1, 1}, {1, 16});
  set_sample(image, 0, 0, 0, 255);
  add_pixels(totals, image.rows());  // 65025
  set_sample(image, 0, 0, 0, 23);
  EXPECT_THROW(add_pixels(totals, image.rows()), std::overflow_error);

  PictureStatistics counts = Histogram(256, UINT64_MAX);
  EXPECT_THROW(add_statistics(counts, Histogram(256, 1)), std::overflow_error);
}

}  // namespace
}  // namespace gpufilter::test
