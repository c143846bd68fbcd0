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

// Bytes, besides the bands', that decoding a picture may take on a device: little of its memory, as
// many pictures are decoded at the same time.
std::uint64_t memory_for_decoding(const DeviceInfo& device) {
  constexpr std::uint64_t shared = std::uint64_t{64} << 20U;
  constexpr std::uint64_t enough = std::uint64_t{512} << 20U;
  return device.unified_memory ? shared : std::clamp(device.global_memory / 64, shared, enough);
}

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
  for (;;) {
    Prepared prepared = start_current(work, timeline);
    try {
      prepare_on(prepared, work, timeline);
      return prepared;
    } catch (const DeviceError& error) {
      if (prepared.session == nullptr || !leave(*prepared.session, error.what())) throw;
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

// The session of the first candidate that starts, with the report on it.
Prepared Engine::start_current(const Work& work, Timeline& timeline) {
  const std::lock_guard lock(mutex_);
  await_choice();
  report_start(timeline);
  if (work.chain.empty() && !work.measure) {
    report_.reason = "no stage to run";
    return {report_, nullptr, nullptr, nullptr};
  }
  for (;;) {
    const DeviceCandidate candidate = *candidates_.at(current_);
    report_.device = name_of(candidate);
    report_.reason = reason_for(candidate, current_ == 0 ? work.reason : "");
    report_.share = candidate.share;
    if (!candidate.device) {
      report_.kind = processor_kind;
      report_.platform.clear();  // of a device that was left out
      report_.driver.clear();
      return {report_, nullptr, nullptr, nullptr};
    }
    report_.kind = to_string(candidate.device->kind);
    report_.platform = candidate.device->platform_version;
    report_.driver = candidate.device->driver_version;
    try {
      if (!session_) start_device(*candidate.device, timeline);
      return {report_, session_, nullptr, nullptr};
    } catch (const DeviceError& error) {
      if (!leave_current(error.what())) throw;
      timeline.clear_passes();
    }
  }
}

// Not locked: pictures are prepared side by side.
void Engine::prepare_on(Prepared& prepared, const Work& work, Timeline& timeline) const {
  if (!prepared.session) {
    prepared.plan = plan(work, nullptr);
    if (!work.chain.empty() || work.measure)
      prepared.executor = make_host_executor(*prepared.plan, timeline);
    return;
  }
  const DeviceInfo& device = prepared.session->device();
  const std::uint64_t extra = std::min(work.decoder_memory, memory_for_decoding(device));
  prepared.plan = plan_for_decoding(work, device, extra);
  const JpegScan* scan = prepared.plan ? work.scan : nullptr;
  if (!prepared.plan) {
    Work decoded = work;
    decoded.scan = nullptr;
    prepared.plan = plan(decoded, &device);
  }
  prepared.executor =
      make_device_executor(*prepared.plan, *prepared.session, timeline, options_.fuse, scan);
  if (!prepared.executor->decodes()) return;
  prepared.decoder = {JpegData::memory_of(*scan), extra};
}

std::unique_ptr<Plan> Engine::plan(const Work& work, const DeviceInfo* device) const {
  auto plan = std::make_unique<Plan>(make_plan(work.input, work.chain, limits(work, device)));
  plan->measure = work.measure;
  return plan;
}

// With the memory of the decoder; nothing if the device is not to decode the picture, or has not
// enough memory for that.
std::unique_ptr<Plan> Engine::plan_for_decoding(const Work& work, const DeviceInfo& device,
                                                std::uint64_t extra_memory) const {
  const bool is_asked = work.any_device_decodes || device.kind == DeviceKind::gpu;
  if (work.scan == nullptr || !is_asked || !JpegData::can_index(*work.scan)) return nullptr;
  const std::uint64_t memory = memory_beside_decoding(*work.scan, work.max_memory + extra_memory);
  // Coefficients and samples take at most three quarters of what a band takes otherwise.
  Work smaller = work;
  smaller.max_memory = memory / 7 * 4;
  if (smaller.max_memory == 0) return nullptr;
  auto planned = plan(smaller, &device);
  const std::uint64_t decoder = JpegRows::memory_of(*work.scan, max_source_rows(*planned));
  planned->scratch += decoder;
  const bool fits = planned->band_memory(planned->band_rows) <= memory &&
                    decoder <= limits(work, &device).max_buffer && !planned->reads_past_edges();
  // The device decodes for itself: the first stage may not be one of the processor.
  const bool begins_on_device =
      planned->passes.empty() || planned->passes.front().stage->processor_only().empty();
  return fits && begins_on_device ? std::move(planned) : nullptr;
}

PlanLimits Engine::limits(const Work& work, const DeviceInfo* device) const {
  PlanLimits limits;
  const bool is_gpu = device != nullptr && device->kind == DeviceKind::gpu;
  limits.target_buffer = is_gpu ? gpu_target_buffer : cpu_target_buffer;
  limits.max_buffer = options_.max_buffer.value_or(
      device != nullptr
          ? device->max_allocation - std::min<std::uint64_t>(device->max_allocation, row_slack)
          : UINT64_MAX);
  limits.max_memory = work.max_memory;
  limits.device = device;
  limits.band_rows = options_.band_rows;
  if (device != nullptr && (is_gpu || work.any_device_codes)) limits.coding = work.coding;
  // Only compressed bytes come and go: the picture is done before bands could overlap.
  if (is_gpu && work.scan != nullptr && limits.coding) {
    limits.target_buffer = UINT64_MAX;
    limits.bands = 1;
  }
  return limits;
}

std::shared_ptr<void> Engine::take_turn() {
  await_start();
  if (is_on_processor()) return nullptr;
  turns_.acquire();
  return {this, [](Engine* engine) { engine->turns_.release(); }};
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
