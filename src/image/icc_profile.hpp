// What can be said of an ICC profile (ICC.1) without a library.
#pragma once

#include <stdexcept>
#include <string>

#include "image/metadata.hpp"

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

// Of its version; 0 if it has no header.
[[nodiscard]] int icc_major_version(const Bytes& profile);

}  // namespace gpufilter
