// How fast this machine is, as its runs have shown.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "base/timeline.hpp"
#include "device/stores.hpp"
#include "pipeline/plan/plan.hpp"

namespace gpufilter {

// The known properties of a picture once its header is read.
struct PictureTask {
  PictureShape shape;
  LoweredChain chain;
  Rate decoding;                   // of the input's format
  Rate encoding;                   // of the output's
  bool parallel_encoding = false;  // whether its encoder uses several threads
  std::uint64_t file_bytes = 0;    // of the input; 0: unknown
  bool device_decodes = false;     // the device that filters it, if any
  bool device_encodes = false;     // likewise
};

// The rates of what neither a stage nor a codec does.
inline const Rate statistics_rate{"statistics", 0.6e-9, 10e-12};  // of a sample
inline const Rate transfer_rate{"transfer", 0, 0.1e-9};           // of a byte, either way
inline const Rate start_rate{"start", 0, 0.4};                    // until a device can be used
// The rates of compiling a program, and each number that was written into it.
inline const Rate program_rate{"compile a program", 0, 0.1};
inline const Rate literal_rate{"compile a literal", 0, 150e-6};
// The rates of a pixel that a device codes as JPEG, in the steps of JpegEncoder.
inline const std::array coding_rates{Rate{"JPEG blocks", 0, 10e-12}, Rate{"JPEG data", 0, 2e-12}};
// The rate of a byte that a device reads or writes in its memory; only measured.
inline const Rate copy_rate{"copy", 0, 0};

// Seconds for one operation: as learned at a place, otherwise the rate's default.
struct Rates {
  const RateStore& store;
  std::string host;  // place
  std::string gpu;   // place

  [[nodiscard]] double on_host(const Rate& rate) const {
    return store.find(host, rate.kind).value_or(rate.host);
  }
  [[nodiscard]] double on_gpu(const Rate& rate) const {
    return store.find(gpu, rate.kind).value_or(rate.device);
  }
};

// The processor's work for a picture, in seconds of one thread, over all walks through it.
struct HostTimes {
  double decode = 0;
  double encode = 0;
  double filter = 0;

  [[nodiscard]] double all() const { return decode + encode + filter; }
};

struct TaskTimes {
  HostTimes alone;                 // if the processor filters it
  HostTimes beside_gpu;            // if a GPU filters it, and decodes and encodes what it can
  double gpu = 0;                  // what the GPU then does: transfers and kernels, one by one
  double compile = 0;              // its programs, before the first kernel can run
  bool parallel_encoding = false;  // encoding is divided among the threads
};

// Assumes that no program was compiled before.
[[nodiscard]] TaskTimes estimated_times(const PictureTask& task, const Rates& rates);

// The wall-clock seconds for `pictures` such pictures, several of which are in progress at the same
// time; codecs and filters overlap on `threads` threads.
[[nodiscard]] double time_on_host(const TaskTimes& times, double pictures, double threads);
// The seconds with a GPU that is ready after `start`. A single picture is decoded meanwhile; of
// several pictures, the processor filters some, alone at first and then beside the GPU.
[[nodiscard]] double time_with_gpu(const TaskTimes& times, double pictures, double threads,
                                   double start);

struct RunReport;

// The place under which the processor's rates are stored; they differ between instruction sets.
[[nodiscard]] std::string host_place();

// The rates of the processor and of the GPU that was used last. Thread-safe.
class MachineRates {
 public:
  // `vendors` names the installed OpenCL vendors: rates learned for their GPU are valid while these
  // stay the same. Empty: no vendor, and so no GPU.
  explicit MachineRates(std::shared_ptr<RateStore> store = std::make_shared<RateStore>(),
                        std::string vendors = {})
      : store_(std::move(store)), vendors_(std::move(vendors)) {}

  [[nodiscard]] Rates rates() const { return {*store_, host_place(), gpu_place()}; }

  // Without the time to compile if the GPU has programs for such a picture from an earlier run: of
  // this version, with this chain and format. The last 64 of these are remembered, since the
  // program cache can be queried only once the device is started.
  [[nodiscard]] TaskTimes times(const PictureTask& task) const;

  // A name for the programs that a device needs for such a picture.
  [[nodiscard]] static std::string programs_for(const PictureTask& task);

  // Whether a GPU is worth a search: there are vendors, and no search among them has failed within
  // the last week.
  [[nodiscard]] bool may_have_gpu() const;
  void keep_without_gpu();
  // "a GPU" if none was used yet.
  [[nodiscard]] std::string gpu_name() const;

  // Takes the times of a picture into account. In a folder several pictures share the cores, so
  // only the device's own times are meaningful.
  void learn(const PictureTask& task, const RunReport& report, bool in_folder);
  void save() { store_->save(); }

 private:
  // The GPU's name and driver; empty if none was used yet.
  [[nodiscard]] std::string gpu_place() const;
  [[nodiscard]] std::string gpu_note() const { return "GPU of " + vendors_; }

  std::shared_ptr<RateStore> store_;
  std::string vendors_;
};

}  // namespace gpufilter
