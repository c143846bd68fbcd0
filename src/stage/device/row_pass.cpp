#include "stage/device/row_pass.hpp"

#include <algorithm>
#include <utility>

#include "stage/device/row_launch.hpp"
#include "stage/device/row_tuning.hpp"

namespace gpufilter {
std::size_t wide_pixels(const PixelFormat& format) {
  if (format.channels == 3) return 8;
  return std::max<std::size_t>(4, 16 / format.bytes_per_pixel());
}

std::unique_ptr<DevicePass> make_row_pass(Session& session, RowKernel kernel,
                                          const PictureShape& source, const PictureShape& target,
                                          const std::vector<RowKernel>& others) {
  RowKernel chosen =
      chosen_kernel(session, std::move(kernel), others, source.format, target.format);
  return std::make_unique<RowLaunch>(session, std::move(chosen), source, target);
}

}  // namespace gpufilter
