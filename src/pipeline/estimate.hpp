// Estimates how long a picture will take on the processor and on a device.
#pragma once

#include <optional>
#include <string>

#include "device/rate_store.hpp"
#include "pipeline/plan.hpp"

namespace gpufilter {

// The known properties of a picture once its header is read.
struct PictureTask {
  PictureShape shape;
  StageChain chain;                // as requested
  std::string decoding;            // kind of work: "decode JPEG"
  std::string encoding;            // "encode PNG"
  bool parallel_encoding = false;  // whether its encoder uses several threads
  std::uint64_t file_bytes = 0;    // of the input; 0: unknown
};

// In seconds. Codecs run on the processor in any case.
struct TaskTimes {
  double decode = 0;         // on one thread, over all walks through the picture
  double encode = 0;         // of one thread
  double host_filter = 0;    // of one thread
  double device_filter = 0;  // transfers and kernels, one after the other
  double compile = 0;        // programs for the device, before the first kernel can run
};

// The kinds of rates in addition to those of StageCost.
inline constexpr const char* statistics_kind = "statistics";
inline constexpr const char* transfer_kind = "transfer";  // a byte, either way
inline constexpr const char* copy_kind =
    "copy";  // a byte read or written by the device in its memory
inline constexpr const char* start_kind = "start";  // a device, until it can be used
// Compiling a program, and each number that was written into it.
inline constexpr const char* program_kind = "compile a program";
inline constexpr const char* literal_kind = "compile a literal";

// Seconds for one operation of a kind: learned at `place`, otherwise this program's defaults.
class Rates {
 public:
  Rates(const RateStore& store, std::string host_place, std::string device_place)
      : store_(store), host_(std::move(host_place)), device_(std::move(device_place)) {}

  [[nodiscard]] double on_host(const std::string& kind) const;
  [[nodiscard]] double on_device(const std::string& kind) const;

  // Assumes that no program was compiled before.
  [[nodiscard]] TaskTimes times(const PictureTask& task) const;

 private:
  [[nodiscard]] double compile_time(const StageChain& chain, const PixelFormat& format) const;

  const RateStore& store_;
  std::string host_;
  std::string device_;
};

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
