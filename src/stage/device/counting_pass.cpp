#include "stage/device/counting_pass.hpp"

#include <utility>

#include "stage/device/fused_pass.hpp"

namespace gpufilter {

namespace {

// Except for the smallest bands, there are more work-groups than copies of the counters.
constexpr std::size_t many_groups = 1024;

}  // namespace

bool can_count(const DeviceInfo& device, const PixelFormat& format, Quantity quantity) {
  return is_counted(quantity) && device.fits(64, 1, local_counter_bytes(format, quantity));
}

CountingPass::CountingPass(Session& session, const StageGroup& group, CodeDescription description)
    : launch_(session, fused_kernel(session, group, std::move(description)), group.source,
              group.target),
      counters_(session, group.target.format, *group.counted, many_groups),
      width_(group.target.size.width) {}

std::vector<Event> CountingPass::enqueue(Queue& queue, const DeviceRows& source,
                                         const RowRange& target) {
  const std::uint64_t pixels = ImageSize{width_, target.count()}.pixels();
  if (pixels == 0) return {};
  std::vector<Event> events = counters_.begin(queue, pixels);
  // Like all kernels over rows, the kernel has a target, but it does not use it.
  const DeviceRows unused{source.buffer, target};
  events.push_back(launch_.launch(queue, source, unused, {counters_.buffer(), counters_.sets()}));
  return events;
}

}  // namespace gpufilter
