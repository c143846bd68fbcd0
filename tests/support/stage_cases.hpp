// What tests of stages go through: every format and border, and pictures that tell differences.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "stage/border.hpp"
#include "support/filtering.hpp"

namespace gpufilter::test {

inline constexpr std::array all_borders{Border::replicate, Border::mirror, Border::wrap,
                                        Border::constant};

// 1 to 4 channels of 8 and 16 bits.
[[nodiscard]] std::vector<PixelFormat> all_formats();

// Random and extreme samples; with alpha, also mixed alpha and an opaque picture.
[[nodiscard]] std::vector<Image> different_pictures(ImageSize size, PixelFormat format);

// Pictures for window stages; with alpha, also one with opaque, translucent and invisible areas,
// each of which fills windows.
[[nodiscard]] std::vector<Image> window_pictures(ImageSize size, PixelFormat format);

// The pictures of window_pictures(), and one whose random samples differ by less than 1/`part` of
// the range.
[[nodiscard]] std::vector<Image> window_pictures_and_dull(ImageSize size, PixelFormat format,
                                                          std::uint32_t part);

// Asserts that the chain makes `expected` of the picture on the processor with each instruction
// set, or on a device, in bands of these heights. Nothing is done after a failure.
void check_on_host(const Image& image, const StageChain& chain, const Image& expected,
                   const std::vector<int>& band_rows);
void check_on_device(Session& session, const Image& image, const StageChain& chain,
                     const Image& expected, const std::vector<int>& band_rows);

}  // namespace gpufilter::test
