// Work-groups too large for the device become smaller, or are refused if requested.
#include "stage/device/row_tuning.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "stages/window/blur.hpp"
#include "support/filtering.hpp"
#include "support/naive_stages.hpp"
#include "support/pictures.hpp"
#include "support/texts.hpp"

namespace gpufilter {
namespace {

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
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  Session session(with_groups_of(test::all_sessions().front()->device(), 16), std::nullopt);
  RowKernel kernel = naive_blur_kernel();
  static_cast<void>(build_row_kernel(session, kernel, rgb, rgb));
  EXPECT_EQ(kernel.group_height, 1U);
  EXPECT_EQ(kernel.group_width, 16U);
  EXPECT_TRUE(kernel.reason.starts_with("requested; larger groups do not fit")) << kernel.reason;
  const Image image = test::random_image({67, 37}, rgb, 1);
  const auto blur = make_blur({.variant = BlurVariant::naive});
  EXPECT_TRUE(test::same_pixels(test::filter_on_device(session, image, {blur}, {}),
                                test::naive_blur(image, Border::replicate, AlphaMode::weighted)));
}

TEST(RowTuning, GroupsThatFitStayAsTheyAre) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  RowKernel kernel = naive_blur_kernel();
  const Kernel built = build_row_kernel(*test::all_sessions().front(), kernel, rgb, rgb);
  EXPECT_EQ(kernel.group_width * kernel.group_height, 256U);
  EXPECT_EQ(kernel.reason, "requested");
  EXPECT_GE(built.limits().max_work_group, 256U);
  EXPECT_EQ(built.limits().stated_group, 256U);
}

TEST(RowTuning, AGroupThatWasAskedForIsRefused) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  Session session(with_groups_of(test::all_sessions().front()->device(), 16), std::nullopt);
  RowKernel kernel = naive_blur_kernel();
  kernel.fixed_by = "--tile 64";
  try {
    static_cast<void>(build_row_kernel(session, kernel, rgb, rgb));
    FAIL() << "it was built";
  } catch (const UsageError& error) {
    const std::string text = error.what();
    EXPECT_TRUE(text.starts_with("--tile 64: blur_naive takes 64x4 work-items a group")) << text;
    EXPECT_TRUE(test::contains(text, "at most 16"));
  }
}

TEST(RowTuning, ALaunchWithTooLargeAGroupSaysSo) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  Session& session = *test::all_sessions().front();
  RowKernel kernel = naive_blur_kernel();
  const Kernel built = build_row_kernel(session, kernel, rgb, rgb);
  Queue queue = session.make_queue();
  const std::size_t too_many = 2 * built.limits().max_work_group;
  EXPECT_THROW(static_cast<void>(queue.launch(built, {too_many, 1, too_many, 1}, {})), DeviceError);
}

}  // namespace
}  // namespace gpufilter
