// --crop: a rectangle of the picture.
#pragma once

#include <array>
#include <cmath>
#include <optional>
#include <string>

#include "image/color.hpp"
#include "image/image.hpp"
#include "stage/options/catalogue.hpp"
#include "stage/options/shared_parameters.hpp"
#include "stages/geometry/blend.hpp"

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
[[nodiscard]] std::string pad_color_text(const PadColor& color);
// The format of a picture of format `input` with such a margin, and the samples of a pixel of the
// margin in that format; of floats, their bits.
[[nodiscard]] PixelFormat padded_format(const PixelFormat& input, const PadColor& color);
[[nodiscard]] std::array<std::int32_t, 4> pad_samples(const PixelFormat& format,
                                                      const PadColor& color);

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
[[nodiscard]] CropParameters content_of(const WholePicture& picture, double limit);

// --rotate by 0, 90, 180 or 270 degrees clockwise: pixels are moved.
[[nodiscard]] std::shared_ptr<const Stage> make_quarter_turns(int degrees);

// Pixels, or a percentage of a side.
struct Length {
  double number = 0;
  bool percent = false;

  // To the nearest pixel.
  [[nodiscard]] int of(int side) const {
    return static_cast<int>(percent ? std::floor(side * number / 100 + 0.5) : number);
  }
  bool operator==(const Length&) const = default;
};

// The position of one picture in another; see placed().
struct OverlayPlace {
  Gravity gravity = Gravity::center;
  Length x = {};
  Length y = {};
  bool operator==(const OverlayPlace&) const = default;
};

// "southeast+10+20", "center", "-5+0", "north+0+2%". Throws UsageError.
[[nodiscard]] OverlayPlace parse_overlay_place(const std::string& text);

struct OverlayParameters {
  OverlayPlace place = {};
  double opacity = 1;                          // from 0 to 1
  std::optional<Length> width = std::nullopt;  // that the picture is resized to; nothing: its own
  bool tiled = false;                          // repeated in all directions
  BlendMode blend = BlendMode::normal;
};

// `picture` is of any format and size.
[[nodiscard]] std::shared_ptr<const Stage> make_overlay(Image picture,
                                                        const OverlayParameters& parameters,
                                                        std::string label);

}  // namespace gpufilter
