// The blur gives the same bits everywhere: the processor with each instruction set against a second
// implementation, then every device, kernel, tile, border, format, size and band height against the
// processor.
#include "stages/window/blur.hpp"

#include "stages/window/blur_means.hpp"
#include "support/naive_stages.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter {
namespace {

using test::each_of;
using test::same_pixels;

constexpr std::array blur_sizes{ImageSize{1, 1},    ImageSize{1, 40},  ImageSize{40, 1},
                                ImageSize{15, 17},  ImageSize{16, 16}, ImageSize{31, 33},
                                ImageSize{257, 129}};
constexpr std::array blur_bands{1, 7, 16, 1000};
constexpr std::array alpha_modes{AlphaMode::weighted, AlphaMode::independent};

const char* name(Border border) {
  switch (border) {
    case Border::replicate:
      return "replicate";
    case Border::mirror:
      return "mirror";
    case Border::wrap:
      return "wrap";
    case Border::constant:
      return "constant";
  }
  return "?";
}

StageChain chain_of(const BlurParameters& parameters) {
  return {make_blur(parameters)};
}

void check_blur(const Image& image, const BlurParameters& parameters, const Image& expected) {
  test::check_on_host(image, chain_of(parameters), expected, {1, 7, 1000}, test::RowEnds::hold);
}

// Odd widths, and for each number of channels the width of a whole tile of columns (1920 samples),
// with one sample or a few less and more.
std::vector<ImageSize> host_sizes() {
  std::vector<ImageSize> all(blur_sizes.begin(), blur_sizes.end());
  for (const int width : {2, 3, 5, 63, 64, 65, 481, 482, 483, 642, 643, 962, 963, 1922, 1923, 3850})
    all.push_back({width, 3});
  return all;
}

TEST(BlurOnProcessor, EqualsTheDefinitionAndWeighsAPictureWithOneTransparentPixel) {
  for (const auto& [format, size] : each_of(test::all_formats(), host_sizes())) {
    for (const Image& image : test::different_pictures(size, format)) {
      for (const auto& [border, alpha] : each_of(test::all_borders, alpha_modes)) {
        if (alpha == AlphaMode::independent && !format.has_alpha()) continue;
        ASSERT_NO_FATAL_FAILURE(check_blur(image, {.border = border, .alpha = alpha},
                                           test::naive_blur(image, border, alpha)));
      }
    }
  }
  // Tiles of columns whose pixels are all opaque use the plain blur; a single other pixel in or
  // next to a tile prevents that.
  for (const PixelFormat format : {PixelFormat{2, 8}, {4, 8}, {2, 16}, {4, 16}}) {
    const int tile = 1920 / format.channels;
    const int width = 2 * tile + 7;
    for (const int x : {0, 1, 2, tile - 1, tile, tile + 1, tile + 2, width - 2, width - 1}) {
      Image image = test::opaque_image({width, 5}, format, 7);
      test::set_sample(image, x, 2, format.channels - 1, format.max_sample() / 3);
      ASSERT_NO_FATAL_FAILURE(
          check_blur(image, {}, test::naive_blur(image, Border::replicate, AlphaMode::weighted)));
    }
  }
}

TEST(BlurOnProcessor, DividesEverySumByNine) {
  for (std::uint32_t s = 0; s <= 9 * 255 + 4; ++s)
    ASSERT_EQ(blur::ninth(static_cast<std::uint16_t>(s)), s / 9) << s;
  for (std::uint32_t s = 0; s <= 9 * 65535 + 4; ++s)
    ASSERT_EQ(blur::ninth(s), s / 9) << s;
}

// Dividends on both sides of each change of the quotient.
template <typename Number>
void expect_quotients(std::uint64_t alpha, std::uint64_t color, std::uint64_t max) {
  const std::uint64_t change = color * alpha - std::min(color * alpha, alpha / 2);
  for (std::uint64_t sum = change - std::min<std::uint64_t>(change, 2); sum <= change + 2; ++sum) {
    if (sum > max * alpha) break;
    const blur::WeightedMean mean(static_cast<Number>(alpha));
    ASSERT_EQ(mean.of(static_cast<Number>(sum)), (sum + alpha / 2) / alpha)
        << sum << " by " << alpha;
  }
}

TEST(BlurOnProcessor, DividesByEverySumOfAlpha) {
  for (std::uint64_t alpha = 1; alpha <= 9 * 255; ++alpha) {
    for (std::uint64_t color = 0; color <= 255; ++color)
      expect_quotients<float>(alpha, color, 255);
    if (HasFatalFailure()) return;
  }
  for (std::uint64_t alpha = 1; alpha <= 9 * 65535; alpha += 1 + alpha % 997) {
    for (std::uint64_t color = 0; color <= 65535; color += 1 + color % 991)
      expect_quotients<double>(alpha, color, 65535);
    if (HasFatalFailure()) return;
  }
}

TEST(BlurOnProcessor, IsTheSameForEveryBandHeightAndOfAnOpaquePictureIsTheSameForBothAlphaModes) {
  for (const Border border : test::all_borders) {
    const Image image = test::random_image({31, 33}, {4, 8}, 4);
    const StageChain thrice(3, make_blur({.border = border}));
    const Image whole = test::filter_on_host(image, thrice, {.band_rows = 33});
    for (int rows = 1; rows < 33; ++rows) {
      const Image banded = test::filter_on_host(image, thrice, {.band_rows = rows});
      ASSERT_TRUE(same_pixels(banded, whole)) << name(border) << ", bands of " << rows;
    }
  }
  for (const PixelFormat format : {PixelFormat{2, 8}, {4, 8}, {2, 16}, {4, 16}}) {
    const Image image = test::opaque_image({31, 33}, format, 5);
    for (const Border border : test::all_borders) {
      const Image weighted = test::filter_on_host(image, chain_of({.border = border}), {});
      const Image independent = test::filter_on_host(
          image, chain_of({.border = border, .alpha = AlphaMode::independent}), {});
      EXPECT_TRUE(same_pixels(weighted, independent)) << to_string(format) << name(border);
    }
  }
}

// Every possible sum of nine 8-bit samples, at the middle of a 3x3 picture.
TEST(BlurOnProcessor, RoundsEverySumAsTheContractSays) {
  for (int sum = 0; sum <= 9 * 255; ++sum) {
    Image image({3, 3}, {1, 8});
    for (int i = 0; i < 9; ++i)
      test::set_sample(image, i % 3, i / 3, 0, static_cast<std::uint32_t>(sum / 9 + (i < sum % 9)));
    const Image result = test::filter_on_host(image, chain_of({}), {});
    ASSERT_EQ(test::sample_at(result, 1, 1, 0), static_cast<std::uint32_t>((sum + 4) / 9)) << sum;
  }
}

const char* name(BlurVariant variant) {
  switch (variant) {
    case BlurVariant::naive:
      return "naive";
    case BlurVariant::tiled:
      return "tiled";
    case BlurVariant::automatic:
      return "auto";
  }
  return "?";
}

}  // namespace

