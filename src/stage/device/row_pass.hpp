// The device part of most stages: one kernel that fills rows from rows.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <memory>
#include <vector>

#include "device/device_rows.hpp"
#include "stage/device/row_kernel.hpp"
#include "stage/stage.hpp"

namespace gpufilter {

// Builds and launches a kernel over rows. Passes the pitches and uploads tables once. Not
// thread-safe.
class RowLaunch final : public DevicePass {
 public:
  // Builds `kernel` for pictures of these shapes. Throws DeviceError, UsageError.
  RowLaunch(Session& session, RowKernel kernel, const PictureShape& source,
            const PictureShape& target);
  // `built` is launched as `kernel` says, and has no tables.
  RowLaunch(Kernel built, const RowKernel& kernel, const PictureShape& source,
            const PictureShape& target);

  [[nodiscard]] const CodeDescription& description() const override { return description_; }
  std::vector<Event> enqueue(Queue& queue, const DeviceRows& source,
                             const DeviceRows& target) override {
    return {launch(queue, source, target)};
  }

  // Queues the kernel for the rows `target`. `sink`: the arguments after those of ROWS. Returns
  // the command.
  Event launch(Queue& queue, const DeviceRows& source, const DeviceRows& target,
               std::initializer_list<KernelArgument> sink = {});

 private:
  Kernel kernel_;
  WorkRange range_;  // the height is the band's
  std::size_t lines_;
  ImageSize source_size_;
  ImageSize target_size_;
  std::int32_t source_pitch_;
  std::int32_t target_pitch_;
  std::vector<DeviceConstants> tables_;
  CodeDescription description_;
};

// Neighbours in a row that fill 16 bytes or more: for kernels bound by memory.
[[nodiscard]] std::size_t wide_pixels(const PixelFormat& format);

// Builds the kernel for pictures of these shapes, or the tuning's choice in its place: another
// shape, or one of `others`, which give the same bits. Throws DeviceError; UsageError if a
// requested kernel does not fit the device.
[[nodiscard]] std::unique_ptr<DevicePass> make_row_pass(Session& session, RowKernel kernel,
                                                        const PictureShape& source,
                                                        const PictureShape& target,
                                                        const std::vector<RowKernel>& others = {});

}  // namespace gpufilter
