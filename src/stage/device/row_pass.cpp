#include "stage/device/row_pass.hpp"

#include <algorithm>
#include <utility>

#include "stage/device/row_tuning.hpp"

namespace gpufilter {

RowLaunch::RowLaunch(Session& session, RowKernel kernel, const PictureShape& source,
                     const PictureShape& target)
    : RowLaunch(build_row_kernel(session, kernel, source.format, target.format), kernel, source,
                target) {
  for (std::vector<std::uint8_t>& table : kernel.tables)
    tables_.emplace_back(session, std::move(table));
}

RowLaunch::RowLaunch(Kernel built, const RowKernel& kernel, const PictureShape& source,
                     const PictureShape& target)
    : kernel_(std::move(built)),
      range_{(static_cast<std::size_t>(target.size.width) + kernel.pixels - 1) / kernel.pixels, 0,
             kernel.group_width, kernel.group_height},
      lines_(kernel.lines),
      source_size_(source.size),
      target_size_(target.size),
      source_pitch_(pitch_in_samples(source.size.width, source.format)),
      target_pitch_(pitch_in_samples(target.size.width, target.format)),
      description_{kernel.variant, kernel.reason, kernel_.origin(), kernel_.source()} {}

Event RowLaunch::launch(Queue& queue, const DeviceRows& source, const DeviceRows& target,
                        std::initializer_list<KernelArgument> sink) {
  const std::int32_t target_rows = target.rows.count();
  std::vector<KernelArgument> arguments{
      *source.buffer,     source_pitch_,       source.rows.begin,  *target.buffer,
      target_pitch_,      target.rows.begin,   target.offset,      target_rows,
      source_size_.width, source_size_.height, target_size_.width, target_size_.height};
  for (DeviceConstants& table : tables_)
    arguments.emplace_back(table.on_device(queue));
  arguments.insert(arguments.end(), sink);
  range_.height = (static_cast<std::size_t>(target_rows) + lines_ - 1) / lines_;
  return queue.launch(kernel_, range_, arguments);
}

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
