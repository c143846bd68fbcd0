// Loops work on tiles of columns. No pixel may show where a tile ends.
#include <algorithm>
#include <array>
#include <memory>
#include <string_view>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "lab/stage_samples.hpp"
#include "stage/options/catalogue.hpp"
#include "support/filtering.hpp"
#include "support/instruction_sets.hpp"
#include "support/pictures.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

// More columns than any tile has, whatever a pixel takes.
constexpr ImageSize wide_size{4300, 2};
// More columns than any stage reads on one side of a pixel: --close 127.
constexpr int margin = 254;
constexpr int compared = 130;

Image columns_of(const Image& image, int begin, int count) {
  Image columns({count, image.size().height}, image.format());
  for (int y = 0; y < image.size().height; ++y) {
    const std::size_t pixel = image.format().bytes_per_pixel();
    std::copy_n(image.rows().row(y) + static_cast<std::size_t>(begin) * pixel,
                static_cast<std::size_t>(count) * pixel, columns.rows().row(y));
  }
  return columns;
}

// Whether a pixel of its result depends on its neighbours alone, not on its place.
bool is_the_same_everywhere(const std::shared_ptr<const Stage>& stage, const PixelFormat& format) {
  constexpr std::array<std::string_view, 3> by_place{"auto-orient", "flop", "overlay"};
  if (std::find(by_place.begin(), by_place.end(), stage->name()) != by_place.end()) return false;
  if (stage->traits().measures || stage->traits().keeps_picture) return false;
  try {
    return result_of(stage, {wide_size, format}).size == wide_size;
  } catch (const UsageError&) {
    return false;
  }
}

void compare_with_parts(const std::shared_ptr<const Stage>& stage, const PixelFormat& format) {
  const Image picture =
      format.has_alpha() ? cut_out_image(wide_size, format, 5) : random_image(wide_size, format, 5);
  const Image whole = filter_on_host(picture, {stage}, {});
  for (const int begin : {margin, 1300, 2700, wide_size.width - margin - compared}) {
    const Image part = columns_of(picture, begin - margin, compared + 2 * margin);
    const Image filtered = filter_on_host(part, {stage}, {});
    EXPECT_TRUE(
        same_pixels(columns_of(whole, begin, compared), columns_of(filtered, margin, compared)))
        << "columns from " << begin;
  }
}

TEST(WidePictures, AreLikeTheirPartsInEveryStage) {
  with_each_instruction_set([] {
    for (const StageKind& kind : stage_catalogue()) {
      for (const lab::StageSample& sample : lab::samples_of(kind, false)) {
        for (const PixelFormat& format : all_formats()) {
          if (!is_the_same_everywhere(sample.stage, format)) continue;
          const ::testing::ScopedTrace trace(__FILE__, __LINE__,
                                             sample.text + ", " + to_string(format));
          compare_with_parts(sample.stage, format);
        }
      }
    }
  });
}

}  // namespace
}  // namespace gpufilter::test
