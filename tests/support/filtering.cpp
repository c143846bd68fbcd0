#include "support/filtering.hpp"

#include <gpufilter/filter.hpp>

#include "api/filter_state.hpp"
#include "device/device_choice.hpp"
#include "pipeline/execute/band_executor.hpp"
#include "pipeline/execute/band_feed.hpp"

namespace gpufilter::test {
namespace {

const std::string disguise = " as a GPU";  // follows the name of a CPU

Image run_bands(const Image& image, const Plan& plan, BandExecutor& executor) {
  ImageReader reader(image);
  ImagePool pool;
  BandFeed feed(reader, plan, pool);
  Image result = poisoned_image(plan.output().size, plan.output().format);
  for (const RowRange& band : plan.bands()) {
    const auto input = feed.next(band);
    executor.run(input->rows(), result.rows().part(band));
  }
  feed.finish();
  return result;
}

// Changes every sample.
Image inverted(const Image& image) {
  Image result = copy_of(image);
  std::uint8_t* bytes = result.rows().data;
  for (std::size_t i = 0; i < result.bytes(); ++i)
    bytes[i] = static_cast<std::uint8_t>(~bytes[i]);
  return result;
}

}  // namespace

StageChain stages_of(const std::string& words) {
  return chain_of(parse_stages(words), {});
}

std::shared_ptr<const Stage> stage_of(const std::string& words) {
  return stages_of(words).at(0);
}

ImageReader::ImageReader(const Image& image) : image_(image) {
  header_.size = image.size();
  header_.format = image.format();
}

void ImageReader::read(const MutableRows& rows) {
  for (int y = rows.rows.begin; y < rows.rows.end; ++y)
    std::memcpy(rows.row(y), image_.rows().row(next_++), rows.pitch);
}

const std::vector<std::unique_ptr<Session>>& all_sessions() {
  static const auto sessions = [] {
    std::vector<std::unique_ptr<Session>> started;
    for (const DeviceInfo& device : discover_devices())
      started.push_back(std::make_unique<Session>(device, std::nullopt));
    return started;
  }();
  return sessions;
}

const std::vector<Session*>& kernel_sessions() {
  static const auto disguised = [] {
    std::vector<std::unique_ptr<Session>> started;
    for (const auto& session : all_sessions()) {
      DeviceInfo device = session->device();
      if (device.kind != DeviceKind::cpu) continue;
      device.kind = DeviceKind::gpu;
      device.name += disguise;
      started.push_back(std::make_unique<Session>(device, std::nullopt));
    }
    return started;
  }();
  static const auto sessions = [] {
    std::vector<Session*> all;
    for (const auto& session : all_sessions())
      all.push_back(session.get());
    for (const auto& session : disguised)
      all.push_back(session.get());
    return all;
  }();
  return sessions;
}

std::vector<Session*> kernel_sessions(const PixelFormat& format) {
  const bool as_gpu = (format.channels + format.depth / 8) % 2 == 0;
  std::vector<Session*> sessions = kernel_sessions();
  std::erase_if(sessions, [as_gpu](const Session* session) {
    const DeviceInfo& device = session->device();
    return as_gpu ? device.kind == DeviceKind::cpu : device.name.ends_with(disguise);
  });
  return sessions;
}

LoweredChain lowered(const StageChain& chain, const PixelFormat& format, const Metadata& metadata) {
  return lower_chain(
      chain, {.shape = {{640, 480}, format}, .metadata = std::make_shared<Metadata>(metadata)});
}

PictureShape result_of(const std::shared_ptr<const Stage>& stage, const PictureShape& input) {
  return output_of(lower_chain({stage}, {.shape = input}), input);
}

bool changes_nothing(const std::shared_ptr<const Stage>& stage, const PictureShape& input) {
  const Steps steps = stage->lower({.shape = input}).steps;
  return steps.at(0)->properties({input}).changes_nothing;
}

Image filter_on_device(Session& session, const Image& image, const StageChain& chain,
                       PlanLimits limits, bool fuse) {
  return filter_on_device(
      session, image, lower_chain(chain, {.shape = {image.size(), image.format()}}), limits, fuse);
}

Image filter_on_device(Session& session, const Image& image, const LoweredChain& chain,
                       PlanLimits limits, bool fuse) {
  limits.device = &session.device();
  const Plan plan = make_plan({image.size(), image.format()}, chain, limits);
  Timeline timeline;
  const auto executor = make_device_executor(plan, session, timeline, fuse);
  static_cast<void>(run_bands(inverted(image), plan, *executor));
  return run_bands(image, plan, *executor);
}

Image filter_on_host(const Image& image, const StageChain& chain, const PlanLimits& limits) {
  return filter_on_host(image, lower_chain(chain, {.shape = {image.size(), image.format()}}),
                        limits);
}

Image filter_on_host(const Image& image, const LoweredChain& chain, const PlanLimits& limits) {
  const Plan plan = make_plan({image.size(), image.format()}, chain, limits);
  Timeline timeline;
  return run_bands(image, plan, *make_host_executor(plan, &timeline));
}

Image by_statistics(const Image& image, const std::shared_ptr<const Stage>& stage) {
  LoweredChain chain = lowered({stage}, image.format());
  PictureStatistics statistics =
      no_statistics(image.format(), chain.at(0).demand.value().statistics.value());
  add_pixels(statistics, image.rows());
  meet_demand(chain, 0, statistics);
  return filter_on_host(image, chain, {});
}

Image stage_by_stage(const Image& image, const StageChain& chain) {
  Image result = copy_of(image);
  for (const auto& stage : chain)
    result = filter_on_host(result, {stage}, {});
  return result;
}

}  // namespace gpufilter::test
