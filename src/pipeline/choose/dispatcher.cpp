#include "pipeline/choose/dispatcher.hpp"

#include <algorithm>
#include <chrono>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/threads.hpp"
#include "base/timeline.hpp"
#include "device/opencl.hpp"
#include "device/pocl.hpp"
#include "device/stores.hpp"
#include "host/instruction_set.hpp"

namespace gpufilter {
namespace {

// A GPU has to finish clearly sooner: estimates are rough, and a process with a driver takes longer
// to exit.
constexpr double clearly = 0.85;
constexpr double clearly_in_folder = 0.8;
// Pictures that the processor filters slow down those that a GPU filters, which need the same
// cores and memory. So the processor has to finish one this much sooner than the GPU, and an idle
// one does not help a GPU that is faster by more than this.
constexpr double handicap = 3;
constexpr double driver_exit = 0.05;  // seconds

double threads() {
  return static_cast<double>(allowed_threads());
}

std::string text_of(double seconds) {
  if (seconds < 1e-4) return "under 0.1 ms";
  return seconds < 0.01 ? formatted("{:.1f} ms", seconds * 1e3)
                        : formatted("{:.0f} ms", seconds * 1e3);
}

}  // namespace

Dispatcher::Dispatcher(Engines engines, MachineRates rates, GpuSearch search)
    : rates_(std::move(rates)), search_(std::move(search)) {
  for (auto& engine : engines)
    members_.push_back({std::move(engine)});
  if (search_.at_once) found_ = start_on_thread(search_.find).share();
}

void Dispatcher::join(const Engines& gpus) {
  for (const auto& engine : gpus)
    members_.push_back({engine});
}

void Dispatcher::expect_folder(std::uint64_t file_bytes) {
  const std::lock_guard lock(mutex_);
  folder_bytes_ = file_bytes;
}

// Excludes the processor's share that is needed whichever device filters the picture.
double Dispatcher::work_of(const Member& member, const TaskTimes& times) const {
  return is_host(member) ? times.alone.all() - times.beside_gpu.all() : times.gpu;
}

double Dispatcher::start_left(const Member& member) const {
  if (member.engine->is_ready()) return 0;
  return std::max(rates_.rates().on_gpu(start_rate) - seconds(now() - member.begun), 0.0);
}

// With the first GPU; if there is none, with one whose start begins now.
Dispatcher::Estimates Dispatcher::estimates(const PictureTask& task, const TaskTimes& times) const {
  double pictures = 1;  // left that are like this one, including this one
  if (folder_bytes_ && task.file_bytes > 0) {
    pictures =
        std::max(static_cast<double>(*folder_bytes_) / static_cast<double>(task.file_bytes), 1.0);
  }
  const double start = members_.size() > 1 ? start_left(members_[1])
                                           : rates_.rates().on_gpu(start_rate) + driver_exit;
  return {time_on_host(times, pictures, threads()),
          time_with_gpu(times, pictures, threads(), start + times.compile), start};
}

// Whether the processor has no picture and takes this one: while the GPU starts, unless that would
// keep it until the end, and afterwards beside a GPU that is not much faster.
bool Dispatcher::idle_processor_takes(const TaskTimes& times, const Estimates& all) const {
  const double work = work_of(members_.front(), times) / threads();
  if (members_.front().backlog > 0 || work >= all.gpu / 2) return false;
  return members_.size() == 1 || !members_[1].engine->is_ready() ||
         work < handicap * work_of(members_[1], times);
}

// Whether this picture of a folder goes to the GPU for the sake of the others, of this run and of
// later ones: the GPU would pay if it had the programs for them, and has them before the processor
// alone would be done.
bool Dispatcher::compiles_for_others(const PictureTask& task, const TaskTimes& times,
                                     const Estimates& all) {
  if (!folder_bytes_ || times.compile == 0 || all.start + times.compile >= all.host) return false;
  TaskTimes compiled = times;
  compiled.compile = 0;
  return estimates(task, compiled).gpu < clearly_in_folder * all.host &&
         compiling_.insert(MachineRates::programs_for(task)).second;
}

Dispatcher::Member& Dispatcher::first_to_end(const TaskTimes& times) {
  const auto end = [&](const Member& member) {
    const double work = member.backlog + work_of(member, times);
    return is_host(member) ? handicap * work / threads()
                           : start_left(member) + times.compile + work;
  };
  return *std::min_element(members_.begin(), members_.end(),
                           [&](const Member& a, const Member& b) { return end(a) < end(b); });
}

Assignment Dispatcher::assign(const PictureTask& task) {
  if (search_.at_once) {
    // The processor begins a folder at once; the next picture waits until the GPUs are known.
    // Without the lock: finished pictures give their share back meanwhile.
    const bool begins = [this] {
      const std::lock_guard lock(mutex_);
      return folder_bytes_ && members_.front().backlog == 0;
    }();
    if (!begins || found_.wait_for(std::chrono::seconds(0)) == std::future_status::ready)
      await_choice();
  }
  const std::lock_guard lock(mutex_);
  if (!search_.find) return {members_[next_++ % members_.size()].engine.get(), {}, nullptr};
  const bool in_folder = folder_bytes_.has_value();
  const TaskTimes times = rates_.times(task);
  const Estimates all = estimates(task, times);
  const bool may_have_gpu = rates_.may_have_gpu();
  const bool pays = may_have_gpu && all.gpu < (in_folder ? clearly_in_folder : clearly) * all.host;
  const bool compiles =
      !search_.at_once && may_have_gpu && !pays && compiles_for_others(task, times, all);
  if (in_folder) *folder_bytes_ -= std::min(*folder_bytes_, task.file_bytes);
  if (search_.at_once) {
    if (in_folder || members_.size() == 1)
      return assign_to(first_to_end(times), times, "one of all devices");
    Member& chosen = members_[all.gpu < all.host ? 1 : 0];
    return assign_to(chosen, times, phrase(times, all, chosen));
  }
  if ((pays || compiles) && members_.size() == 1) join(search_.find());
  if (compiles) return assign_to(members_[1], times, "it compiles for the pictures after it");
  Member& chosen = pays && !in_folder                 ? members_[1]
                   : idle_processor_takes(times, all) ? members_.front()
                                                      : first_to_end(times);
  return assign_to(chosen, times, phrase(times, all, chosen));
}

// The chosen device's estimate, then the other's: "80 ms estimated; NVIDIA H200 437 ms".
std::string Dispatcher::phrase(const TaskTimes& times, const Estimates& estimates,
                               const Member& chosen) const {
  const std::string host = text_of(estimates.host);
  if (!rates_.may_have_gpu()) return formatted("{} estimated; no GPU found", host);
  std::string gpu = text_of(estimates.gpu);
  if (!is_host(chosen)) gpu += " estimated";
  if (estimates.start > 0) gpu += formatted(" including {} to start", text_of(estimates.start));
  if (times.compile > 0) {
    gpu += formatted("{} {} to compile", estimates.start > 0 ? " and" : " including",
                     text_of(times.compile));
  }
  return is_host(chosen) ? formatted("{} estimated; {} {}", host, rates_.gpu_name(), gpu)
                         : formatted("{}; the processor {}", gpu, host);
}

Assignment Dispatcher::assign_to(Member& member, const TaskTimes& times, std::string reason) {
  log::debug(formatted(
      "estimates: decode {}, encode {}, filter {}, each on one thread; on the GPU {}, programs for "
      "it {}",
      text_of(times.alone.decode), text_of(times.alone.encode), text_of(times.alone.filter),
      text_of(times.gpu), text_of(times.compile)));
  const double work = work_of(member, times);
  member.backlog += work;
  const auto give_back = [this, &member, work](void*) {
    const std::lock_guard lock(mutex_);
    member.backlog = std::max(member.backlog - work, 0.0);
  };
  return {member.engine.get(), std::move(reason), std::shared_ptr<void>(nullptr, give_back)};
}

void Dispatcher::completed(const PictureTask& task, const RunReport& report) {
  const bool in_folder = [this] {
    const std::lock_guard lock(mutex_);
    return folder_bytes_.has_value();
  }();
  rates_.learn(task, report, in_folder);
}

// Engines that may be waited for without the lock.
Engines Dispatcher::engines() const {
  const std::lock_guard lock(mutex_);
  Engines all;
  for (const Member& member : members_)
    all.push_back(member.engine);
  return all;
}

void Dispatcher::await_choice() {
  if (!search_.at_once) {
    for (const auto& engine : engines())
      engine->await_choice();
    return;
  }
  const Engines& gpus = found_.get();
  const std::lock_guard lock(mutex_);
  if (members_.size() == 1) join(gpus);
}

void Dispatcher::conclude() {
  const Engines all = engines();
  for (const auto& engine : all)
    engine->keep_programs();
  // The GPU's engine fell back to the processor, so there is no need to search again.
  const bool looked = search_.find && !search_.at_once && all.size() > 1;
  if (looked && all[1]->is_ready() && all[1]->is_on_processor()) rates_.keep_without_gpu();
  rates_.save();
}

void Dispatcher::await_starts() noexcept {
  const auto without_errors = [](auto* starting) {
    try {
      starting->await_choice();
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): then nothing is starting
    }
  };
  without_errors(this);
  for (const auto& engine : engines())
    without_errors(engine.get());
}

