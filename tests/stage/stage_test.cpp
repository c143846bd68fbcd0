#include "device/device_rows.hpp"
#include "image/sample_arithmetic.hpp"
#include "stage/border.hpp"
#include "stage/device/row_tuning.hpp"
#include "stage/lowering.hpp"
#include "stage/options/shared_parameters.hpp"
#include "stage/window_rows.hpp"
#include "stages/resize/resize.hpp"
#include "support/naive_stages.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

using Placed = std::pair<Gravity, PixelPosition>;

// The position after a walk of |i| steps from 0, with the rule applied at each step over an edge.
int walked(Border border, int i, int n) {
  int position = 0;
  int direction = i < 0 ? -1 : 1;
  for (int step = 0; step != i; step += i < 0 ? -1 : 1) {
    int next = position + direction;
    if (next < 0 || next >= n) {
      if (border == Border::constant) return -1;
      if (border == Border::replicate || n == 1) {
        next = position;
      } else if (border == Border::mirror) {
        direction = -direction;
        next = position + direction;
      } else {
        next = direction < 0 ? n - 1 : 0;
      }
    }
    position = next;
  }
  return position;
}

TEST(BorderPosition, FollowsEachRuleHoweverFarOutside) {
  for (const auto& [border, n] :
       each_of(std::array{Border::replicate, Border::mirror, Border::wrap, Border::constant},
               std::array{1, 2, 3, 4, 7})) {
    for (int i = -30; i <= 30; ++i) {
      EXPECT_EQ(border_position(border, i, n), walked(border, i, n))
          << "border " << static_cast<int>(border) << ", position " << i << " of " << n;
    }
  }
}

TEST(Gravity, PlacesARectangleInALargerOneAndOffsetsGoInwardsAndALargerRectangleLiesPartlyOutside) {
  constexpr std::array cases{Placed{Gravity::northwest, {0, 0}}, Placed{Gravity::north, {2, 0}},
                             Placed{Gravity::northeast, {5, 0}}, Placed{Gravity::west, {0, 1}},
                             Placed{Gravity::center, {2, 1}},    Placed{Gravity::east, {5, 1}},
                             Placed{Gravity::southwest, {0, 2}}, Placed{Gravity::south, {2, 2}},
                             Placed{Gravity::southeast, {5, 2}}};
  for (const auto& [gravity, corner] : cases)
    EXPECT_EQ(placed({5, 8}, {10, 10}, gravity), corner) << static_cast<int>(gravity);
  EXPECT_EQ(placed({5, 8}, {10, 10}, Gravity::northwest, {1, 2}), (PixelPosition{1, 2}));
  EXPECT_EQ(placed({5, 8}, {10, 10}, Gravity::southeast, {1, 2}), (PixelPosition{4, 0}));
  EXPECT_EQ(placed({5, 8}, {10, 10}, Gravity::center, {1, 1}), (PixelPosition{3, 2}));
  EXPECT_EQ(placed({5, 8}, {10, 10}, Gravity::north, {1, 1}), (PixelPosition{3, 1}));
  EXPECT_EQ(placed({10, 11}, {5, 8}, Gravity::northwest), (PixelPosition{0, 0}));
  EXPECT_EQ(placed({10, 11}, {5, 8}, Gravity::southeast), (PixelPosition{-5, -3}));
  EXPECT_EQ(placed({10, 11}, {5, 8}, Gravity::center), (PixelPosition{-3, -2}));
}

const PictureShape shape{{640, 480}, {3, 8}};

TEST(LowerChain, LeavesOutWhatHasNothingToDoAndJoinsTurnsBetweenPlaces) {
  const StageChain chain{stage_of("--auto-orient"), stage_of("--rotate 90"), stage_of("--flip"),
                         stage_of("--blur auto")};
  const auto names = [&](std::vector<std::size_t>& places) {
    std::vector<std::string> names;
    for (const LoweredStage& stage : lower_chain(chain, {.shape = shape}, places))
      names.push_back(stage.title.name);
    return names;
  };
  std::vector<std::size_t> places{1, 3, 4};
  EXPECT_EQ(names(places), (std::vector<std::string>{"rotate + flip", "blur"}));
  EXPECT_EQ(places, (std::vector<std::size_t>{0, 1, 2}));
  places = {2};
  EXPECT_EQ(names(places), (std::vector<std::string>{"rotate", "flip", "blur"}));
  EXPECT_EQ(places, (std::vector<std::size_t>{1}));
}

