// What tests of stages go through: every format and border, and pictures that tell differences.
#pragma once

#include "stage/border.hpp"
#include "stage/options/catalogue.hpp"
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

// One picture: random samples, for mixed_picture() with mixed alpha if the format has one.
[[nodiscard]] std::vector<Image> random_picture(ImageSize size, PixelFormat format);
[[nodiscard]] std::vector<Image> mixed_picture(ImageSize size, PixelFormat format);

// Random samples; with alpha, also mixed alpha, an opaque picture, and one with a single pixel that
// is not.
[[nodiscard]] std::vector<Image> pictures_with_a_speck(ImageSize size, PixelFormat format);

// Asserts that the chain makes `expected` of the picture on the processor with each instruction
// set, or on a device, in bands of these heights; and that the processor writes nothing between
// rows. Nothing is done after a failure.
enum class RowEnds { may_be_written, hold };
void check_on_host(const Image& image, const StageChain& chain, const Image& expected,
                   const std::vector<int>& band_rows, RowEnds ends = RowEnds::may_be_written);
void check_on_device(Session& session, const Image& image, const StageChain& chain,
                     const Image& expected, const std::vector<int>& band_rows);

// What a stage answers to a value on the command line; "none" if it takes it.
[[nodiscard]] std::string objection_to_value(const StageKind& kind, const std::string& value,
                                             const GivenParameters& given = {});
// Expects that a stage takes some values and refuses others.
void expect_values(const StageKind& kind, const Words& taken, const Words& refused);

// A chain that is tested with other borders and alpha modes in other formats, or always the same.
using ChainInTurn = std::function<StageChain(Border, AlphaMode)>;

// How chains go through devices. Each in each format is a program to compile, so a format meets
// one in `share` (1, 2 or 4) of the chains; of all formats, each chain then meets both depths, with
// and without alpha.
struct DeviceCases {
  std::vector<PixelFormat> formats = all_formats();
  std::size_t share = 1;
  std::vector<ImageSize> sizes{{67, 19}};
  std::vector<Image> (*pictures)(ImageSize, PixelFormat) = different_pictures;
  std::vector<int> bands{5, 1000};
  bool as_both = false;  // a CPU runs the kernels for CPUs and for GPUs, not one of them
};

// Asserts that every device gives the processor's bits. Skips the test if there is no device.
void expect_the_processors_bits(const std::vector<ChainInTurn>& chains, const DeviceCases& cases);

}  // namespace gpufilter::test
