// The tags of a TIFF file that mean nothing to this program: GeoTIFF's, PageName, private ones.
#pragma once

#include <string>
#include <vector>

#include "codec/tiff/directory.hpp"

namespace gpufilter {

struct TiffTags {
  TiffFields fields;  // their values in this byte order
  bool little_endian = true;
};

// Those of the first directory. Tags that say how pixels or pages are stored, or that become
// metadata, are none of them.
[[nodiscard]] TiffTags foreign_tags(const TiffContent& content);

// For messages: "GeoTIFF", "PageName", "tag 65000". Each name once.
[[nodiscard]] std::vector<std::string> names_of(const TiffTags& tags);

}  // namespace gpufilter