namespace {

// Looks for `device`, which is not cpu, in `catalog`; calls `warn` if there is none.
std::shared_ptr<Engine> engine_on(const std::string& device, bool require_device,
                                  const DeviceCatalog& catalog, const EngineOptions& options,
                                  void (*warn)(std::string_view line)) {
  auto candidates = device_candidates(device, require_device, catalog, node_variables());
  const auto warned = [candidates, warn](std::size_t place) mutable {
    auto candidate = candidates(place);
    if (place == 0 && !candidate->device) {
      warn(formatted("{} (see 'gpufilter devices'); the processor does the work",
                     candidate->reason));
    }
    return candidate;
  };
  EngineOptions with = options;
  with.processor_helps = !require_device;
  return std::make_shared<Engine>(DeviceCandidates(warned), with);
}

// For --device all.
Engines engines_on_gpus(DeviceCatalog catalog, bool require_device, const EngineOptions& options) {
  Engines engines;
  for (const DeviceInfo& device : catalog.find_all()) {
    if (!device.unusable.empty() && device.platform != pocl_platform)
      log::warn_of_fallback(formatted("{}: {}", device.name, device.unusable));
    if (device.kind != DeviceKind::gpu) continue;
    std::vector<DeviceCandidate> candidates{{device, "one of all devices"},
                                            processor("the GPU failed")};
    engines.push_back(std::make_shared<Engine>(std::move(candidates), options));
  }
  if (!engines.empty()) return engines;
  const std::string reason = "--device all: no GPU found";
  if (require_device) throw DeviceError(reason);
  log::warn_of_fallback(reason + "; the processor does the work");
  return engines;
}

bool any(const StageChain& chain, bool StageTraits::*trait) {
  return std::any_of(chain.begin(), chain.end(),
                     [trait](const auto& stage) { return stage->traits().*trait; });
}

}  // namespace

