// Rows of a picture in the memory of a device.
#pragma once

#include "device/session.hpp"
#include "image/rows.hpp"

namespace gpufilter {

// `buffer` holds the rows `rows` at row_pitch(), beginning with the first.
struct DeviceRows {
  const Buffer* buffer = nullptr;
  RowRange rows;
};

}  // namespace gpufilter
