#include "pipeline/engine.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/thread_room.hpp"
#include "pipeline/device_decoding.hpp"

namespace gpufilter {
namespace {

// The size of a band's buffer. On a processor, the buffers of a pass together fit in its caches. A
// GPU needs enough work per launch to hide the launch cost, but encoding waits for the first band.
constexpr std::uint64_t cpu_target_buffer = std::uint64_t{1} << 20U;
constexpr std::uint64_t gpu_target_buffer = std::uint64_t{8} << 20U;

std::string name_of(const DeviceCandidate& candidate) {
  return candidate.device ? candidate.device->name : "processor";
}

// The reason for choosing this engine comes first.
std::string reason_for(const DeviceCandidate& candidate, const std::string& of_work) {
  if (of_work.empty()) return candidate.reason;
  return candidate.share.empty() ? of_work : of_work + "; " + candidate.share;
}

}  // namespace

std::shared_ptr<Session> start_session(const DeviceInfo& device, const EngineOptions& options) {
  auto session = std::make_shared<Session>(device, options.cache);
  if (options.tuning) session->set_tuning(tuning_for(device, options.tuning));
  return session;
}

Engine::Engine(Choose choose, EngineOptions options)
    : options_(std::move(options)),
      candidates_(std::vector<DeviceCandidate>{}),
      start_(start_on_thread([this, choose = std::move(choose)] { start(choose); }).share()) {}

void Engine::start(const Choose& choose) {
  {
    const ScopedSpan span(start_spans_, {.activity = Activity::find_devices});
    candidates_ = choose();
  }
  log::debug(formatted("device tried first: {} ({})", name_of(*candidates_.at(0)),
                       candidates_.at(0)->reason));
  const auto device = candidates_.at(0)->device;
  if (!device) return;
  try {
    start_device(*device, start_spans_);
  } catch (const DeviceError&) {
    // The first picture tries again, and skips the device with a warning.
  }
}

void Engine::start_device(const DeviceInfo& device, Timeline& timeline) {
  const ScopedSpan span(timeline, {.activity = Activity::start_device});
  const Nanoseconds begin = now();
  session_ = start_session(device, options_);
  log::debug(
      formatted("{}: started in {:.1f} ms", device.name, static_cast<double>(now() - begin) / 1e6));
}

bool Engine::is_ready() const {
  return !start_.valid() || start_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

void Engine::await_start() const noexcept {
  if (start_.valid()) start_.wait();
}

void Engine::await_choice() const {
  if (start_.valid()) start_.get();
}

// The time of the start counts for the first picture.
void Engine::report_start(Timeline& timeline) {
  if (std::exchange(start_reported_, true)) return;
  for (const Span& span : start_spans_.spans())
    timeline.add(span);
}

Prepared Engine::prepare(const Work& work, Timeline& timeline) {
  const std::lock_guard lock(mutex_);
  await_choice();
  report_start(timeline);
  if (work.chain.empty() && !work.measure) {
    report_.reason = "no stage to run";
    return {report_, nullptr, plan(work), nullptr};
  }
  for (;;) {
    try {
      return prepare_on_current(work, timeline);
    } catch (const DeviceError& error) {
      if (!leave_current(error.what())) throw;
      timeline.clear_passes();
    }
  }
}

bool Engine::leave(const Session& failed, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  return session_.get() != &failed || leave_current(reason);
}

// False if no candidate is left.
bool Engine::leave_current(const std::string& reason) {
  const DeviceCandidate* next = candidates_.at(current_ + 1);
  if (next == nullptr) return false;
  ++current_;
  session_.reset();
  report_.fallbacks.push_back(reason);
  log::warn_of_fallback(formatted("{}; falling back to {}", reason, name_of(*next)));
  return true;
}

Prepared Engine::prepare_on_current(const Work& work, Timeline& timeline) {
  const DeviceCandidate candidate = *candidates_.at(current_);
  report_.device = name_of(candidate);
  report_.reason = reason_for(candidate, current_ == 0 ? work.reason : "");
  report_.share = candidate.share;
  Prepared prepared;
  if (!candidate.device) {
    report_.kind = processor_kind;
    report_.platform.clear();  // of a device that was left out
    report_.driver.clear();
    prepared.plan = plan(work);
    prepared.executor = make_host_executor(*prepared.plan, timeline);
    prepared.report = report_;
    return prepared;
  }
  report_.kind = to_string(candidate.device->kind);
  report_.platform = candidate.device->platform_version;
  report_.driver = candidate.device->driver_version;
  if (!session_) start_device(*candidate.device, timeline);
  prepared.session = session_;
  prepared.plan = plan_for_decoding(work, *candidate.device);
  const JpegScan* scan = prepared.plan ? work.scan : nullptr;
  if (!prepared.plan) prepared.plan = plan(work);
  prepared.executor =
      make_device_executor(*prepared.plan, *session_, timeline, options_.fuse, scan);
  if (prepared.executor->decodes()) prepared.decoder_memory = JpegData::memory_of(*scan);
  prepared.report = report_;
  return prepared;
}

std::unique_ptr<Plan> Engine::plan(const Work& work) {
  auto plan = std::make_unique<Plan>(make_plan(work.input, work.chain, limits(work)));
  plan->measure = work.measure;
  return plan;
}

// With the memory of the decoder; nothing if the device is not to decode the picture, or has not
// enough memory for that.
std::unique_ptr<Plan> Engine::plan_for_decoding(const Work& work, const DeviceInfo& device) {
  const bool is_asked = work.any_device_decodes || device.kind == DeviceKind::gpu;
  if (work.scan == nullptr || !is_asked || !JpegData::can_index(*work.scan)) return nullptr;
  const std::uint64_t memory =
      memory_beside_decoding(*work.scan, work.max_memory + work.decoder_memory);
  // Coefficients and samples take at most three quarters of what a band takes otherwise.
  Work smaller = work;
  smaller.max_memory = memory / 7 * 4;
  if (smaller.max_memory == 0) return nullptr;
  auto planned = plan(smaller);
  const std::uint64_t decoder = JpegRows::memory_of(*work.scan, max_source_rows(*planned));
  planned->scratch += decoder;
  const bool fits = planned->band_memory(planned->band_rows) <= memory &&
                    decoder <= limits(work).max_buffer && !planned->reads_past_edges();
  // The device decodes for itself: the first stage may not be one of the processor.
  const bool begins_on_device =
      planned->passes.empty() || planned->passes.front().stage->processor_only().empty();
  return fits && begins_on_device ? std::move(planned) : nullptr;
}

PlanLimits Engine::limits(const Work& work) {
  const auto& device = candidates_.at(current_)->device;
  PlanLimits limits;
  limits.target_buffer =
      device && device->kind == DeviceKind::gpu ? gpu_target_buffer : cpu_target_buffer;
  limits.max_buffer = options_.max_buffer.value_or(
      device ? device->max_allocation - std::min<std::uint64_t>(device->max_allocation, row_slack)
             : UINT64_MAX);
  limits.max_memory = work.max_memory;
  limits.device = device ? &*device : nullptr;
  limits.band_rows = options_.band_rows;
  if (device && (device->kind == DeviceKind::gpu || work.any_device_codes))
    limits.coding = work.coding;
  return limits;
}

void Engine::keep_programs() {
  std::shared_ptr<Session> session;
  {
    const std::lock_guard lock(mutex_);
    await_start();
    session = session_;
  }
  if (session) session->keep_programs();
}

bool Engine::is_on_processor() {
  const std::lock_guard lock(mutex_);
  const DeviceCandidate* candidate = candidates_.at(current_);
  return candidate == nullptr || !candidate->device;
}

EngineReport Engine::report() const {
  const std::lock_guard lock(mutex_);
  return report_;
}

}  // namespace gpufilter