// For GoogleTest, which would print bytes; it looks for them where their types are.
static void PrintTo(BlurVariant variant, std::ostream* out) {  // NOLINT(*-identifier-naming)
  *out << name(variant);
}
static void PrintTo(Border border, std::ostream* out) {  // NOLINT(*-identifier-naming)
  *out << name(border);
}

namespace {

using KernelCase = std::tuple<BlurVariant, int, Border>;

class BlurKernel : public ::testing::TestWithParam<KernelCase> {};

std::string case_name(const ::testing::TestParamInfo<KernelCase>& info) {
  const auto& [variant, tile, border] = info.param;
  return formatted("{}{}_{}", name(variant),
                   variant == BlurVariant::tiled ? std::to_string(tile) : "", name(border));
}

// Few pixels, but more than one tile of each size in both directions.
constexpr std::array kernel_sizes{ImageSize{1, 1},    ImageSize{1, 40},   ImageSize{40, 1},
                                  ImageSize{15, 17},  ImageSize{16, 16},  ImageSize{31, 33},
                                  ImageSize{257, 37}, ImageSize{1919, 5}, ImageSize{5, 3},
                                  ImageSize{64, 13},  ImageSize{130, 25}};

void check_format(Session& session, const BlurParameters& parameters, const PixelFormat& format) {
  const StageChain chain = chain_of(parameters);
  for (const ImageSize& size : kernel_sizes) {
    for (const Image& image : test::different_pictures(size, format)) {
      const Image expected = test::filter_on_host(image, chain, {});
      for (const int rows : blur_bands) {
        // Many launches that show nothing new, and bands that end where tiles do.
        if ((rows == 1 || rows == 16) && size.pixels() > 1023) continue;
        const Image result = test::filter_on_device(session, image, chain, {.band_rows = rows});
        ASSERT_TRUE(same_pixels(result, expected))
            << session.device().name << ", " << to_string(format) << ", " << size.width << "x"
            << size.height << ", bands of " << rows;
        if (rows > size.height) break;
      }
    }
  }
}

// Each combination is a program to compile, so the kernels for CPUs and those for GPUs share the
// combinations between them. Each kind meets every format in every alpha mode, and every border
// with every depth and with every alpha mode; both together meet every border with every depth and
// alpha mode at once. Tiles other than 16 differ only in size: each kind meets every border for
// them, and both together meet every format in every alpha mode.
bool is_tested(const BlurParameters& parameters, const PixelFormat& format, DeviceKind kind) {
  if (parameters.alpha == AlphaMode::independent && !format.has_alpha()) return false;
  const int border = static_cast<int>(parameters.border);
  const int alpha = static_cast<int>(parameters.alpha);
  const int of_format = format.channels + format.depth / 16;
  const int of_kind = kind == DeviceKind::cpu ? 1 : 0;
  if (parameters.tile == 16) return (border + 2 * alpha + of_format + of_kind) % 4 == 0;
  return (2 * border + 4 * alpha + of_format + 5 * of_kind) % 8 == 0;
}

TEST_P(BlurKernel, EqualsTheProcessor) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  const auto& [variant, tile, border] = GetParam();
  for (Session* session : test::kernel_sessions()) {
    for (const auto& [format, alpha] : each_of(test::all_formats(), alpha_modes)) {
      const BlurParameters parameters{variant, tile, border, alpha};
      if (!is_tested(parameters, format, session->device().kind)) continue;
      if (variant == BlurVariant::tiled && !blur_tile_fits(session->device(), tile, format)) {
        continue;  // refused: DeviceLimits below
      }
      ASSERT_NO_FATAL_FAILURE(check_format(*session, parameters, format));
    }
  }
}