TEST(LowerChain, TellsEachStageWhatThoseBeforeItLeave) {
  const LoweredChain chain = lower_chain(
      {stage_of("--rotate 90"), stage_of("--gray"), stage_of("--resize 50%")}, {.shape = shape});
  EXPECT_EQ(chain.at(1).context.shape, (PictureShape{{480, 640}, {3, 8}}));
  EXPECT_EQ(chain.at(2).context.shape, (PictureShape{{480, 640}, {1, 8}}));
  EXPECT_EQ(output_of(chain, shape), (PictureShape{{240, 320}, {1, 8}}));
}

TEST(LowerChain, StagesAfterATrimAreLoweredForItsSize) {
  Image image = random_image({64, 48}, {3, 8}, 1);
  std::memset(image.rows().data, 0, image.bytes());
  for (const auto& [x, y] : {std::pair{10, 6}, {29, 15}})
    set_sample(image, x, y, 0, 200);
  const PictureShape whole{image.size(), image.format()};
  LoweredChain chain = lower_chain(
      {stage_of("--trim"), stage_of("--resize 50%"), stage_of("--blur auto")}, {.shape = whole});
  EXPECT_EQ(output_of(chain, whole).size, (ImageSize{32, 24})) << "as far as is known";
  EXPECT_TRUE(meet_demand(chain, 0, PictureInMemory(std::as_const(image).rows())));
  EXPECT_EQ(output_of(chain, whole).size, (ImageSize{10, 5}));
  EXPECT_EQ(chain.at(2).context.shape.size, (ImageSize{10, 5}));
}

TEST(LowerChain, ASmallerSourceKeepsTheSizeOfTheResult) {
  const StageChain stages{stage_of("--rotate 90"),
                          make_resize({.percent = 12.5, .fast_shrink = true})};
  LoweredChain chain = lower_chain(stages, {.shape = shape});
  PictureShape turned = shape;
  ASSERT_EQ(count_turns(chain, turned), 1U);
  EXPECT_EQ(chain.at(1).decoding_divisor, 4) << "half of the reduction is left to the kernel";
  const PictureShape smaller{{160, 120}, {3, 8}};
  lower_for_smaller(chain, shape, smaller, 4);
  EXPECT_EQ(output_of(chain, smaller).size, (ImageSize{60, 80}));
  EXPECT_EQ(chain.at(1).context.smaller.value().whole, (ImageSize{480, 640}));
}

// Rows arrive with the pixels that the border rule puts around them, tile by tile.

// The sample that a window reads, by the definition.
template <typename Sample>
Sample sample_at(const Image& image, Border border, int x, int y, int channel) {
  const PixelFormat& format = image.format();
  const int column = border_position(border, x, image.size().width);
  const int row = border_position(border, y, image.size().height);
  if (column < 0 || row < 0)
    return format.has_alpha() && channel + 1 == format.channels ? std::numeric_limits<Sample>::max()
                                                                : Sample{0};
  return reinterpret_cast<const Sample*>(image.rows().row(row))[column * format.channels + channel];
}

template <typename Sample, typename Number>
void expect_rows(const Image& image, const WindowShape& shape) {
  const int channels = image.format().channels;
  WindowRows<Sample, Number> rows(image.rows(), shape);
  const int first = -shape.radius;
  const int reached = shape.border == Border::wrap ? 0 : shape.radius;
  int next = 0;
  rows.for_tiles(0, [&](const Columns& tile) {
    ASSERT_EQ(tile.begin, next);
    next = tile.end;
    rows.begin(tile, -reached);
    for (int y = -reached; y < image.size().height + reached; ++y) {
      rows.reach(y);
      int wrong = 0;
      for (std::size_t i = 0; i < rows.samples(); ++i) {
        const int x = tile.begin + first + static_cast<int>(i) / channels;
        const int channel = static_cast<int>(i) % channels;
        const auto expected = sample_at<Sample>(image, shape.border, x, y, channel);
        wrong += rows.row(y)[i] == static_cast<Number>(expected) ? 0 : 1;
      }
      ASSERT_EQ(wrong, 0) << to_string(image.format()) << ", border "
                          << static_cast<int>(shape.border) << ", radius " << shape.radius
                          << ", row " << y << " from column " << tile.begin << " on";
    }
  });
  EXPECT_EQ(next, image.size().width);
}

