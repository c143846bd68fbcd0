// Corrections of the files that libheif writes.
#pragma once

#include <string>

#include "image/metadata.hpp"

namespace gpufilter {

// Makes every "ispe" the size of its picture as it is stored, before it is turned, and puts what
// turns and crops pictures behind what describes them, as readers expect it (ISO/IEC 23000-22,
// 7.3.6). `name` and `format` are for messages.
void correct_heif_boxes(Bytes& file, const std::string& name, const std::string& format);

}  // namespace gpufilter
