#include "support/stage_cases.hpp"

#include <gtest/gtest.h>

#include "base/format.hpp"
#include "support/cut_out_image.hpp"
#include "support/instruction_sets.hpp"
#include "support/pictures.hpp"

namespace gpufilter::test {
namespace {

std::string case_of(const Image& image, const StageChain& chain, int band_rows) {
  std::string text;
  for (const auto& stage : chain)
    text += stage->key() + ", ";
  return text + formatted("{}, {}x{}, bands of {}", to_string(image.format()), image.width(),
                          image.size().height, band_rows);
}

}  // namespace

std::vector<PixelFormat> all_formats() {
  std::vector<PixelFormat> all;
  for (const int depth : {8, 16}) {
    for (const int channels : {1, 2, 3, 4})
      all.push_back({channels, depth});
  }
  return all;
}

std::vector<Image> different_pictures(ImageSize size, PixelFormat format) {
  std::vector<Image> pictures;
  pictures.push_back(random_image(size, format, 1));
  pictures.push_back(extreme_image(size, format, 2));
  if (format.has_alpha()) {
    pictures.push_back(mixed_alpha_image(size, format, 3));
    pictures.push_back(opaque_image(size, format, 4));
  }
  return pictures;
}

std::vector<Image> window_pictures(ImageSize size, PixelFormat format) {
  std::vector<Image> pictures = different_pictures(size, format);
  if (format.has_alpha()) pictures.push_back(cut_out_image(size, format, 5));
  return pictures;
}

std::vector<Image> window_pictures_and_dull(ImageSize size, PixelFormat format,
                                            std::uint32_t part) {
  std::vector<Image> pictures = window_pictures(size, format);
  Image& dull = pictures.emplace_back(random_image(size, format, 7));
  const auto range = static_cast<std::uint32_t>(format.max_sample()) / part;
  for (int y = 0; y < size.height; ++y) {
    for (int x = 0; x < size.width; ++x) {
      for (int c = 0; c < format.channels; ++c)
        set_sample(dull, x, y, c, sample_at(dull, x, y, c) % range + 4 * range);
    }
  }
  return pictures;
}

void check_on_host(const Image& image, const StageChain& chain, const Image& expected,
                   const std::vector<int>& band_rows) {
  if (::testing::Test::HasFatalFailure()) return;
  with_each_instruction_set([&] {
    for (const int rows : band_rows) {
      ASSERT_TRUE(same_pixels(filter_on_host(image, chain, {.band_rows = rows}), expected))
          << case_of(image, chain, rows);
    }
  });
}

void check_on_device(Session& session, const Image& image, const StageChain& chain,
                     const Image& expected, const std::vector<int>& band_rows) {
  if (::testing::Test::HasFatalFailure()) return;
  for (const int rows : band_rows) {
    ASSERT_TRUE(same_pixels(filter_on_device(session, image, chain, {.band_rows = rows}), expected))
        << session.device().name << ", " << case_of(image, chain, rows);
  }
}

}  // namespace gpufilter::test
