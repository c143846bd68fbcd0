// How the steps of a chain are applied to a picture, band by band.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "host/instruction_set.hpp"
#include "image/jpeg_coding.hpp"
#include "image/rows.hpp"
#include "stage/lowering.hpp"

namespace gpufilter {

// One step of the chain, with its input and output.
struct Pass {
  // On `device`; nullptr: on the processor. Throws what Step::output() does.
  Pass(std::shared_ptr<const Step> work, const PictureShape& source, const DeviceInfo* device);

  std::shared_ptr<const Step> step;
  PictureShape input;
  PictureShape output;
  StepProperties properties;
  // The one in use: on the processor the step may be one that only this set has.
  InstructionSet set = instruction_set();

  // The rows that it reads for the rows `target` of its result. Either may reach past the picture's
  // edges, where the rows are repeated.
  [[nodiscard]] RowRange source_rows(const RowRange& target) const;
  // How many it reads for a row in the middle of its result.
  [[nodiscard]] int window_rows() const;
};

// Rows of a result; `repeats` heights subtracted from their numbers give rows within the picture.
struct RepeatedRows {
  RowRange rows;
  int repeats = 0;
};
// Cuts `rows`, which may reach past the edges, at each edge of a picture `height` high.
[[nodiscard]] std::vector<RepeatedRows> cut_at_edges(const RowRange& rows, int height);

// The memory that these rows of a picture take.
[[nodiscard]] std::uint64_t bytes_of(const RowRange& rows, const PictureShape& picture);

struct Plan {
  PictureShape input;
  std::vector<Pass> passes;
  int band_rows = 1;       // rows of the result of every band but the last
  bool on_device = false;  // not on the processor
  // Bytes of memory that steps use besides the rows, for each band in progress.
  std::uint64_t scratch = 0;
  // The statistics to measure instead of storing the result.
  std::optional<Quantity> measure = std::nullopt;
  // How a device codes the result. Bands are whole restart intervals.
  std::optional<JpegCoding> coding = std::nullopt;

  [[nodiscard]] const PictureShape& output() const {
    return passes.empty() ? input : passes.back().output;
  }

  // The rows of the result of each band, top to bottom.
  [[nodiscard]] std::vector<RowRange> bands() const;

  // For rows `band` of the result: the source rows of each pass, and finally `band` itself. Pass i
  // reads windows[i] and fills windows[i + 1]; the first window has to be decoded.
  [[nodiscard]] std::vector<RowRange> windows(const RowRange& band) const;

  // Whether bands need rows past the picture's edges, which wrap to the opposite side.
  [[nodiscard]] bool reads_past_edges() const;

  // Bytes of the largest buffer that bands of `rows` rows need, over all passes.
  [[nodiscard]] std::uint64_t largest_buffer(int rows) const;

  // Rows besides its own that a row of the result needs from the picture: those that neighbouring
  // bands both read, and compute between stages.
  [[nodiscard]] int halo() const;

  // The minimum number of rows in a part for a thread: no fewer than it computes twice because its
  // neighbours need them too.
  [[nodiscard]] int minimum_part() const;

  // The maximum memory of a band of `rows` rows in bytes: its input and its result on the host; on
  // a device the same there, coded data, and the stages' scratch memory; on the processor the rows
  // between stages that one thread keeps.
  [[nodiscard]] std::uint64_t band_memory(int rows) const;
};

struct PlanLimits {
  // Bytes that a buffer of a band should take: small enough for a processor's caches, large enough
  // to fill a GPU. Bands that read many rows of their neighbours take more.
  std::uint64_t target_buffer = std::uint64_t{8} << 20U;
  // Bytes that a buffer may take: the device's largest allocation.
  std::uint64_t max_buffer = UINT64_MAX;
  // Bytes that all bands in progress may take. Bands are low enough that `bands` of them fit. If
  // bands of 16 rows do not fit, there are fewer bands; if not even one fits, it is lower.
  std::uint64_t max_memory = UINT64_MAX;
  // Bytes that steps may take besides the rows of bands; none: a part of `max_memory`.
  std::optional<std::uint64_t> step_memory = std::nullopt;
  unsigned bands = 3;  // one is decoded, one filtered, one encoded
  // The device that runs the passes; nullptr: the processor.
  const DeviceInfo* device = nullptr;
  // Rows of a band; overrides target_buffer and max_memory, but not max_buffer.
  std::optional<int> band_rows = std::nullopt;
  // How the device is to code the result, if it can with bands that suit it.
  std::optional<JpegCoding> coding = std::nullopt;
};

// A chain without demands. Neighbouring steps that one step can replace become one pass, and steps
// that change nothing are left out; neither changes a bit. Throws UsageError if a step cannot work
// on the result before it, and DeviceError if not even a band of one row fits in
// `limits.max_buffer`.
[[nodiscard]] Plan make_plan(const PictureShape& input, const LoweredChain& chain,
                             const PlanLimits& limits = {});
// For a picture of which only the shape is known.
[[nodiscard]] Plan make_plan(const PictureShape& input, const StageChain& chain,
                             const PlanLimits& limits = {});

}  // namespace gpufilter
