// Photoshop's image resources, in which IPTC travels: blocks of "8BIM", a number, a name, a length
// and data.
#pragma once

#include "image/metadata.hpp"

namespace gpufilter {

// Removes thumbnails (resources 0x0409 and 0x040C), which show the picture before it was filtered.
// The other resources stay as they are, as does everything from the first damaged one on.
void remove_resource_thumbnails(Bytes& resources);

// `iptc`, which is either bare IPTC (IIM) or already image resources, as image resources.
[[nodiscard]] Bytes resources_from_iptc(Bytes iptc);

}  // namespace gpufilter
