// A stage: one step of the chain that a picture goes through. It knows its own arithmetic twice: as
// loops over rows for the processor and as kernels for OpenCL. Both give the same bits.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/picture_statistics.hpp"
#include "device/device_rows.hpp"
#include "stages/pixel_function.hpp"
#include "stages/row_kernel.hpp"

namespace gpufilter {

// How a stage runs on one device, for one picture format: its kernels are built.
class DevicePass {
 public:
  virtual ~DevicePass() = default;

  // The kernel in use and why it was chosen: "tiled 16x16", "asked for".
  struct Description {
    std::string variant;
    std::string reason;
    ProgramOrigin origin = ProgramOrigin::compiled;
    std::string source = {};  // of its program
  };
  [[nodiscard]] virtual const Description& description() const = 0;

  // Queues the work that fills `target` from `source`, which covers the stage's source_rows(). The
  // buffers differ. Not for use by two threads at a time. Returns the commands, in order, for the
  // timing.
  virtual std::vector<Event> enqueue(Queue& queue, const DeviceRows& source,
                                     const DeviceRows& target) = 0;
};

// How much work a stage is, for estimates of its time.
struct StageCost {
  std::string kind;               // stages of one kind take the same time for an operation
  double operations_a_pixel = 0;  // of the source
  // Numbers written into a program for this very stage: compilers take time for each.
  double literals = 0;
};

class Stage {
 public:
  virtual ~Stage() = default;

  // The option that asks for it, without dashes: "blur".
  [[nodiscard]] virtual std::string name() const = 0;

  // What was asked for, for the account of a run: "sepia"; empty where the name says it all.
  [[nodiscard]] virtual std::string label() const { return {}; }

  // Everything that decides its result, as text: two stages with one key, as they were asked for
  // (not resolved), give the same bits for every picture. Kernel variants are no part of it, the
  // contents of files are.
  [[nodiscard]] virtual std::string key() const = 0;

  // Whether the user asked for a certain OpenCL kernel, so that `auto` means OpenCL.
  [[nodiscard]] virtual bool names_kernel() const { return false; }

  // The size of its result.
  [[nodiscard]] virtual ImageSize output_size(ImageSize source) const { return source; }

  // The format of its result. Throws UsageError where it cannot work on `input`.
  [[nodiscard]] virtual PixelFormat output_format(const PixelFormat& input) const { return input; }

  // The rows of a source of size `source` that it reads for the rows `target` of its result, its
  // border included. `target` lies within the result. The answer may reach past the source's edges:
  // row y then stands for row y modulo the height, which is how a border wraps around.
  [[nodiscard]] virtual RowRange source_rows(const RowRange& target, ImageSize source) const;

  [[nodiscard]] virtual StageCost cost(const PixelFormat& input) const = 0;

  // The one stage that gives the same bits as this one and then `next`, for every picture that it
  // takes to the same format as they do; nothing where there is none.
  [[nodiscard]] virtual std::shared_ptr<const Stage> merged_with(const Stage& next) const;

  // Whether its result is its input, for every picture of this format.
  [[nodiscard]] virtual bool changes_nothing(const PixelFormat& input) const;

  // What it has to know of the whole picture before it can work on any of it. A stage with such a
  // need is never run or prepared itself: the one that resolved() returns is.
  [[nodiscard]] virtual std::optional<Quantity> needs() const { return std::nullopt; }

  // The stage for a picture with these statistics, which are what needs() asks for, in the format
  // `input`. Only for a stage with a need; the one returned has none.
  [[nodiscard]] virtual std::shared_ptr<const Stage> resolved(const PictureStatistics& statistics,
                                                              const PixelFormat& input) const;

  // On the processor: fills `target`, rows within the result, from `source`, which covers
  // source_rows(target.rows, size) of a picture of this size. Safe to call from several threads.
  virtual void run(const ConstRows& source, const MutableRows& target, ImageSize size) const;

  // What it makes of a pixel of this format, whatever stands around it, for a kernel on `device`;
  // nothing where it reads other pixels too, or would not suit such a kernel.
  [[nodiscard]] virtual std::optional<PixelFunction> pixel_function(const PixelFormat& input,
                                                                    const DeviceInfo& device) const;

  // Where it reads a pixel's neighbours too and makes a picture of the same format and size: the
  // kernel that loads and stores through the macros of kernels/fused_window.cl, so that other
  // stages may share it; nothing where there is none.
  [[nodiscard]] virtual std::optional<RowKernel> window_kernel(const PixelFormat& input,
                                                               const DeviceInfo& device) const;

  // Bytes of a device's memory that suit it beside the rows, for each band under way of a picture
  // of this shape; 0: it takes none.
  [[nodiscard]] virtual std::uint64_t scratch_bytes(const PictureShape& input,
                                                    const DeviceInfo& device) const;

  // The same stage, which takes at most `bytes` of those, or as few as it can work with. Only for a
  // stage that takes some.
  [[nodiscard]] virtual std::shared_ptr<const Stage> with_scratch(std::uint64_t bytes) const;

  // Builds what it takes to run on a device, for sources of this size and format: by default a
  // kernel that is generated from its pixel function. Throws DeviceError; UsageError where what was
  // asked for (a tile) does not fit the device.
  [[nodiscard]] virtual std::unique_ptr<DevicePass> prepare(Session& session, ImageSize size,
                                                            const PixelFormat& input) const;
};

}  // namespace gpufilter
