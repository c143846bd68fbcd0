// --resize: another size.
#pragma once

#include <optional>

#include "stage/border.hpp"
#include "stage/options/catalogue.hpp"
#include "stages/geometry/geometry.hpp"
#include "stages/resize/resize_taps.hpp"

namespace gpufilter {

enum class ResizeFit {
  inside,  // as large as fits in the box, in proportion
  cover,   // as small as covers the box, in proportion; the rest is cut off
  fill,    // the box
  contain  // as large as fits in the box, in proportion; the rest of the box is padded
};

enum class ResizeOnly { both, shrink, enlarge };

struct ResizeParameters {
  // The box: at least one side, in pixels; a missing one follows from the proportions. Or percent.
  std::optional<int> width = std::nullopt;
  std::optional<int> height = std::nullopt;
  std::optional<double> percent = std::nullopt;
  ResizeFit fit = ResizeFit::inside;
  ResizeKernel kernel = ResizeKernel::lanczos;
  ResizeOnly only = ResizeOnly::both;  // other pictures stay as they are
  AlphaMode alpha = AlphaMode::weighted;
  Gravity gravity = Gravity::center;  // of what is kept, or in what is padded
  PadColor pad = Color{255, 255, 255};
  bool fast_shrink = false;  // a source may be decoded smaller
  bool turn_box = false;     // where the picture is higher than wide and the box is not, or reverse
};

// The kernel for one direction, of pictures of this format.
[[nodiscard]] RowKernel resize_kernel(bool along_rows, const PixelFormat& picture, bool weighted,
                                      const ResizeTaps& taps);

[[nodiscard]] std::shared_ptr<const Stage> make_resize(const ResizeParameters& parameters);

}  // namespace gpufilter
