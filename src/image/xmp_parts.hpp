// What XMP says about other parts of the file that it is in: a film, a gain map, depth.
#pragma once

#include "image/metadata.hpp"

namespace gpufilter {

struct XmpParts {
  bool gain_map = false;
  bool depth_map = false;
};

// Removes what announces such parts, so that nobody looks for them in a file without them: Google's
// motion photo and its directory of parts, and the version of a gain map. Returns what was
// announced.
XmpParts remove_announced_parts(Bytes& xmp);

}  // namespace gpufilter
