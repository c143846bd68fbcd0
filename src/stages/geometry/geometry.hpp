// --crop: a rectangle of the picture.
#pragma once

#include <optional>
#include <string>

#include "image/color.hpp"
#include "image/image.hpp"
#include "stage/options/catalogue.hpp"
#include "stage/options/shared_parameters.hpp"

namespace gpufilter {

struct CropParameters {
  ImageSize size;
  PixelPosition corner;  // its top left pixel
};

[[nodiscard]] std::shared_ptr<const OneStepStage> make_crop(const CropParameters& parameters);

// Opaque; nothing: transparent, for which a picture gets alpha if it has none.
using PadColor = std::optional<Color>;

// The parameter --pad-color.
[[nodiscard]] StageParameter pad_color_parameter();
[[nodiscard]] PadColor pad_color_of(const OptionValues& values);

// A picture of `size` that contains the whole source, at `corner`.
[[nodiscard]] std::shared_ptr<const OneStepStage> make_frame(ImageSize size, PixelPosition corner,
                                                             const PadColor& color);

struct PadParameters {
  // Pixels at the top, on the right, at the bottom and on the left; or
  std::array<int, 4> sides{};
  // the size of the result: larger pictures are cropped.
  std::optional<ImageSize> size = std::nullopt;
  Gravity gravity = Gravity::center;
  PadColor color = Color{255, 255, 255};
};

[[nodiscard]] std::shared_ptr<const Stage> make_pad(const PadParameters& parameters);

// Samples of equal pixels may differ by `fuzz` percent of the full range.
[[nodiscard]] std::shared_ptr<const Stage> make_trim(double fuzz);

// The smallest rectangle outside which all pixels are like the top left one: no sample differs by
// more than `limit`, or both have the alpha 0. The whole picture if all of them are.
[[nodiscard]] CropParameters content_of(const WholePicture& picture, std::uint32_t limit);

// The position of one picture in another; see placed().
struct OverlayPlace {
  Gravity gravity = Gravity::center;
  PixelPosition offset;
  bool operator==(const OverlayPlace&) const = default;
};

// "southeast+10+20", "center", "-5+0". Throws UsageError.
[[nodiscard]] OverlayPlace parse_overlay_place(const std::string& text);

// `picture` is of any format and size; `opacity` is from 0 to 1.
[[nodiscard]] std::shared_ptr<const Stage> make_overlay(Image picture, const OverlayPlace& place,
                                                        double opacity, std::string label);

}  // namespace gpufilter
