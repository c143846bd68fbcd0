// --median gives the same bits everywhere: the processor with each instruction set against sorted
// windows, every device against the processor.
#include "stages/median/median.hpp"

#include "stages/median/median_networks.hpp"
#include "stages/median/median_plan.hpp"
#include "stages/median/median_steps.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

struct Weighted {
  std::uint32_t sample;
  std::uint64_t weight;
};

// The window of one channel around (x, y), each sample with its pixel's alpha.
std::vector<Weighted> window(const Image& image, const MedianParameters& parameters, int x, int y,
                             int channel) {
  const PixelFormat format = image.format();
  std::vector<Weighted> all;
  for (int row = y - parameters.radius; row <= y + parameters.radius; ++row) {
    for (int column = x - parameters.radius; column <= x + parameters.radius; ++column) {
      const auto sample = [&](int c) {
        return sample_beyond(image, column, row, c, parameters.border);
      };
      all.push_back({sample(channel),
                     format.has_alpha() ? sample(format.channels - 1) : format.max_sample()});
    }
  }
  return all;
}

std::uint32_t plain_median(std::vector<Weighted> all) {
  const auto middle = all.begin() + static_cast<std::ptrdiff_t>(all.size() / 2);
  std::nth_element(all.begin(), middle, all.end(),
                   [](const Weighted& a, const Weighted& b) { return a.sample < b.sample; });
  return middle->sample;
}

// The first sample, in their order, at which half of the weight is reached.
std::uint32_t weighted_median(std::vector<Weighted> all) {
  const std::uint64_t total =
      std::accumulate(all.begin(), all.end(), std::uint64_t{0},
                      [](std::uint64_t sum, const Weighted& each) { return sum + each.weight; });
  if (total == 0) return plain_median(std::move(all));
  std::sort(all.begin(), all.end(),
            [](const Weighted& a, const Weighted& b) { return a.sample < b.sample; });
  std::uint64_t sum = 0;
  for (const Weighted& each : all) {
    sum += each.weight;
    if (2 * sum >= total) return each.sample;
  }
  return 0;
}

Image naive_median(const Image& image, const MedianParameters& parameters) {
  const PixelFormat format = image.format();
  Image result(image.size(), format);
  const bool weighs = parameters.alpha == AlphaMode::weighted && format.has_alpha();
  for (const auto [x, y, c] : each_sample(image.size(), format.channels)) {
    const bool is_alpha = format.has_alpha() && c + 1 == format.channels;
    std::vector<Weighted> all = window(image, parameters, x, y, c);
    set_sample(
        result, x, y, c,
        weighs && !is_alpha ? weighted_median(std::move(all)) : plain_median(std::move(all)));
  }
  return result;
}

// Neighbours differ little, as in photographs: histograms are then mostly moved, not made anew.
Image smooth_image(ImageSize size, PixelFormat format) {
  Image image = random_image(size, format, 5);
  const int max = format.max_sample();
  for (const auto [x, y, c] : each_sample(size, format.channels)) {
    const int noise = static_cast<int>(sample_at(image, x, y, c)) / 64;
    const int base = max / 2 + max / 3 * ((x + 2 * y + 7 * c) % 60 - 30) / 30;
    set_sample(image, x, y, c, static_cast<std::uint32_t>(std::clamp(base + noise, 0, max)));
  }
  return image;
}

void check_median(const Image& image, const MedianParameters& parameters) {
  const Image expected = naive_median(image, parameters);
  check_on_host(image, {make_median(parameters)}, expected, {3, 1000});
}