// What the comment on is_tested() promises.
TEST(BlurKernels, ShareTheCombinationsBetweenThem) {
  for (const int tile : {8, 16, 32}) {
    std::set<std::tuple<int, int, AlphaMode>> formats_of_both;
    std::set<std::tuple<Border, int, AlphaMode>> borders_of_both;  // with alpha; depth
    for (const DeviceKind kind : {DeviceKind::cpu, DeviceKind::gpu}) {
      std::set<std::tuple<int, int, AlphaMode>> of_formats;
      std::set<std::pair<Border, int>> of_depths;
      std::set<std::pair<Border, AlphaMode>> of_alpha;
      for (const auto& [border, format, alpha] :
           each_of(test::all_borders, test::all_formats(), alpha_modes)) {
        if (!is_tested({BlurVariant::tiled, tile, border, alpha}, format, kind)) continue;
        of_formats.insert({format.channels, format.depth, alpha});
        formats_of_both.insert({format.channels, format.depth, alpha});
        of_depths.insert({border, format.depth});
        if (!format.has_alpha()) continue;
        of_alpha.insert({border, alpha});
        borders_of_both.insert({border, format.depth, alpha});
      }
      EXPECT_EQ(of_formats.size(), tile == 16 ? 12U : 6U) << tile;
      EXPECT_EQ(of_depths.size(), tile == 16 ? 8U : 6U) << tile;
      EXPECT_EQ(of_alpha.size(), tile == 16 ? 8U : 4U) << tile;
    }
    EXPECT_EQ(formats_of_both.size(), 12U) << tile;
    EXPECT_EQ(borders_of_both.size(), tile == 16 ? 16U : 8U) << tile;
  }
}

INSTANTIATE_TEST_SUITE_P(Naive, BlurKernel,
                         ::testing::Combine(::testing::Values(BlurVariant::naive),
                                            ::testing::Values(16),
                                            ::testing::ValuesIn(test::all_borders)),
                         case_name);
INSTANTIATE_TEST_SUITE_P(Tiled, BlurKernel,
                         ::testing::Combine(::testing::Values(BlurVariant::tiled),
                                            ::testing::Values(8, 16, 32),
                                            ::testing::ValuesIn(test::all_borders)),
                         case_name);

INSTANTIATE_TEST_SUITE_P(Automatic, BlurKernel,
                         ::testing::Combine(::testing::Values(BlurVariant::automatic),
                                            ::testing::Values(16),
                                            ::testing::ValuesIn(test::all_borders)),
                         case_name);

TEST(BlurKernels, SayWhyTheyWereChosen) {
  for (Session* session : test::kernel_sessions()) {
    const auto automatic = make_blur({})->prepare(*session, {{64, 64}, {3, 8}});
    const auto naive =
        make_blur({.variant = BlurVariant::naive})->prepare(*session, {{64, 64}, {3, 8}});
    EXPECT_TRUE(automatic->description().variant.starts_with("strips"));
    EXPECT_TRUE(automatic->description().reason.starts_with("auto: "));
    EXPECT_EQ(naive->description().reason, "requested");
  }
}

// A device with tiny limits, which is never used.
class SmallDevice : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
    DeviceInfo device = test::all_sessions().front()->device();
    device.kind = DeviceKind::gpu;
    device.max_work_group_size = 128;
    device.local_memory = 900;
    session_ = std::make_unique<Session>(device, std::nullopt);
  }
  std::unique_ptr<Session> session_;
};

TEST_F(SmallDevice, RefusesATileOfTooManyWorkItems) {
  const auto blur = make_blur({.variant = BlurVariant::tiled, .tile = 32});
  test::expect_parts(test::objection_to([&] {
                       return blur->prepare(*session_, {{64, 64}, {1, 8}});
                     }),
                     {"--tile 32", "128 work-items"});
}

TEST_F(SmallDevice, RefusesATileOfTooMuchLocalMemory) {
  const auto blur = make_blur({.variant = BlurVariant::tiled, .tile = 16});
  EXPECT_NO_THROW(static_cast<void>(blur->prepare(*session_, {{64, 64}, {1, 8}})));  // 864 bytes
  EXPECT_THROW(static_cast<void>(blur->prepare(*session_, {{64, 64}, {2, 8}})), UsageError);
}

}  // namespace
}  // namespace gpufilter