TEST(WindowRows, HaveThePixelsOfTheBorderRuleAroundThem) {
  for (const auto& [format, size] : each_of(all_formats(), Sizes{{1, 1}, {9, 4}, {4500, 1}})) {
    const Image image = random_image(size, format, 1);
    for (const auto& [border, radius, copied] :
         each_of(std::array{Border::replicate, Border::mirror, Border::wrap, Border::constant},
                 std::array{1, 2, 70}, std::array{false, true})) {
      const WindowShape shape{.height = size.height,
                              .border = border,
                              .radius = radius,
                              .rows = 2,
                              .columns = 500,
                              .copied = copied};
      if (format.depth == 8) {
        ASSERT_NO_FATAL_FAILURE((expect_rows<std::uint8_t, std::uint8_t>(image, shape)));
        ASSERT_NO_FATAL_FAILURE((expect_rows<std::uint8_t, float>(image, shape)));
      } else {
        ASSERT_NO_FATAL_FAILURE((expect_rows<std::uint16_t, std::uint16_t>(image, shape)));
        ASSERT_NO_FATAL_FAILURE((expect_rows<std::uint16_t, double>(image, shape)));
      }
    }
  }
}

TEST(WindowRows, KnowWhichAreOpaque) {
  for (const int depth : {8, 16}) {
    Image image = random_image({300, 3}, {4, depth}, 2);
    for (int y = 0; y < 3; ++y) {
      for (int x = 0; x < 300; ++x) {
        const bool opaque = y != 1 || x != 299;
        std::uint8_t* pixel = image.rows().row(y) + x * 4 * depth / 8;
        std::fill_n(pixel + 3 * depth / 8, depth / 8, opaque ? 0xff : 0xfe);
      }
    }
    const auto expect_opaque = [&](auto rows) {
      rows.begin({0, 300}, 0);
      rows.reach(2);
      EXPECT_TRUE(rows.is_opaque(0));
      EXPECT_FALSE(rows.is_opaque(1));
      EXPECT_FALSE(rows.is_opaque(1, 1));
      EXPECT_TRUE(rows.is_opaque(2));
    };
    const WindowShape shape{.height = 3, .radius = 1, .rows = 3, .weighted = true};
    if (depth == 8) expect_opaque(WindowRows<std::uint8_t>(image.rows(), shape));
    if (depth == 16) expect_opaque(WindowRows<std::uint16_t>(image.rows(), shape));
  }
}

// kernels/stage/common.cl on every device against the same rules implemented on the host.

constexpr const char* probes = R"(
__kernel void probe_border(int first, int n, __global int *positions) {
  const int i = get_global_id(0);
  positions[i] = border_position(first + i, n);
}
__kernel void probe_to_sample(__global const float *values, __global int *samples) {
  const int i = get_global_id(0);
  samples[i] = to_sample(values[i]);
}
// `colors` gets red, green, blue, alpha and luma of each pixel.
__kernel void probe_pixel(__global const sample_t *row, __global int *colors, __global sample_t *copy) {
  const int x = get_global_id(0);
  const pixel_t pixel = load_pixel(row, x);
  colors[x * 5] = RED(pixel);
  colors[x * 5 + 1] = GREEN(pixel);
  colors[x * 5 + 2] = BLUE(pixel);
  colors[x * 5 + 3] = ALPHA(pixel);
  colors[x * 5 + 4] = luma_bt709(pixel);
  store_pixel(copy, x, pixel);
}
)";

