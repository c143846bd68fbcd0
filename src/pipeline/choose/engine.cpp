#include "pipeline/choose/engine.hpp"

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/machine_memory.hpp"
#include "base/threads.hpp"
#include "base/timeline.hpp"
#include "device/device_error.hpp"
#include "pipeline/execute/device_decoding.hpp"

namespace gpufilter {
namespace {

// The size of a band's buffer. On a processor, the buffers of a pass together fit in its caches. A
// GPU needs enough work per launch to hide the launch cost, but encoding waits for the first band.
constexpr std::uint64_t cpu_target_buffer = std::uint64_t{1} << 20U;
constexpr std::uint64_t gpu_target_buffer = std::uint64_t{8} << 20U;

// Bytes, besides the bands', that decoding a picture may take on a device: a small share of its
// memory, because many pictures are decoded at the same time.
std::uint64_t memory_for_decoding(const DeviceInfo& device) {
  constexpr std::uint64_t shared = std::uint64_t{64} << 20U;
  constexpr std::uint64_t enough = std::uint64_t{512} << 20U;
  return device.unified_memory ? shared : std::clamp(device.global_memory / 64, shared, enough);
}

bool is_copy(const Work& work) {
  return work.chain.empty() && !work.measure;
}

std::string name_of(const DeviceCandidate& candidate) {
  return candidate.device ? candidate.device->name : "processor";
}

// `of_work`: why the work goes to this engine, the first part of the reason; empty: no reason.
EngineReport report_on(const DeviceCandidate& candidate, const std::string& of_work) {
  EngineReport report;
  report.device = name_of(candidate);
  report.kind = processor_kind;
  report.share = candidate.share;
  report.reason = candidate.reason;
  if (!of_work.empty())
    report.reason = candidate.share.empty() ? of_work : of_work + "; " + candidate.share;
  if (!candidate.device) return report;
  report.kind = to_string(candidate.device->kind);
  report.platform = candidate.device->platform_version;
  report.driver = candidate.device->driver_version;
  return report;
}

// Bytes that steps may take besides the rows of bands. Other programs, and other bands, need memory
// too; on processors larger blocks than this would not stay in any cache.
std::uint64_t memory_for_steps(const DeviceInfo* device) {
  if (device == nullptr) return machine_memory() / 2;
  constexpr std::uint64_t on_processors = std::uint64_t{512} << 20U;
  return device->kind == DeviceKind::gpu ? device->global_memory / 4
                                         : std::min(device->global_memory / 4, on_processors);
}

// `device`: nullptr for the processor.
PlanLimits limits_for(const Work& work, const DeviceInfo* device, const EngineOptions& options) {
  PlanLimits limits;
  limits.target_buffer = cpu_target_buffer;
  limits.max_memory = work.max_memory;
  limits.device = device;
  limits.band_rows = options.band_rows;
  if (!options.limits_steps) limits.step_memory = memory_for_steps(device);
  if (device == nullptr) return limits;
  const bool is_gpu = device->kind == DeviceKind::gpu;
  if (is_gpu) limits.target_buffer = gpu_target_buffer;
  if (is_gpu || work.any_device_codes) limits.coding = work.coding;
  limits.max_buffer =
      device->max_allocation - std::min<std::uint64_t>(device->max_allocation, row_slack);
  return limits;
}

// How often bands are halved for want of memory before the device is left.
constexpr int most_halvings = 4;

// Adds the plan and the executor for the session, with bands that are halved so often.
void complete(Prepared& prepared, const Work& work, const EngineOptions& options, int halvings,
              Timeline& timeline) {
  const DeviceInfo* device = prepared.session ? &prepared.session->device() : nullptr;
  const PlanLimits limits = limits_for(work, device, options);
  const bool is_gpu = device != nullptr && device->kind == DeviceKind::gpu;
  const JpegScan* scan =
      is_gpu || (device != nullptr && work.any_device_decodes) ? work.scan : nullptr;
  std::uint64_t extra = 0;
  if (scan != nullptr) {
    extra = std::min(work.decoder_memory, memory_for_decoding(*device));
    PlanLimits decoding = limits;
    decoding.max_memory += extra;
    // Only compressed bytes come and go: the picture is done before bands could overlap.
    if (is_gpu && limits.coding) {
      decoding.target_buffer = UINT64_MAX;
      decoding.bands = 1;
    }
    prepared.plan = plan_for_decoding(work.input, work.chain, *scan, decoding);
  }
  if (!prepared.plan) {
    scan = nullptr;
    prepared.plan = std::make_unique<Plan>(make_plan(work.input, work.chain, limits));
  }
  if (halvings > 0) {
    PlanLimits lower = limits;
    lower.band_rows = std::max(prepared.plan->band_rows >> halvings, 1);
    scan = nullptr;
    prepared.plan = std::make_unique<Plan>(make_plan(work.input, work.chain, lower));
  }
  prepared.plan->measure = work.measure;
  if (device == nullptr) {
    if (is_copy(work)) return;
    prepared.executor = make_host_executor(*prepared.plan, work.is_divided ? nullptr : &timeline);
    return;
  }
  prepared.executor =
      make_device_executor(*prepared.plan, *prepared.session, timeline, options.fuse, scan);
  if (prepared.executor->decodes()) prepared.decoder = {JpegData::memory_of(*scan), extra};
}

}  // namespace

std::shared_ptr<Session> start_session(const DeviceInfo& device, const EngineOptions& options) {
  auto session = std::make_shared<Session>(device, options.cache);
  if (options.tuning) session->set_tuning(tuning_for(device, options.tuning));
  return session;
}

Engine::Engine(DeviceCandidates candidates, EngineOptions options)
    : options_(std::move(options)),
      candidates_(std::move(candidates)),
      start_(start_on_thread([this] { start(); }).share()) {}

Engine::Engine(std::vector<DeviceCandidate> candidates, EngineOptions options)
    : options_(std::move(options)), candidate_(candidates.front()) {
  candidates_ = [all = std::move(candidates)](std::size_t place) {
    return place < all.size() ? std::optional(all[place]) : std::nullopt;
  };
  if (candidate_->device) start_ = start_on_thread([this] { start(); }).share();
}

void Engine::start() {
  Timeline timeline;
  {
    const ScopedSpan span(timeline, {.activity = Activity::find_devices});
    candidate_ = candidates_(0);
  }
  log::debug(formatted("device tried first: {} ({})", name_of(*candidate_), candidate_->reason));
  try {
    if (candidate_->device) start_session_on(*candidate_->device, timeline);
  } catch (const DeviceError&) {
    // The first picture tries again, and skips the device with a warning.
  }
  start_spans_ = timeline.spans();
}

void Engine::start_session_on(const DeviceInfo& device, Timeline& timeline) {
  const ScopedSpan span(timeline, {.activity = Activity::start_device});
  const Nanoseconds begin = now();
  session_ = start_session(device, options_);
  log::debug(formatted("{}: started in {:.1f} ms", device.name, milliseconds(now() - begin)));
}

bool Engine::is_ready() const {
  return !start_.valid() || start_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
}

void Engine::await_choice() const {
  if (start_.valid()) start_.get();
}

Prepared Engine::prepare(const Work& work, Timeline& timeline) {
  for (;;) {
    Attempt attempt;
    const auto retry = [&](bool (Engine::*next)(const std::string&), const DeviceError& error) {
      const std::lock_guard lock(mutex_);
      timeline.clear_passes();
      return attempt != Attempt{place_, halvings_} || (this->*next)(error.what());
    };
    try {
      Prepared prepared = begin(work, timeline, attempt);
      // Not locked: pictures go side by side.
      complete(prepared, work, options_, attempt.halvings, timeline);
      return prepared;
    } catch (const OutOfDeviceMemory& error) {
      if (!retry(&Engine::lower_bands, error)) throw;
    } catch (const DeviceError& error) {
      if (!retry(&Engine::leave_current, error)) throw;
    }
  }
}

// The report and the session of the current candidate, which `attempt` describes.
Prepared Engine::begin(const Work& work, Timeline& timeline, Attempt& attempt) {
  const std::lock_guard lock(mutex_);
  await_choice();
  for (const Span& span : std::exchange(start_spans_, {}))
    timeline.add(span);
  attempt = {place_, halvings_};
  Prepared prepared;
  if (is_copy(work)) {
    prepared.report.reason = "no stage to run";
  } else {
    prepared.report = report_on(*candidate_, place_ == 0 ? work.reason : "");
    if (candidate_->device && !session_) start_session_on(*candidate_->device, timeline);
    prepared.session = session_;
  }
  prepared.report.fallbacks = fallbacks_;
  return prepared;
}

bool Engine::leave(const Session& failed, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  return session_.get() != &failed || leave_current(reason);
}

bool Engine::replace_by_processor(const Session& failed, const DeviceError& failure) {
  const std::lock_guard lock(mutex_);
  if (!options_.processor_helps) return false;
  if (session_.get() != &failed) return true;
  const bool lacks_memory = dynamic_cast<const OutOfDeviceMemory*>(&failure) != nullptr;
  return lacks_memory ? lower_bands(failure.what()) : leave_current(failure.what());
}

Plan Engine::plan_on_processor(const Work& work) const {
  Plan plan = make_plan(work.input, work.chain, limits_for(work, nullptr, options_));
  plan.measure = work.measure;
  return plan;
}

// Halves the bands of the current device; leaves it after a few times, as leave_current() does.
bool Engine::lower_bands(const std::string& reason) {
  if (halvings_ == most_halvings) return leave_current(reason);
  ++halvings_;
  log::warn_of_fallback(formatted("{}; going on with lower bands", reason));
  return true;
}

// False if no candidate is left.
bool Engine::leave_current(const std::string& reason) {
  auto next = candidates_(place_ + 1);
  if (!next) return false;
  ++place_;
  candidate_ = std::move(next);
  halvings_ = 0;
  session_.reset();
  fallbacks_.push_back(reason);
  log::warn_of_fallback(formatted("{}; falling back to {}", reason, name_of(*candidate_)));
  return true;
}

std::shared_ptr<void> Engine::acquire_slot() {
  await_choice();
  if (is_on_processor()) return nullptr;
  slots_.acquire();
  return {this, [](Engine* engine) { engine->slots_.release(); }};
}

void Engine::keep_programs() {
  if (!is_ready()) return;
  const std::shared_ptr<Session> session = [this] {
    const std::lock_guard lock(mutex_);
    return session_;
  }();
  if (session) session->keep_programs();
}

bool Engine::is_on_processor() {
  const std::lock_guard lock(mutex_);
  return !candidate_ || !candidate_->device;
}

}  // namespace gpufilter
