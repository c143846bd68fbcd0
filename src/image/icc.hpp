// The tone curves of ICC profiles (ICC.1:2022). Nothing outside the bytes is ever read, whatever
// they say.
#pragma once

#include <array>
#include <optional>
#include <stdexcept>
#include <string>

#include "image/metadata.hpp"
#include "image/transfer_curve.hpp"

namespace gpufilter {

// Why a profile cannot be used; it completes "the ICC profile ...". Such a profile is warned of and
// counts as none.
class UnusableProfile : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// The colours of its pixels, as its header names them: "CMYK", "RGB", "GRAY", "Lab". Empty if it
// has no header.
[[nodiscard]] std::string icc_color_space(const Bytes& profile);

// The major number of its version; 0 if it has no header.
[[nodiscard]] int icc_major_version(const Bytes& profile);

// Why a profile has no curves that can be used; it completes "the ICC profile ...".
class NoIccCurves : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// Red, green and blue of a profile of a matrix and curves; three times the curve of a grey one.
// Throws NoIccCurves.
[[nodiscard]] std::array<TransferCurve, 3> icc_curves(const Bytes& profile);

// x and y of red, green and blue of a profile of a matrix and curves, relative to D50; nothing for
// other profiles and damaged ones.
[[nodiscard]] std::optional<std::array<double, 6>> icc_primaries(const Bytes& profile);

}  // namespace gpufilter
