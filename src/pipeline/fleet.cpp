#include "pipeline/fleet.hpp"

#include <algorithm>
#include <chrono>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/thread_limit.hpp"
#include "base/thread_room.hpp"
#include "base/time_units.hpp"
#include "pipeline/run.hpp"

namespace gpufilter {
namespace {

// A device has to finish clearly sooner: estimates are rough, and a process with a driver takes
// longer to exit.
constexpr double clearly = 0.85;
constexpr double clearly_in_folder = 0.8;
// Pictures that the processor filters slow down those that a device filters, which need the same
// cores and memory. So the processor has to finish one this much sooner than the device, and an
// idle one does not help a device that is faster by more than this.
constexpr double handicap = 3;
constexpr double driver_exit = 0.05;  // seconds

std::string text_of(double seconds) {
  if (seconds < 1e-4) return "under 0.1 ms";
  return seconds < 0.01 ? formatted("{:.1f} ms", seconds * 1e3)
                        : formatted("{:.0f} ms", seconds * 1e3);
}

}  // namespace

// ---- Fleet ----

Fleet::Fleet(FleetOptions options) : options_(std::move(options)) {
  members_.push_back(
      {std::make_unique<Engine>(std::vector{processor("the processor")}, options_.engine), true, 0,
       0});
}

Fleet::Fleet(FleetOptions options, std::unique_ptr<Engine> only) : options_(std::move(options)) {
  members_.push_back({std::move(only), false, now(), 0});
}

double Fleet::threads() {
  return static_cast<double>(allowed_threads());
}

Fleet::Member& Fleet::add_device(std::unique_ptr<Engine> engine) {
  members_.push_back({std::move(engine), false, now(), 0});
  return members_.back();
}

void Fleet::expect_folder(std::uint64_t file_bytes) {
  const std::lock_guard lock(mutex_);
  folder_bytes_ = file_bytes;
}

double Fleet::pictures_left(const PictureTask& task) const {
  if (!folder_bytes_ || task.file_bytes == 0) return 1;
  return std::max(static_cast<double>(*folder_bytes_) / static_cast<double>(task.file_bytes), 1.0);
}

void Fleet::count(const PictureTask& task) {
  if (folder_bytes_) *folder_bytes_ -= std::min(*folder_bytes_, task.file_bytes);
}

double Fleet::start_left(const Member& member) const {
  if (member.engine->is_ready()) return 0;
  return std::max(options_.rates.rates().on_device(start_rate) - seconds(now() - member.begun),
                  0.0);
}

// What the processor does for a picture whoever filters it does not count.
double Fleet::work_of(const Member& member, const TaskTimes& times) {
  return member.is_host ? work_on_host(times) - work_beside_device(times) : work_on_device(times);
}

Fleet::Member& Fleet::first_to_end(const TaskTimes& times) {
  const auto end = [&](const Member& member) {
    const double work = member.backlog + work_of(member, times);
    return member.is_host ? handicap * work / threads() : start_left(member) + times.compile + work;
  };
  return *std::min_element(members_.begin(), members_.end(),
                           [&](const Member& a, const Member& b) { return end(a) < end(b); });
}

Assignment Fleet::assign_to(Member& member, const TaskTimes& times, std::string reason) {
  log::debug(formatted(
      "estimates: decode {}, encode {}, filter {}, each on one thread; filter on the GPU {}, "
      "programs for it {}",
      text_of(times.decode), text_of(times.encode), text_of(times.host_filter),
      text_of(times.device_filter), text_of(times.compile)));
  const double work = work_of(member, times);
  member.backlog += work;
  const auto give_back = [this, &member, work](void*) {
    const std::lock_guard lock(mutex_);
    member.backlog = std::max(member.backlog - work, 0.0);
  };
  return {member.engine.get(), std::move(reason), std::shared_ptr<void>(nullptr, give_back)};
}

Fleet::Estimates Fleet::estimates(const PictureTask& task, const TaskTimes& times,
                                  const Member* device) const {
  Estimates all;
  all.start = device != nullptr ? start_left(*device)
                                : options_.rates.rates().on_device(start_rate) + driver_exit;
  all.compile = times.compile;
  const double until_ready = all.start + all.compile;
  const double pictures = pictures_left(task);
  if (pictures > 1) {
    all.host = folder_time_on_host(times, pictures, threads());
    all.device = folder_time_with_device(times, pictures, threads(), until_ready);
  } else {
    all.host = time_on_host(times, task.parallel_encoding, threads());
    all.device = time_on_device(times, task.parallel_encoding, threads(), until_ready);
  }
  return all;
}

std::string Fleet::phrase(const Estimates& estimates, const Member& chosen) const {
  const std::string host = text_of(estimates.host);
  if (!options_.rates.may_have_gpu()) return formatted("{} estimated; no GPU found", host);
  const std::string name = options_.rates.gpu_name();
  const std::string device = text_of(estimates.device);
  std::string start =
      estimates.start > 0 ? formatted(" including {} to start", text_of(estimates.start)) : "";
  if (estimates.compile > 0) {
    start += formatted("{} {} to compile", start.empty() ? " including" : " and",
                       text_of(estimates.compile));
  }
  return chosen.is_host ? formatted("{} estimated; {} {}{}", host, name, device, start)
                        : formatted("{} estimated{}; the processor {}", device, start, host);
}

void Fleet::completed(const PictureTask& task, const RunReport& report) {
  const bool folder = [this] {
    const std::lock_guard lock(mutex_);
    return in_folder();
  }();
  options_.rates.learn(task, report, folder);
}

// Engines stay where they are, and may be waited for without the lock.
std::vector<Engine*> Fleet::engines() const {
  const std::lock_guard lock(mutex_);
  std::vector<Engine*> found;
  for (const Member& member : members_)
    found.push_back(member.engine.get());
  return found;
}

void Fleet::conclude() {
  for (Engine* engine : engines()) {
    if (engine->is_ready()) engine->keep_programs();
  }
  options_.rates.save();
}

void Fleet::await_starts() noexcept {
  for (const Engine* engine : engines())
    engine->await_start();
}

// ---- SoleMember ----

Assignment SoleMember::assign(const PictureTask& /*task*/) {
  const std::lock_guard lock(mutex_);
  return {first().engine.get(), {}, nullptr};
}

void SoleMember::await_choice() {
  for (const Engine* engine : engines())
    engine->await_choice();
}

// ---- FastestFleet ----

FastestFleet::FastestFleet(FleetOptions options, MakeEngine make_engine)
    : Fleet(std::move(options)), make_engine_(std::move(make_engine)) {}

Assignment FastestFleet::assign(const PictureTask& task) {
  const std::lock_guard lock(mutex_);
  const TaskTimes times = options_.rates.times(task);
  const Estimates all = estimates(task, times, device_);
  const bool pays = options_.rates.may_have_gpu() &&
                    all.device < (in_folder() ? clearly_in_folder : clearly) * all.host;
  if (pays && device_ == nullptr) device_ = &add_device(make_engine_());
  count(task);
  if (pays && !in_folder()) return assign_to(*device_, times, phrase(all, *device_));
  Member& chosen = idle_processor_takes(times, all) ? first() : first_to_end(times);
  return assign_to(chosen, times, phrase(all, chosen));
}

// Whether the processor has no picture and takes this one: while the GPU starts, unless that would
// keep it until the end, and afterwards beside a GPU that is not much faster.
bool FastestFleet::idle_processor_takes(const TaskTimes& times, const Estimates& all) {
  const double work = work_of(first(), times) / threads();
  if (first().backlog > 0 || work >= all.device / 2) return false;
  return device_ == nullptr || !device_->engine->is_ready() ||
         work < handicap * work_of(*device_, times);
}

void FastestFleet::conclude() {
  // The engine of the GPU ended up on the processor, so there is no need to search again.
  Engine* const device = [this] {
    const std::lock_guard lock(mutex_);
    return device_ == nullptr ? nullptr : device_->engine.get();
  }();
  if (device != nullptr && device->is_ready() && device->is_on_processor())
    options_.rates.keep_without_gpu();
  Fleet::conclude();
}

// ---- WholeFleet ----

WholeFleet::WholeFleet(FleetOptions options, Find find, bool require_device)
    : Fleet(std::move(options)),
      require_device_(require_device),
      found_(start_on_thread(std::move(find)).share()) {}

WholeFleet::~WholeFleet() = default;

// Called with the lock, once the GPUs are found: creates an engine for each, with the processor as
// a fallback.
void WholeFleet::join() {
  if (joined_) return;
  const std::vector<DeviceInfo>& devices = found_.get();
  if (devices.empty()) {
    const std::string reason = "--device all: no GPU found";
    if (require_device_) throw DeviceError(reason);
    log::warn_of_fallback(reason + "; the processor does the work");
  }
  joined_ = true;
  for (const DeviceInfo& device : devices) {
    add_device(std::make_unique<Engine>(
        [device] {
          return DeviceCandidates({{device, "one of all devices"}, processor("the GPU failed")});
        },
        options_.engine));
  }
}

void WholeFleet::await_choice() {
  found_.wait();
  const std::lock_guard lock(mutex_);
  join();
}

// The processor begins at once; the next picture waits until the GPUs are known.
bool WholeFleet::has_to_wait() {
  const std::lock_guard lock(mutex_);
  return !in_folder() || first().backlog > 0;
}

Assignment WholeFleet::assign(const PictureTask& task) {
  // Without the lock: finished pictures give their share back meanwhile.
  if (has_to_wait()) found_.wait();
  const bool found = found_.wait_for(std::chrono::seconds(0)) == std::future_status::ready;
  const std::lock_guard lock(mutex_);
  if (found) join();
  assigned_ = true;
  count(task);
  const TaskTimes times = options_.rates.times(task);
  if (!in_folder() && members_.size() > 1) {
    Member& first_gpu = *std::next(members_.begin());
    const Estimates all = estimates(task, times, &first_gpu);
    Member& chosen = all.device < all.host ? first_gpu : first();
    return assign_to(chosen, times, phrase(all, chosen));
  }
  return assign_to(first_to_end(times), times, "one of all devices");
}

// Small pictures may all be done before it is known that there is no GPU: the warning comes then.
void WholeFleet::await_starts() noexcept {
  found_.wait();
  try {
    const std::lock_guard lock(mutex_);
    if (assigned_) join();
  } catch (const std::exception& error) {
    log::warn_of_fallback(formatted("{}; the processor did the work", error.what()));
  }
  Fleet::await_starts();
}

}  // namespace gpufilter