// The kernels above after the project's own common.cl.
class CommonKernel : public ::testing::Test {
 protected:
  void SetUp() override {
    if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
    std::filesystem::copy(std::filesystem::path(GPUFILTER_SOURCE) / "kernels/stage/common.cl",
                          folder_.path());
    write_file(folder_ / "probe.cl", probes);
    setenv("GPUFILTER_KERNELS", folder_.path().c_str(), 1);
  }
  void TearDown() override { unsetenv("GPUFILTER_KERNELS"); }

  TemporaryFolder folder_;
};

template <typename Number>
std::vector<Number> downloaded(Queue& queue, const Buffer& buffer) {
  std::vector<Number> numbers(buffer.size() / sizeof(Number));
  queue.download(buffer, numbers.data(), buffer.size());
  queue.finish();
  return numbers;
}

TEST_F(CommonKernel, FindsTheHostsPositionsBeyondBorders) {
  constexpr std::int32_t first = -30;
  constexpr std::size_t count = 61;
  for (const auto& session : all_sessions()) {
    Queue queue = session->make_queue();
    const Buffer positions = session->allocate(count * sizeof(std::int32_t));
    for (const Border border :
         {Border::replicate, Border::mirror, Border::wrap, Border::constant}) {
      const Kernel kernel = session->make_kernel(
          {"probe.cl", "probe_border", formatted("-D BORDER={}", static_cast<int>(border))});
      for (const std::int32_t n : {1, 2, 3, 4, 7}) {
        queue.launch(kernel, {count, 1, 1, 1}, {first, n, positions});
        const auto found = downloaded<std::int32_t>(queue, positions);
        for (std::size_t i = 0; i < count; ++i) {
          const int position = first + static_cast<int>(i);
          EXPECT_EQ(found[i], border_position(border, position, n))
              << session->device().name << ", border " << static_cast<int>(border) << ", position "
              << position << " of " << n;
        }
      }
    }
  }
}

TEST_F(CommonKernel, RoundsHalfToEvenAndSaturates) {
  constexpr float infinity = std::numeric_limits<float>::infinity();
  for (const int depth : {8, 16}) {
    const auto max = static_cast<float>(PixelFormat{1, depth}.max_sample());
    std::vector<float> values{0.0F,       -0.0F,      -1.0F,         -infinity, infinity,
                              3e38F,      1e-45F,     std::nanf(""), max,       max + 1,
                              max - 0.5F, max + 0.4F, -0.4F,         0.4999999F};
    for (float half = 0.5F; half < max; half += 1.0F)
      values.insert(values.end(), {half, std::nextafter(half, 0.0F), std::nextafter(half, max)});
    for (const auto& session : all_sessions()) {
      Queue queue = session->make_queue();
      const Buffer input = session->allocate(values.size() * sizeof(float));
      const Buffer output = session->allocate(values.size() * sizeof(std::int32_t));
      queue.upload(input, values.data(), input.size());
      const Kernel kernel =
          session->make_kernel({"probe.cl", "probe_to_sample", formatted("-D DEPTH={}", depth)});
      queue.launch(kernel, {values.size(), 1, 1, 1}, {input, output});
      const auto samples = downloaded<std::int32_t>(queue, output);
      for (std::size_t i = 0; i < values.size(); ++i) {
        const float within = values[i] > 0 ? std::min(values[i], max) : 0.0F;
        ASSERT_EQ(samples[i], static_cast<std::int32_t>(std::nearbyint(within)))
            << session->device().name << ", " << values[i] << " at " << depth << " bits";
      }
    }
  }
}

