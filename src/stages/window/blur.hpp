// --blur: the 3x3 box blur.
#pragma once

#include <array>

#include "stage/border.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {

enum class BlurVariant { naive, tiled, automatic };

// The sides of tiles.
inline constexpr std::array blur_tiles{8, 16, 32};

struct BlurParameters {
  BlurVariant variant = BlurVariant::automatic;
  int tile = 16;  // of a work-group, one of blur_tiles
  Border border = Border::replicate;
  AlphaMode alpha = AlphaMode::weighted;
};

[[nodiscard]] std::shared_ptr<const OneStepStage> make_blur(const BlurParameters& parameters);

// The maximum local memory of a tile in bytes: the tile, a halo of one pixel around it, and the
// alignment of its rows.
[[nodiscard]] std::uint64_t blur_tile_bytes(int tile, const PixelFormat& format);

// Whether --blur tiled runs on `device` with tiles of this side.
[[nodiscard]] bool blur_tile_fits(const DeviceInfo& device, int tile, const PixelFormat& format);

// Fills `target` with the blur of `source`, rows of a picture `height` high; same width and format.
// `source` covers target.rows and one row above and below, as far as these lie within the picture
// (with Border::wrap: always).
void blur_rows(const ConstRows& source, const MutableRows& target, int height, Border border,
               AlphaMode alpha);

}  // namespace gpufilter
