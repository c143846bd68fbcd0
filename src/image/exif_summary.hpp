// What EXIF says of how a picture was taken, for people.
#pragma once

#include <string>

#include "image/metadata.hpp"

namespace gpufilter {

struct ExifSummary {
  std::string camera;  // "Apple iPhone 12": Make and Model (EXIF 2.32, section 4.6.4)
  std::string lens;    // LensModel
  std::string taken;   // DateTimeOriginal, otherwise DateTime, as stored: "2024:05:01 10:11:12"
};

// `exif` is a TIFF structure. What it does not say, or says in bytes that are not UTF-8, is
// empty.
[[nodiscard]] ExifSummary exif_summary(const Bytes& exif);

}  // namespace gpufilter
