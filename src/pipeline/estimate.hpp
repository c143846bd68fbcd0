// Estimates how long a picture will take on the processor and on a device.
#pragma once

#include <array>
#include <optional>
#include <string>

#include "base/rate.hpp"
#include "device/rate_store.hpp"
#include "pipeline/plan.hpp"

namespace gpufilter {

// The known properties of a picture once its header is read.
struct PictureTask {
  PictureShape shape;
  StageChain chain;                // as requested
  Rate decoding;                   // of the input's format
  Rate encoding;                   // of the output's
  bool parallel_encoding = false;  // whether its encoder uses several threads
  std::uint64_t file_bytes = 0;    // of the input; 0: unknown
  bool device_decodes = false;     // the device that filters it, if any
  bool device_encodes = false;     // likewise
};

// In seconds. Codecs run on the processor, but a device may decode and encode what it filters.
struct TaskTimes {
  double decode = 0;         // on one thread, over all walks through the picture
  double encode = 0;         // of one thread
  double host_filter = 0;    // of one thread
  double device_filter = 0;  // transfers and kernels, one after the other
  double device_decode = 0;  // 0: the processor decodes for the device
  double device_encode = 0;  // likewise
  double compile = 0;        // programs for the device, before the first kernel can run
};

// The rates of what neither a stage nor a codec does.
inline const Rate statistics_rate{"statistics", 0.6e-9, 10e-12};  // of a sample
inline const Rate transfer_rate{"transfer", 0, 0.1e-9};           // of a byte, either way
inline const Rate start_rate{"start", 0, 0.4};                    // until a device can be used
// Of compiling a program, and each number that was written into it.
inline const Rate program_rate{"compile a program", 0, 0.1};
inline const Rate literal_rate{"compile a literal", 0, 150e-6};
// Of a pixel that a device codes as JPEG, in the steps of JpegEncoder.
inline const std::array coding_rates{Rate{"JPEG blocks", 0, 10e-12}, Rate{"JPEG data", 0, 2e-12}};
// Of a byte that a device reads or writes in its memory; only measured.
inline const Rate copy_rate{"copy", 0, 0};

// Seconds for one operation: as learned at a place, otherwise as the rate itself says.
class Rates {
 public:
  Rates(const RateStore& store, std::string host_place, std::string device_place)
      : store_(store), host_(std::move(host_place)), device_(std::move(device_place)) {}

  [[nodiscard]] double on_host(const Rate& rate) const;
  [[nodiscard]] double on_device(const Rate& rate) const;

  // Assumes that no program was compiled before.
  [[nodiscard]] TaskTimes times(const PictureTask& task) const;

 private:
  [[nodiscard]] double compile_time(const StageChain& chain, const PixelFormat& format) const;

  const RateStore& store_;
  std::string host_;
  std::string device_;
};

// The work of a device on pictures that it filters.
[[nodiscard]] double work_on_device(const TaskTimes& times);
// The work of the processor on pictures that it filters, and on those that a device filters.
[[nodiscard]] double work_on_host(const TaskTimes& times);
[[nodiscard]] double work_beside_device(const TaskTimes& times);

// The wall-clock time of one picture, with codecs and filters overlapping on `threads` threads.
[[nodiscard]] double time_on_host(const TaskTimes& times, bool parallel_encoding, double threads);
// `start`: how long until the device can be used, while the picture is decoded.
[[nodiscard]] double time_on_device(const TaskTimes& times, bool parallel_encoding, double threads,
                                    double start);

// The wall-clock time of `pictures` such pictures, several of which are in progress at the same
// time.
[[nodiscard]] double folder_time_on_host(const TaskTimes& times, double pictures, double threads);
// The processor begins at once and filters alone until the device can be used.
[[nodiscard]] double folder_time_with_device(const TaskTimes& times, double pictures,
                                             double threads, double start);

}  // namespace gpufilter