std::shared_ptr<RateStore> make_rate_store() {
  return std::make_shared<RateStore>(cache_path("rates.json"));
}

std::shared_ptr<TuningStore> make_tuning_store() {
  return std::make_shared<TuningStore>(cache_path("tuning.json"));
}

std::string gpu_vendors() {
  return formatted("{}", fmt::join(installed_vendors().libraries, ", "));
}

EngineOptions default_engine_options() {
  EngineOptions options;
  if (const auto programs = cache_path("programs")) options.cache = ProgramCache(*programs);
  options.tuning = make_tuning_store();
  return options;
}

std::shared_ptr<Engine> make_engine(const std::string& device, bool require_device,
                                    const EngineOptions& options) {
  if (device == "cpu")
    return std::make_shared<Engine>(choose_devices(device, require_device, {}), options);
  return engine_on(device, require_device, device_catalog(), options, log::warn_of_fallback);
}

std::unique_ptr<Dispatcher> make_dispatcher(const std::string& device, bool require_device,
                                            const StageChain& chain, const EngineOptions& options) {
  // A name of a set that this machine does not have is reported before any picture is touched.
  static_cast<void>(instruction_set());
  const bool needs_opencl = any(chain, &StageTraits::needs_opencl);
  if (needs_opencl && device == "cpu")
    throw UsageError("--kernel: --device cpu runs no OpenCL kernel; name another device");
  require_device = require_device || needs_opencl;
  const bool means_opencl =
      (device == "auto" && (require_device || any(chain, &StageTraits::names_kernel))) ||
      (device == "all" && needs_opencl);
  if (means_opencl) return make_dispatcher("opencl", require_device, chain, options);
  const MachineRates rates(make_rate_store(), device == "cpu" ? "" : gpu_vendors());
  if (device != "auto" && device != "all") {
    const Engines named{make_engine(device, require_device, options)};
    return std::make_unique<Dispatcher>(named, rates);
  }
  const Engines processors{
      std::make_shared<Engine>(std::vector{processor("the processor")}, options)};
  // Now, because other threads will exist when a device is searched for.
  const DeviceCatalog catalog =
      device == "auto" && gpu_vendors().empty() ? DeviceCatalog({}) : device_catalog();
  const auto best = [=] { return Engines{engine_on("gpu", false, catalog, options, log::debug)}; };
  const auto all = [=] { return engines_on_gpus(catalog, require_device, options); };
  const GpuSearch search = device == "all" ? GpuSearch{all, true} : GpuSearch{best, false};
  return std::make_unique<Dispatcher>(processors, rates, search);
}

}  // namespace gpufilter
