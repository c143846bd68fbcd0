#include "stages/row_pass.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "device/device_constants.hpp"
#include "stages/row_tuning.hpp"

namespace gpufilter {
namespace {

class RowPass final : public DevicePass {
 public:
  RowPass(Session& session, RowKernel kernel, ImageSize size, const PixelFormat& source,
          const PixelFormat& target)
      : kernel_(build_row_kernel(session, kernel, source, target)),
        range_{(static_cast<std::size_t>(size.width) + kernel.pixels - 1) / kernel.pixels, 0,
               kernel.group_width, kernel.group_height},
        lines_(kernel.lines),
        size_(size),
        source_pitch_(pitch_in_samples(size.width, source)),
        target_pitch_(pitch_in_samples(size.width, target)),
        description_{std::move(kernel.variant), std::move(kernel.reason), kernel_.origin(),
                     kernel_.source()} {
    for (std::vector<std::uint8_t>& table : kernel.tables)
      tables_.emplace_back(session, std::move(table));
  }

  [[nodiscard]] const Description& description() const override { return description_; }

  std::vector<Event> enqueue(Queue& queue, const DeviceRows& source,
                             const DeviceRows& target) override {
    const std::int32_t target_rows = target.rows.count();
    std::vector<KernelArgument> arguments{
        *source.buffer,    source_pitch_, source.rows.begin, *target.buffer, target_pitch_,
        target.rows.begin, target.offset, target_rows,       size_.width,    size_.height};
    for (DeviceConstants& table : tables_)
      arguments.emplace_back(table.on_device(queue));
    range_.height = (static_cast<std::size_t>(target_rows) + lines_ - 1) / lines_;
    return {queue.launch(kernel_, range_, arguments)};
  }

 private:
  Kernel kernel_;
  WorkRange range_;  // the height is the band's
  std::size_t lines_;
  ImageSize size_;
  std::int32_t source_pitch_;
  std::int32_t target_pitch_;
  std::vector<DeviceConstants> tables_;
  Description description_;
};

}  // namespace

std::size_t wide_pixels(const PixelFormat& format) {
  if (format.channels == 3) return 8;
  return std::max<std::size_t>(4, 16 / format.bytes_per_pixel());
}

std::unique_ptr<DevicePass> make_row_pass(Session& session, RowKernel kernel, ImageSize size,
                                          const PixelFormat& source, const PixelFormat& target,
                                          const std::vector<RowKernel>& others) {
  return std::make_unique<RowPass>(
      session, chosen_kernel(session, std::move(kernel), others, source, target), size, source,
      target);
}

}  // namespace gpufilter
