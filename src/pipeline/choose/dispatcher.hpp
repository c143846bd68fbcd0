// Decides which engine filters a picture, once its header is read.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "pipeline/choose/engine.hpp"
#include "pipeline/choose/machine_rates.hpp"

namespace gpufilter {

struct RunReport;

struct Assignment {
  Engine* engine = nullptr;
  std::string reason;           // why this one; empty: the engine's own reason
  std::shared_ptr<void> lease;  // held until the picture is done
};

using Engines = std::vector<std::shared_ptr<Engine>>;

// How GPUs besides the processor are found.
struct GpuSearch {
  // Makes the GPUs' engines, which start in the background; may throw DeviceError.
  std::function<Engines()> find;
  // Called in any case, on a separate thread; otherwise once the estimates say that a GPU pays.
  bool at_once = false;
};

// Learns from every picture. Thread-safe.
class Dispatcher {
 public:
  // Without a search, each picture goes to the next of `engines`: --device cpu, gpu, opencl, an
  // index or a name. With one, the only engine is the processor's, and a picture goes to the engine
  // that is estimated to finish it first. --device auto: a single picture waits for a GPU that
  // pays; in a folder the processor begins, and the GPU joins when it is ready. --device all
  // (at_once): all GPUs are used, whatever their start takes.
  explicit Dispatcher(Engines engines, MachineRates rates = MachineRates(), GpuSearch search = {});
  // `engine` has to outlive it.
  explicit Dispatcher(Engine& engine)
      : Dispatcher(Engines{std::shared_ptr<Engine>(std::shared_ptr<void>(), &engine)}) {}

  [[nodiscard]] Assignment assign(const PictureTask& task);

  // Bytes of all input files of a folder, before the first of them is assigned.
  void expect_folder(std::uint64_t file_bytes);

  // Reports a finished picture, whose times improve later estimates.
  void completed(const PictureTask& task, const RunReport& report);

  // Waits until it is known whether the requested device exists. Throws DeviceError if it does not.
  void await_choice();

  // After the last picture: keeps compiled programs and measured times for the next run.
  void conclude();

  // Waits for devices that are being started: a process must not end meanwhile.
  void await_starts() noexcept;

 private:
  struct Member {
    std::shared_ptr<Engine> engine;
    Nanoseconds begun = now();  // when its start began
    double backlog = 0;         // seconds of work that were assigned to it but are not done
  };
  // Wall-clock seconds until the picture, or the rest of the folder, is done.
  struct Estimates {
    double host = 0;
    double gpu = 0;
    double start = 0;  // the part of `gpu` until it can be used
  };

  [[nodiscard]] Engines engines() const;

  // The following are called while mutex_ is held.
  void join(const Engines& gpus);
  [[nodiscard]] bool is_host(const Member& member) const { return &member == &members_.front(); }
  // Seconds that a picture takes, as far as they depend on the member.
  [[nodiscard]] double work_of(const Member& member, const TaskTimes& times) const;
  [[nodiscard]] double start_left(const Member& member) const;
  [[nodiscard]] Estimates estimates(const PictureTask& task, const TaskTimes& times) const;
  [[nodiscard]] bool idle_processor_takes(const TaskTimes& times, const Estimates& all) const;
  [[nodiscard]] bool compiles_for_others(const PictureTask& task, const TaskTimes& times,
                                         const Estimates& all);
  [[nodiscard]] Member& first_to_end(const TaskTimes& times);
  [[nodiscard]] std::string phrase(const TaskTimes& times, const Estimates& estimates,
                                   const Member& chosen) const;
  [[nodiscard]] Assignment assign_to(Member& member, const TaskTimes& times, std::string reason);

  MachineRates rates_;
  GpuSearch search_;
  mutable std::mutex mutex_;
  std::deque<Member> members_;                 // of a search: the processor, then GPUs
  std::size_t next_ = 0;                       // without a search
  std::set<std::string> compiling_;            // programs that a picture compiles for others
  std::optional<std::uint64_t> folder_bytes_;  // of files that are not assigned yet
  std::shared_future<Engines> found_;          // of a search at once
};

// In the user's cache folder; if there is none, only for this process.
[[nodiscard]] std::shared_ptr<RateStore> make_rate_store();
[[nodiscard]] std::shared_ptr<TuningStore> make_tuning_store();

// The installed OpenCL vendors except PoCL: if there is none, there is no GPU.
[[nodiscard]] std::string gpu_vendors();

// With the user's program cache and tuning results, if there is a folder for them.
[[nodiscard]] EngineOptions default_engine_options();

// For `device` (any value except auto and all). Loads no more of OpenCL than necessary and searches
// for the device in the background. Create it before other threads are started. Throws UsageError.
[[nodiscard]] std::shared_ptr<Engine> make_engine(const std::string& device, bool require_device,
                                                  const EngineOptions& options);

// The dispatcher that runs `chain` for --device `device`, including auto and all. It learns from
// every run, in the user's cache folder. Create it
// before other threads are started. Throws UsageError.
[[nodiscard]] std::unique_ptr<Dispatcher> make_dispatcher(const std::string& device,
                                                          bool require_device,
                                                          const StageChain& chain,
                                                          const EngineOptions& options);

}  // namespace gpufilter
