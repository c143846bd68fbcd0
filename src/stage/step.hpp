// A step: work on the rows of a picture. It implements its arithmetic twice, as loops over rows for
// the processor and as OpenCL kernels. Both give the same bits.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/timeline.hpp"
#include "device/device_rows.hpp"
#include "image/rows.hpp"
#include "stage/device/pixel_function.hpp"
#include "stage/device/row_kernel.hpp"

namespace gpufilter {

// How a step runs on one device, for one picture format: its kernels are built.
class DevicePass {
 public:
  virtual ~DevicePass() = default;

  [[nodiscard]] virtual const CodeDescription& description() const = 0;

  // Queues the work that fills `target` from `source`, which covers the step's source_rows(). The
  // buffers have to differ. Not thread-safe. Returns the commands, in order, for the timing.
  virtual std::vector<Event> enqueue(Queue& queue, const DeviceRows& source,
                                     const DeviceRows& target) = 0;
};

// The amount of work of a step, for estimates of its time.
struct StageCost {
  Rate rate;                      // of one operation
  double operations_a_pixel = 0;  // of the result
  // Numbers written into a program for this step: compiling takes time for each of them.
  double literals = 0;
};

// The sizes of a step's source and of its result.
struct StageSizes {
  ImageSize source;
  ImageSize target;
};

// A step cannot work on a picture of this size, which is known only once its header is read. The
// message does not name the picture.
class UnsuitableSize : public UsageError {
 public:
  using UsageError::UsageError;
};

// A stage cannot work on samples of this kind. The message does not name the picture.
class UnsuitableFormat : public UsageError {
 public:
  using UsageError::UsageError;
};

// For reports: "blur", and what else is worth saying, such as "sigma 2"; that may be empty.
struct StepTitle {
  std::string name;
  std::string label = {};
};

class Step;
using Steps = std::vector<std::shared_ptr<const Step>>;

// The picture and the device for which a step runs.
struct StepPlace {
  PictureShape source;
  const DeviceInfo* device = nullptr;  // nullptr: on the processor
};

// Properties that only few steps have, for one StepPlace.
struct StepProperties {
  bool changes_nothing = false;  // the result is the source
  // run() may get the same rows as source and target: each pixel depends on that pixel alone,
  // format and size stay.
  bool runs_in_place = false;
  // The result is the part of the source that begins with this pixel. The processor does not copy
  // it between steps.
  std::optional<PixelPosition> view_of_source = std::nullopt;
  // On the processor: rows of the result that suit a call of run(), because it computes some around
  // them as well.
  int suitable_rows = 1;
  // Why only the processor carries it out, also in chains on a device; empty if it has kernels.
  std::string processor_only = {};
  // Bytes besides the rows: on the processor, for one call of run(); on a device, for a band in
  // progress.
  std::uint64_t scratch_bytes = 0;
  // On a device, for a step that uses scratch memory: this step with at most `bytes` of it, or its
  // minimum if that is more.
  std::function<std::shared_ptr<const Step>(std::uint64_t bytes)> with_scratch = nullptr;
};

class Step {
 public:
  virtual ~Step() = default;

  // ---- Every step has these, and code for the processor and for devices. ----

  [[nodiscard]] virtual StepTitle title() const = 0;

  [[nodiscard]] virtual StageCost cost(const PixelFormat& input) const = 0;

  // On the processor: fills `target`, rows within the result, from `source`, which covers
  // source_rows(target.rows, sizes.source). Safe to call from several threads.
  virtual void run(const ConstRows& source, const MutableRows& target,
                   const StageSizes& sizes) const;

  // The computation for a single pixel of this format, for a kernel on `device`; nothing if the
  // step also reads other pixels, or would not suit such a kernel.
  [[nodiscard]] virtual std::optional<PixelFunction> pixel_function(
      const PixelFormat& /*input*/, const DeviceInfo& /*device*/) const {
    return std::nullopt;
  }

  // For a step that also reads a pixel's neighbours and keeps format and size: a kernel that steps
  // over single pixels can share; nothing if there is none.
  [[nodiscard]] virtual std::optional<WindowKernel> window_kernel(const PixelFormat& /*input*/,
                                                                  const DeviceInfo& /*device*/,
                                                                  const WindowUse& /*use*/) const {
    return std::nullopt;
  }

  // Builds the kernels for sources of this shape: by default its window kernel, or one generated
  // from its pixel function. Throws DeviceError; UsageError if a requested option (a tile) does not
  // fit the device.
  [[nodiscard]] virtual std::unique_ptr<DevicePass> prepare(Session& session,
                                                            const PictureShape& input) const;

  // ---- Where the result has another shape, or depends on other rows. ----

  // The shape of the result, which may have any number of channels, and 32-bit or 64-bit samples,
  // if another step follows. Throws UnsuitableSize; UsageError if it cannot work on `input`.
  [[nodiscard]] virtual PictureShape output(const PictureShape& input) const { return input; }

  // The rows of a source of size `source` that the step reads for the rows `target` of its result,
  // including the halo. `target` has to lie within the result. The returned rows may reach past the
  // source's edges if a border wraps around: row y then means row y modulo the height.
  [[nodiscard]] virtual RowRange source_rows(const RowRange& target, ImageSize /*source*/) const {
    return target;
  }

  // ---- Few steps have these. ----

  // The single step that gives the same bits as this one and then `next`, for every picture for
  // which it gives the same shape; nothing if there is none.
  [[nodiscard]] virtual std::shared_ptr<const Step> merged_with(const Step& /*next*/) const {
    return nullptr;
  }

  [[nodiscard]] virtual StepProperties properties(const StepPlace& /*at*/) const { return {}; }
};

}  // namespace gpufilter