TEST(MedianOnProcessor, EqualsTheMiddleOfSortedWindowsAndHasNoSeamsInWidePictures) {
  std::size_t turn = 0;
  for (const auto& [radius, format, size] :
       each_of(std::array{1, 2, 3, 4, 7, 10, 12}, all_formats(),
               Sizes{{1, 1}, {2, 9}, {33, 7}, {351, 3}, {67, 19}})) {
    for (const Image& image : window_pictures(size, format)) {
      ASSERT_NO_FATAL_FAILURE(
          check_median(image, {radius, all_borders.at(turn++ % 4),
                               turn % 5 == 0 ? AlphaMode::independent : AlphaMode::weighted}));
    }
  }
  for (const int radius : {1, 3, 4, 8, 10}) {
    check_median(random_image({4133, 2}, {1, 8}, 7), {.radius = radius});
    check_median(random_image({1371, 2}, {3, 8}, 7), {.radius = radius});
    ASSERT_NO_FATAL_FAILURE(
        check_median(mixed_alpha_image({1041, 2}, {4, 16}, 8), {.radius = radius}));
  }
}

// Medians are found in tiles of up to 16x16 pixels, of which a vector has up to 64.
TEST(MedianOnProcessor, TakesPicturesThatNoTilesFill) {
  std::size_t turn = 0;
  for (const int radius : {2, 4, 7, 9}) {
    for (int size = 1; size <= 34; size += 3) {
      const int channels = 1 + static_cast<int>(turn % 4);
      ASSERT_NO_FATAL_FAILURE(
          check_median(random_image({size, 35 - size}, {channels, size % 2 == 0 ? 8 : 16}, 9),
                       {radius, all_borders.at(turn++ / 4 % 4), AlphaMode::independent}));
    }
    for (const int width : {127, 128, 129, 257, 511, 512, 513}) {
      ASSERT_NO_FATAL_FAILURE(
          check_median(random_image({width, 3}, {1, 8}, 10), {.radius = radius}));
    }
  }
}

// Rows whose pitch is a multiple of 2 or 4 KiB are computed in smaller groups.
TEST(MedianOnProcessor, TakesRowsOfAnyPitchAndTakesWindowsLargerThanThePicture) {
  for (const auto& [width, height] : each_of(std::array{2048, 4096}, std::array{1, 7})) {
    check_median(random_image({width, height}, {1, 8}, 9), {.radius = 1});
    ASSERT_NO_FATAL_FAILURE(
        check_median(opaque_image({width / 4, height}, {4, 8}, 10), {.radius = 1}));
  }
  std::size_t turn = 0;
  for (const auto& [radius, format] : each_of(std::array{15, 31}, all_formats())) {
    for (const Image& image : window_pictures({41, 5}, format)) {
      ASSERT_NO_FATAL_FAILURE(
          check_median(image, {radius, all_borders.at(turn++ % 4), AlphaMode::weighted}));
    }
  }
}

TEST(MedianOnProcessor, MovesItsHistogramsOverSmoothPictures) {
  for (const auto& [radius, format] : each_of(std::array{3, 5, 10, 20}, Formats{{3, 8}, {1, 16}}))
    ASSERT_NO_FATAL_FAILURE(check_median(smooth_image({150, 40}, format), {.radius = radius}));
}

// The medians of a plan's tile, of 16 pictures side by side that are (side + tile - 1) pixels wide
// and high.
std::vector<std::uint8_t> take_steps(const median::Plan& plan,
                                     const std::vector<std::uint8_t>& samples) {
  using Vector [[gnu::vector_size(16)]] = std::uint8_t;
  constexpr std::size_t pictures = sizeof(Vector);
  const auto tile = static_cast<std::size_t>(plan.width);
  const std::size_t width = static_cast<std::size_t>(plan.side) + tile - 1;
  struct alignas(16) Place {
    std::array<std::uint8_t, pictures> bytes;
  };
  std::vector<Place> places(plan.places);
  std::vector<std::uint8_t> medians(tile * static_cast<std::size_t>(plan.height) * pictures);
  median::Steps<Vector>(reinterpret_cast<Vector*>(places.data()))
      .take(
          plan,
          [&](std::size_t x, std::size_t y) { return &samples.at((y * width + x) * pictures); },
          [&](std::size_t x, std::size_t y) { return &medians.at((y * tile + x) * pictures); });
  return medians;
}

