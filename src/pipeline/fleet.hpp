// The dispatchers for the values of --device: a single device, or the processor and GPUs together,
// where each picture goes to the one that finishes it first.
#pragma once

#include <cstdint>
#include <functional>
#include <future>
#include <list>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/dispatcher.hpp"
#include "pipeline/machine_rates.hpp"

namespace gpufilter {

struct FleetOptions {
  EngineOptions engine;
  MachineRates rates;
};

// The common part: members, their backlog, and the rates learned about them.
class Fleet : public Dispatcher {
 public:
  void expect_folder(std::uint64_t file_bytes) override;
  void completed(const PictureTask& task, const RunReport& report) override;
  void conclude() override;
  void await_starts() noexcept override;

 protected:
  [[nodiscard]] std::vector<Engine*> engines() const;
  // The processor is the first member.
  explicit Fleet(FleetOptions options);
  // `only` is the first and only one.
  Fleet(FleetOptions options, std::unique_ptr<Engine> only);

  struct Member {
    std::unique_ptr<Engine> engine;
    bool is_host = false;
    Nanoseconds begun = 0;  // when its start began
    double backlog = 0;     // seconds of such work that were assigned but are not done
  };
  // Wall-clock seconds until the picture, or the rest of the folder, is done.
  struct Estimates {
    double host = 0;
    double device = 0;
    double start = 0;    // the part of `device` until it can be used
    double compile = 0;  // and until its programs are compiled
  };

  // All are called while mutex_ is held.
  [[nodiscard]] Member& first() { return members_.front(); }
  Member& add_device(std::unique_ptr<Engine> engine);
  // Seconds of work on a picture that depend on the member.
  [[nodiscard]] static double work_of(const Member& member, const TaskTimes& times);
  // The member that finishes the filtering first, including its start.
  [[nodiscard]] Member& first_to_end(const TaskTimes& times);
  // The time until it can be used.
  [[nodiscard]] double start_left(const Member& member) const;
  [[nodiscard]] Assignment assign_to(Member& member, const TaskTimes& times, std::string reason);
  // With `device`; if that is nullptr, with a device whose start begins now.
  [[nodiscard]] Estimates estimates(const PictureTask& task, const TaskTimes& times,
                                    const Member* device) const;
  // Why `chosen`: its estimate, then the other's. "80 ms estimated; NVIDIA H200 437 ms".
  [[nodiscard]] std::string phrase(const Estimates& estimates, const Member& chosen) const;
  // The number of remaining pictures like this one, including this one.
  [[nodiscard]] double pictures_left(const PictureTask& task) const;
  void count(const PictureTask& task);
  [[nodiscard]] bool in_folder() const { return folder_bytes_.has_value(); }
  static double threads();

  FleetOptions options_;
  mutable std::mutex mutex_;
  std::list<Member> members_;                  // the processor first; members stay where they are
  std::optional<std::uint64_t> folder_bytes_;  // of files that are not assigned yet
};

// For --device cpu, gpu, opencl, an index or a name: gives every picture to one engine.
class SoleMember final : public Fleet {
 public:
  SoleMember(FleetOptions options, std::unique_ptr<Engine> only)
      : Fleet(std::move(options), std::move(only)) {}

  [[nodiscard]] Assignment assign(const PictureTask& task) override;
  void await_choice() override;
};

// For --device auto. A GPU is searched for and started only if the estimates say that this pays
// off. A single picture is then filtered there; in a folder the processor begins at once, and the
// GPU joins when it is ready.
class FastestFleet final : public Fleet {
 public:
  // Makes the engine of the best GPU, whose search and start go on in the background.
  using MakeEngine = std::function<std::unique_ptr<Engine>()>;
  FastestFleet(FleetOptions options, MakeEngine make_engine);

  [[nodiscard]] Assignment assign(const PictureTask& task) override;
  void conclude() override;

 private:
  [[nodiscard]] bool idle_processor_takes(const TaskTimes& times, const Estimates& all);

  MakeEngine make_engine_;
  Member* device_ = nullptr;
};

// For --device all: the processor and every GPU, from the start. In a folder each picture goes to
// the one that finishes it first; a single picture is done by the processor or the first GPU.
class WholeFleet final : public Fleet {
 public:
  // Finds all GPUs; called on a separate thread. Throws DeviceError.
  using Find = std::function<std::vector<DeviceInfo>()>;
  // With `require_device`, await_choice() throws if there is no GPU.
  WholeFleet(FleetOptions options, Find find, bool require_device);
  ~WholeFleet() override;

  [[nodiscard]] Assignment assign(const PictureTask& task) override;
  void await_choice() override;
  void await_starts() noexcept override;

 private:
  void join();
  [[nodiscard]] bool has_to_wait();

  bool require_device_;
  bool assigned_ = false;  // whether a picture was assigned
  bool joined_ = false;
  std::shared_future<std::vector<DeviceInfo>> found_;
};

}  // namespace gpufilter
