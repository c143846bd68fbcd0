// Checks the project's promise on this machine: every stage gives the same bits on every device,
// with every kernel and every instruction set.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/json.hpp"
#include "codec/byte_sink.hpp"
#include "device/session.hpp"
#include "image/image.hpp"

namespace gpufilter::lab {

// Every job belongs to one of `count` parts.
struct VerifyPart {
  std::size_t index = 0;
  std::size_t count = 1;
};

struct VerifyOptions {
  VerifyPart part;                  // only its jobs are done
  std::vector<std::string> stages;  // "blur"; all if it is empty
  std::optional<int> channels;      // only pictures with this many channels
  std::optional<int> depth;         // only with this many bits per sample
  bool quick = false;               // fewer formats, sizes, bands and combinations of parameters
  bool stop_at_difference = false;  // stop at the first difference
  std::vector<std::shared_ptr<Session>> devices;
  // Called from time to time with the number of cases done and of all cases.
  std::function<void(std::int64_t done, std::int64_t all)> on_progress;
};

// The results of one kind of stage with one kernel or loop on one device or instruction set.
struct VerifiedVariant {
  std::string place;          // "processor avx2", a device's name
  std::string stage;          // "blur", "color + levels"
  std::string variant;        // "tiled 16x16"; all shapes that tuning may choose together
  std::size_t first_job = 0;  // the number of the first job that it was seen in
  int cases = 0;              // pictures compared, bit by bit
  int different = 0;
  int failed = 0;  // could not be run
};

// The first case whose result differs from the processor's baseline.
struct VerifyFailure {
  std::string place;
  std::string stages;  // as on the command line
  std::string variant;
  std::size_t job = 0;  // its number
  PictureShape picture;
  int band_rows = 0;
  // "row 12, column 5, green: 37 instead of 36", or why it could not be run.
  std::string difference;
  // The difference of the results, as draw_difference() draws it, each pixel as a square large
  // enough to be seen; nullptr if there is no result of that size and format.
  std::shared_ptr<const Image> drawing = nullptr;
};

struct VerifyReport {
  std::vector<VerifiedVariant> variants;  // by place, stage and variant in the order of the run
  std::optional<VerifyFailure> first_failure;
  std::int64_t cases = 0;
  std::int64_t skipped = 0;  // requested kernels that do not fit the device

  [[nodiscard]] bool passed() const { return !first_failure; }
};

// The entry of `all` for the variant `wanted`, added if there is none. It keeps the smaller number
// of its first job.
VerifiedVariant& variant_in(std::vector<VerifiedVariant>& all, const VerifiedVariant& wanted);

// Runs every case on each instruction set of the processor and on each device. Changes the
// instruction set in use meanwhile: no other thread may be filtering.
[[nodiscard]] VerifyReport verify(const VerifyOptions& options);

// The drawing of draw_difference(), each pixel as a square so large that the drawing is about 800
// wide or high. Both pictures are of the same size and format.
[[nodiscard]] Image difference_drawing(const Image& expected, const Image& found);

// Makes `drawing` the file's contents, as PNG. Throws PictureError.
void write_drawing(const Image& drawing, ByteSink& sink);

// Verification in several processes, because drivers compile one kernel at a time in each.

// The number of processes that pays: one if this process already has other threads, which a new
// process would lack.
[[nodiscard]] std::size_t parts_to_verify();

// The combined results of `verify_part` for all parts. It is called for the first part in this
// process and for each other one in a new process, which prints nothing. Throws what `verify_part`
// throws, and DeviceError if one of the processes ends before it has reported.
[[nodiscard]] VerifyReport verify_in_parts(
    std::size_t parts, const std::function<VerifyReport(const VerifyPart&)>& verify_part);

// "cases", "skipped", "variants", "first_failure".
[[nodiscard]] Json to_json(const VerifyReport& report);

}  // namespace gpufilter::lab