// What is right for zeros and ones is right for all numbers. Half of them, or nearly, are the
// hardest ones.
TEST(MedianPlans, AreRightForZerosAndOnes) {
  constexpr std::size_t pictures = 16;
  std::mt19937 random(11);
  for (int radius = 2; radius <= MedianParameters::max_radius; ++radius) {
    for (const ImageSize size : {ImageSize{4, 4}, {8, 4}, {8, 8}, {16, 8}, {16, 16}}) {
      if (size.width > 2 * radius || size.height > 2 * radius) continue;
      const median::Plan plan = median::make_plan(radius, size.width, size.height);
      const auto tile = static_cast<std::size_t>(size.width);
      const auto side = static_cast<std::size_t>(plan.side);
      const std::size_t width = side + tile - 1;
      const std::size_t height = side + static_cast<std::size_t>(size.height) - 1;
      std::vector<std::uint8_t> samples(width * height * pictures);
      for (std::size_t i = 0; i < samples.size(); ++i)
        samples[i] = random() % 32 < 15 + i % pictures / 5 ? 1 : 0;
      const std::vector<std::uint8_t> medians = take_steps(plan, samples);
      for (std::size_t i = 0; i < medians.size(); ++i) {
        const std::size_t pixel = i / pictures;
        std::size_t ones = 0;
        for (std::size_t k = 0; k < side * side; ++k) {
          const std::size_t at = (pixel / tile + k / side) * width + pixel % tile + k % side;
          ones += samples[at * pictures + i % pictures];
        }
        ASSERT_EQ(medians[i], ones > side * side / 2 ? 1 : 0)
            << "radius " << radius << ", tile " << size.width << "x" << size.height << ", pixel "
            << pixel;
      }
    }
  }
}

// A network that is right for all zeros and ones is right for all numbers (D. Knuth, The Art of
// Computer Programming 3, 5.3.4).
template <int radius>
void check_network() {
  using Network = median::Network<radius>;
  constexpr std::size_t side = 2 * radius + 1;
  for (unsigned bits = 0; bits < 1U << side; ++bits) {
    std::array<int, side> column{};
    for (std::size_t i = 0; i < side; ++i)
      column.at(i) = static_cast<int>(bits >> i & 1U);
    median::compare<Network::sorting>(column);
    ASSERT_TRUE(std::is_sorted(column.begin(), column.end())) << bits;
  }
  // Sorted columns differ in how many ones they end with.
  std::array<std::size_t, side> ones{};
  for (;;) {
    std::array<int, side * side> numbers{};
    for (std::size_t column = 0; column < side; ++column) {
      for (std::size_t i = side - ones.at(column); i < side; ++i)
        numbers.at(i * side + column) = 1;
    }
    const std::size_t sum = std::accumulate(ones.begin(), ones.end(), std::size_t{0});
    median::compare<Network::selecting>(numbers);
    ASSERT_EQ(numbers.at(Network::result), sum > side * side / 2 ? 1 : 0)
        << ::testing::PrintToString(ones);
    std::size_t i = 0;
    while (i < side && ones.at(i) == side)
      ones.at(i++) = 0;
    if (i == side) return;
    ++ones.at(i);
  }
}

TEST(MedianNetworks, AreRightForAllZerosAndOnes) {
  check_network<2>();
  check_network<3>();
}

TEST(MedianText, IsAWholeNumberUpTo31) {
  for (const std::string value : {"0", "32", "1.5", "small"})
    EXPECT_EQ(objection_to_value(median_stage_kind(), value),
              "--median " + value + ": a whole number from 1 to 31");
  EXPECT_EQ(objection_to_value(median_stage_kind(), "31"), "none");
}

}  // namespace
}  // namespace gpufilter::test