TEST_F(CommonKernel, ReadsAndWritesPixelsOfEveryFormat) {
  constexpr int width = 333;
  for (const PixelFormat& pixel : all_formats()) {
    const Image image = random_image({width, 1}, pixel, 1);
    const std::size_t bytes = width * pixel.bytes_per_pixel();
    for (const auto& session : all_sessions()) {
      Queue queue = session->make_queue();
      const Buffer row = session->allocate(bytes);
      const Buffer copy = session->allocate(bytes);
      const Buffer colors = session->allocate(width * 5 * sizeof(std::int32_t));
      queue.upload(row, image.rows().data, bytes);
      const Kernel kernel = session->make_kernel({"probe.cl", "probe_pixel", format_macros(pixel)});
      queue.launch(kernel, {width, 1, 1, 1}, {row, colors, copy});
      const auto found = downloaded<std::int32_t>(queue, colors);
      for (int x = 0; x < width; ++x) {
        const auto sample = [&](int c) { return test::sample_at(image, x, 0, c); };
        const bool is_grey = pixel.color_channels() == 1;
        const std::uint32_t green = sample(is_grey ? 0 : 1);
        const std::uint32_t blue = sample(is_grey ? 0 : 2);
        const std::array expected{
            sample(0), green, blue,
            pixel.has_alpha() ? sample(pixel.channels - 1) : pixel.max_sample(),
            luma_bt709(sample(0), green, blue)};
        for (std::size_t i = 0; i < expected.size(); ++i) {
          ASSERT_EQ(found[static_cast<std::size_t>(x) * 5 + i],
                    static_cast<std::int32_t>(expected[i]))
              << session->device().name << ", " << to_string(pixel) << ", number " << i;
        }
      }
      const auto* original = image.rows().data;
      EXPECT_EQ(downloaded<std::uint8_t>(queue, copy),
                std::vector<std::uint8_t>(original, original + bytes));
    }
  }
}

// Work-groups too large for the device become smaller, or are refused if requested.

constexpr PixelFormat rgb{3, 8};

// A device that claims to take at most `items` work-items per group.
DeviceInfo with_groups_of(DeviceInfo device, std::size_t items) {
  device.max_work_group_size = items;
  return device;
}

RowKernel naive_blur_kernel() {
  return {.file = "blur.cl",
          .function = "blur_naive",
          .macros = "-D BORDER=0",
          .pixels = 1,
          .group_width = 64,
          .group_height = 4,
          .variant = "naive 64x4",
          .reason = "requested"};
}

TEST(RowTuning, LargerGroupsThanTheDeviceTakesBecomeSmaller) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  Session session(with_groups_of(all_sessions().front()->device(), 16), std::nullopt);
  RowKernel kernel = naive_blur_kernel();
  static_cast<void>(build_row_kernel(session, kernel, rgb, rgb));
  EXPECT_EQ(kernel.group_height, 1U);
  EXPECT_EQ(kernel.group_width, 16U);
  EXPECT_TRUE(kernel.reason.starts_with("requested; larger groups do not fit")) << kernel.reason;
  const Image image = random_image({67, 37}, rgb, 1);
  const auto blur = make_blur({.variant = BlurVariant::naive});
  EXPECT_TRUE(same_pixels(filter_on_device(session, image, {blur}, {}),
                          naive_blur(image, Border::replicate, AlphaMode::weighted)));
}

TEST(RowTuning, GroupsThatFitStayAsTheyAre) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  RowKernel kernel = naive_blur_kernel();
  const Kernel built = build_row_kernel(*all_sessions().front(), kernel, rgb, rgb);
  EXPECT_EQ(kernel.group_width * kernel.group_height, 256U);
  EXPECT_EQ(kernel.reason, "requested");
  EXPECT_GE(built.limits().max_work_group, 256U);
  EXPECT_EQ(built.limits().stated_group, 256U);
}

TEST(RowTuning, AGroupThatWasAskedForIsRefused) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  Session session(with_groups_of(all_sessions().front()->device(), 16), std::nullopt);
  RowKernel kernel = naive_blur_kernel();
  kernel.fixed_by = "--tile 64";
  const std::string text =
      objection_to([&] { return build_row_kernel(session, kernel, rgb, rgb); });
  EXPECT_TRUE(text.starts_with("--tile 64: blur_naive takes 64x4 work-items a group")) << text;
  EXPECT_TRUE(contains(text, "at most 16"));
}

TEST(RowTuning, ALaunchWithTooLargeAGroupSaysSo) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  Session& session = *all_sessions().front();
  RowKernel kernel = naive_blur_kernel();
  const Kernel built = build_row_kernel(session, kernel, rgb, rgb);
  Queue queue = session.make_queue();
  const std::size_t too_many = 2 * built.limits().max_work_group;
  EXPECT_THROW(static_cast<void>(queue.launch(built, {too_many, 1, too_many, 1}, {})), DeviceError);
}

}  // namespace
}  // namespace gpufilter::test
