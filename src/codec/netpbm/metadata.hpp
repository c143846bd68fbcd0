// Metadata in formats that hold none.
#pragma once

#include "codec/unread.hpp"
#include "image/metadata.hpp"

namespace gpufilter {

// Names all of it as left out.
void note_all_metadata(const Metadata& metadata, LeftOut& left_out);

}  // namespace gpufilter
