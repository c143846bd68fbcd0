// How a chain of stages walks through a picture, band by band.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "image/rows.hpp"
#include "stages/stage.hpp"

namespace gpufilter {

using StageChain = std::vector<std::shared_ptr<const Stage>>;

// One stage of the chain at its place: what goes in and what comes out.
struct Pass {
  std::shared_ptr<const Stage> stage;
  PixelFormat input;
  PixelFormat output;
};

struct Plan {
  ImageSize size;
  PixelFormat input;
  std::vector<Pass> passes;
  int band_rows = 1;   // output rows of every band but the last
  bool wraps = false;  // bands reach past the picture's edges, to the rows of the opposite side
  // What is wanted of the result in place of its pixels.
  std::optional<Quantity> measure = std::nullopt;

  [[nodiscard]] PixelFormat output() const { return passes.empty() ? input : passes.back().output; }

  // Rows above and below a band's output that its input needs: the sum over the chain.
  [[nodiscard]] int halo() const;

  // The output rows of each band, top to bottom.
  [[nodiscard]] std::vector<RowRange> bands() const;

  // For output rows `band`: the rows before each pass, and at last `band` itself. Every pass reads
  // windows[i] and fills windows[i + 1]; the first is what has to be decoded.
  [[nodiscard]] std::vector<RowRange> windows(const RowRange& band) const;

  // Bytes of the largest buffer that bands of `rows` output rows need, over all passes.
  [[nodiscard]] std::uint64_t largest_buffer(int rows) const;

  // Bytes that a band of `rows` output rows takes on its way, at most: its input and its result on
  // the host, and as much on the device.
  [[nodiscard]] std::uint64_t band_memory(int rows) const { return 4 * largest_buffer(rows); }
};

struct PlanLimits {
  // Bytes that a buffer of a band should take: small enough for a CPU's caches, large enough to
  // fill a GPU.
  std::uint64_t target_buffer = std::uint64_t{8} << 20U;
  // Bytes that a buffer may take: the device's largest allocation.
  std::uint64_t max_buffer = UINT64_MAX;
  // Bytes that all bands under way may take. Three are to find room, so that one can be decoded,
  // one filtered and one encoded; but rather fewer than three than bands lower than 16 rows, and
  // rather low ones than none.
  std::uint64_t max_memory = UINT64_MAX;
  // Output rows a band, whatever target and memory say; fewer where max_buffer demands it.
  std::optional<int> band_rows = std::nullopt;
};

// Neighbouring stages that one stage can stand for become one pass, and stages that change nothing
// are left out; neither changes a bit. Throws UsageError where a stage cannot work on what comes
// before it, and DeviceError where not even a band of one row fits into `limits.max_buffer`.
[[nodiscard]] Plan make_plan(ImageSize size, const PixelFormat& input, const StageChain& chain,
                             const PlanLimits& limits = {});

}  // namespace gpufilter
