// A device or the processor, and its replacement if it does not work.
#pragma once

#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <semaphore>
#include <string>
#include <vector>

#include "device/device_choice.hpp"
#include "device/stores.hpp"
#include "pipeline/execute/band_executor.hpp"

namespace gpufilter {

// The device that an engine chose: for the report of every run.
struct EngineReport {
  std::string device = "none";  // its name; "processor"; "none" if no stage needed one
  std::string kind = "none";    // gpu, cpu (an OpenCL device), other, processor, none
  std::string platform;
  std::string driver;
  std::string reason;
  std::string share;                   // the part of `reason` that says which GPU of a node it is
  std::vector<std::string> fallbacks;  // the devices tried before, and why they were skipped
};

// Memory of an executor that decodes, in bytes.
struct DecoderMemory {
  std::uint64_t data = 0;   // what it takes besides the bands
  std::uint64_t extra = 0;  // what both may take besides Work::max_memory
};

struct Prepared {
  EngineReport report;
  std::shared_ptr<Session> session;  // the executor refers to it and to the plan
  std::unique_ptr<Plan> plan;
  std::unique_ptr<BandExecutor> executor;  // none: the pixels are copied
  DecoderMemory decoder = {};              // zeros if the executor does not decode
};

// EngineReport::kind of this program's own code, without OpenCL.
inline constexpr const char* processor_kind = "processor";

// The work to do for a picture.
struct Work {
  PictureShape input;
  LoweredChain chain;                              // without demands
  std::optional<Quantity> measure = std::nullopt;  // statistics to measure instead of the pixels
  std::uint64_t max_memory = UINT64_MAX;           // see PlanLimits
  std::string reason = {};  // why on this engine; empty: the engine's own reason
  // The caller divides the rows among threads: the processor times nothing and stays on the thread
  // of each call.
  bool is_divided = false;
  // The scan of the picture, for devices to decode: GPUs, or any OpenCL device. nullptr: the
  // processor does.
  const JpegScan* scan = nullptr;
  std::uint64_t decoder_memory = 0;  // bytes besides `max_memory` that decoding may take at most
  bool any_device_decodes = false;
  // How a GPU may code the result instead of storing it.
  std::optional<JpegCoding> coding = std::nullopt;
  bool any_device_codes = false;
};

struct EngineOptions {
  std::optional<ProgramCache> cache = std::nullopt;
  std::shared_ptr<const TuningStore> tuning = nullptr;  // none: kernels decide themselves
  std::optional<int> band_rows = std::nullopt;          // instead of the device's default
  // Whether the user set the memory of bands, which then also limits scratch memory of steps;
  // otherwise steps take a share of the machine's or the device's memory.
  bool limits_steps = false;
  bool fuse = true;             // let neighbouring passes share a kernel on a device
  bool processor_helps = true;  // it may do the rest of a picture whose device has failed
};

// Throws DeviceError.
[[nodiscard]] std::shared_ptr<Session> start_session(const DeviceInfo& device,
                                                     const EngineOptions& options);

// Starts devices when they are first needed and keeps the working one for later pictures. Safe to
// use from several threads: prepared work stays usable if another thread finds that the device does
// not work.
class Engine {
 public:
  // Tries the candidates in turn, best first. The first is found and started on a separate thread,
  // because that takes longer than decoding a small picture. Calls that need the device wait.
  Engine(DeviceCandidates candidates, EngineOptions options);
  // There is at least one. No thread is needed if the processor is the first.
  Engine(std::vector<DeviceCandidate> candidates, EngineOptions options);

  // Whether the start is over, so that prepare() need not wait for it.
  [[nodiscard]] bool is_ready() const;
  // Waits until the start is over. Throws what the search threw.
  void await_choice() const;

  // Plans a picture and builds the programs of its passes, on the first candidate that works. A
  // candidate that fails is never used again, with a warning in the log; if it lacks memory, lower
  // bands are tried first. Throws the last candidate's DeviceError if none works; UsageError if the
  // stages do not suit the picture or device.
  [[nodiscard]] Prepared prepare(const Work& work, Timeline& timeline);

  // After prepared work on `failed` threw DeviceError: leaves that device for the next candidate,
  // with a warning in the log, unless another thread has done so. False if there is no other
  // candidate; otherwise the picture can be prepared and filtered again.
  [[nodiscard]] bool leave(const Session& failed, const std::string& reason);

  // After a band on `failed` threw: whether the processor may do the rest of the picture. Later
  // pictures leave the device, as by leave(); if it only lacked memory, they get lower bands first.
  [[nodiscard]] bool replace_by_processor(const Session& failed, const DeviceError& failure);

  // A plan of the same work for the processor: its steps may be others than a device's, but they
  // read the same rows of the picture.
  [[nodiscard]] Plan plan_on_processor(const Work& work) const;

  // Waits until fewer than `slots` other pictures that the device decodes are in progress: this
  // number keeps it busy, and more would wait for each other in the driver. A picture takes one
  // slot and holds it until it is done. Waits for the start; nullptr if the processor does the
  // work.
  static constexpr int slots = 4;
  [[nodiscard]] std::shared_ptr<void> acquire_slot();

  // Stores programs compiled since the last call; see Session::keep_programs().
  void keep_programs();

  // Whether the processor does the work, maybe in place of devices. Only once it is ready.
  [[nodiscard]] bool is_on_processor();

 private:
  // What a preparation was tried with.
  struct Attempt {
    std::size_t place = 0;
    int halvings = 0;
    bool operator==(const Attempt&) const = default;
  };

  void start();
  void start_session_on(const DeviceInfo& device, Timeline& timeline);
  [[nodiscard]] Prepared begin(const Work& work, Timeline& timeline, Attempt& attempt);
  [[nodiscard]] bool leave_current(const std::string& reason);
  [[nodiscard]] bool lower_bands(const std::string& reason);

  EngineOptions options_;
  std::counting_semaphore<slots> slots_{slots};
  std::mutex mutex_;  // guards the members below once the start is over
  DeviceCandidates candidates_;
  std::size_t place_ = 0;
  std::optional<DeviceCandidate> candidate_;  // at place_
  std::shared_ptr<Session> session_;          // on its device
  std::vector<std::string> fallbacks_;
  int halvings_ = 0;  // of the height of bands, for want of memory on the current device
  std::vector<Span> start_spans_;   // until a picture has reported them
  std::shared_future<void> start_;  // last: its thread uses all of the above
};

}  // namespace gpufilter
