#include "lab/tune/rate_measurement.hpp"

#include <algorithm>

#include "lab/random_data.hpp"
#include "lab/tune/tune_subject.hpp"
#include "pipeline/run/memory_picture.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter::lab {
namespace {

constexpr std::size_t bytes_for_gpu = std::size_t{256} << 20U;
constexpr std::size_t bytes_for_cpu = std::size_t{32} << 20U;  // larger than its caches
constexpr int copies = 5;
// Large enough for MachineRates to trust its times.
constexpr ImageSize size_for_processor{1280, 960};

EngineReport report_of(const Session* session) {
  EngineReport report;
  report.device = session != nullptr ? session->device().name : "processor";
  report.kind = session != nullptr ? to_string(session->device().kind) : processor_kind;
  if (session != nullptr) report.driver = session->device().driver_version;
  return report;
}

}  // namespace

void measure_stage(MachineRates& rates, Session* session, const std::shared_ptr<const Stage>& stage,
                   const PixelFormat& format) {
  const ImageSize size = session != nullptr ? timing_size(session->device()) : size_for_processor;
  const Image picture = random_picture(size, format);
  const StageChain chain{measured_stage(stage, format)};
  RunReport report;
  for (int run = 0; run < 2; ++run) {  // the first is a warm-up
    Timeline timeline;
    PlanLimits limits{.band_rows = INT32_MAX};
    if (session != nullptr) limits.device = &session->device();
    static_cast<void>(filter_in_memory(picture, chain, limits, [&](const Plan& plan) {
      auto executor = session != nullptr ? make_device_executor(plan, *session, timeline)
                                         : make_host_executor(plan, timeline);
      report.passes = executor->passes();
      return executor;
    }));
    report.spans = timeline.spans();
  }
  report.engine = report_of(session);
  PictureTask task;
  task.shape = {size, format};
  rates.learn(task, report, false);
}

void measure_copy(RateStore& store, Session& session) {
  const DeviceInfo& device = session.device();
  const std::size_t wanted = device.kind == DeviceKind::gpu ? bytes_for_gpu : bytes_for_cpu;
  const auto bytes = static_cast<std::size_t>(
      std::min<std::uint64_t>(wanted, std::max<std::uint64_t>(device.global_memory / 8, 1)));
  const Buffer from = session.allocate(bytes);
  const Buffer to = session.allocate(bytes);
  Queue queue = session.make_queue();
  Nanoseconds fastest = 0;
  for (int i = 0; i < copies; ++i) {
    const Event event = queue.copy(from, to, bytes);
    queue.finish();
    const Nanoseconds duration = event.times().duration;
    if (fastest == 0 || duration < fastest) fastest = duration;
  }
  store.learn(tuning_place(device), copy_rate.kind,
              static_cast<double>(fastest) / 1e9 / (2 * static_cast<double>(bytes)));
}

}  // namespace gpufilter::lab
