// Rows of a picture in the memory of a device.
#pragma once

#include "device/session.hpp"
#include "image/rows.hpp"

namespace gpufilter {

// `buffer` holds the rows `rows` at row_pitch(), after `offset` other rows.
struct DeviceRows {
  const Buffer* buffer = nullptr;
  RowRange rows;
  int offset = 0;
};

}  // namespace gpufilter
