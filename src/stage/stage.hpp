// A stage: one step of the chain that a picture goes through. It knows its own arithmetic twice: as
// loops over rows for the processor and as kernels for OpenCL. Both give the same bits.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "base/rate.hpp"
#include "compute/picture_statistics.hpp"
#include "device/device_rows.hpp"
#include "image/metadata.hpp"
#include "image/placement.hpp"
#include "image/whole_picture.hpp"
#include "stage/device/pixel_function.hpp"
#include "stage/device/row_kernel.hpp"

namespace gpufilter {

// How a stage runs on one device, for one picture format: its kernels are built.
class DevicePass {
 public:
  virtual ~DevicePass() = default;

  [[nodiscard]] virtual const CodeDescription& description() const = 0;

  // Queues the work that fills `target` from `source`, which covers the stage's source_rows(). The
  // buffers have to differ. Not thread-safe. Returns the commands, in order, for the timing.
  virtual std::vector<Event> enqueue(Queue& queue, const DeviceRows& source,
                                     const DeviceRows& target) = 0;
};

// The amount of work of a stage, for estimates of its time.
struct StageCost {
  Rate rate;                      // of one operation
  double operations_a_pixel = 0;  // of the result
  // Numbers written into a program for this stage: compiling takes time for each of them.
  double literals = 0;
};

// The sizes of a stage's source and of its result.
struct StageSizes {
  ImageSize source;
  ImageSize target;
};

// A stage does not work on pictures of this size, which is known only once a header is read. It
// does not name the picture.
class UnsuitableSize : public UsageError {
 public:
  using UsageError::UsageError;
};

// What the samples of one picture mean, at a place of its chain.
struct PictureColors {
  PixelFormat format;
  Metadata metadata;
  int depth_outside = 8;  // between --linear and --encoded: of the samples before
};

class Stage;
using StageChain = std::vector<std::shared_ptr<const Stage>>;

class Stage {
 public:
  virtual ~Stage() = default;

  // The option that requests it, without dashes: "blur".
  [[nodiscard]] virtual std::string name() const = 0;

  // The requested value, for reports: "sepia"; empty if the name is enough.
  [[nodiscard]] virtual std::string label() const { return {}; }

  // Everything that decides its result, as text: two unresolved stages with the same key give the
  // same bits for every picture. It includes the contents of files, but not kernel variants.
  [[nodiscard]] virtual std::string key() const = 0;

  // Whether the user requested a certain OpenCL kernel, so that `auto` means OpenCL.
  [[nodiscard]] virtual bool names_kernel() const { return false; }

  // The size of its result. Throws UnsuitableSize.
  [[nodiscard]] virtual ImageSize output_size(ImageSize source) const { return source; }

  // The format of its result. Throws UsageError if it cannot work on `input`.
  [[nodiscard]] virtual PixelFormat output_format(const PixelFormat& input) const { return input; }

  // What looks like a mistake for pictures of this format, in a line for a warning; empty if
  // nothing does.
  [[nodiscard]] virtual std::string doubt(const PixelFormat& /*input*/) const { return {}; }

  // The stages that do its work one after the other for pictures of this shape, its steps; empty if
  // it does the work itself. `device` is nullptr for the processor: only for it, or only for some
  // devices, a stage may have steps. Results of all steps but the last may have any number of
  // channels, and samples of 32 or 64 bits.
  [[nodiscard]] virtual StageChain expand(const PictureShape& /*input*/,
                                          const DeviceInfo* /*device*/) const {
    return {};
  }

  // The rows of a source of size `source` that it reads for the rows `target` of its result,
  // including its border. `target` has to lie within the result. The returned rows may reach past
  // the source's edges if a border wraps around: row y then means row y modulo the height.
  [[nodiscard]] virtual RowRange source_rows(const RowRange& target, ImageSize /*source*/) const {
    return target;
  }

  [[nodiscard]] virtual StageCost cost(const PixelFormat& input) const = 0;

  // The single stage that gives the same bits as this one and then `next`, for every picture for
  // which it gives the same shape; nothing if there is none.
  [[nodiscard]] virtual std::shared_ptr<const Stage> merged_with(const Stage& /*next*/) const {
    return nullptr;
  }

  // Whether its result is its input, for every picture of this shape.
  [[nodiscard]] virtual bool changes_nothing(const PictureShape& /*input*/) const { return false; }

  // The first pixel of the part of its source that is its result, unchanged; nothing if it computes
  // pixels or copies more than one part. The processor does not copy such a result between stages.
  [[nodiscard]] virtual std::optional<PixelPosition> view_of_source() const { return std::nullopt; }

  // Where the pixels of its result lie in a source of this size, if all of them are pixels of the
  // source; nothing if it computes some, or needs to see them first.
  [[nodiscard]] virtual std::optional<Placement> placement(ImageSize /*source*/) const {
    return std::nullopt;
  }

  // By how much a source of this size may be decoded smaller because its result is smaller still
  // and need not have the bits that the whole source yields: 1, 2, 4 or 8.
  [[nodiscard]] virtual int decoding_divisor(ImageSize /*source*/) const { return 1; }
  // The stage that makes a result of the same size from a source of this size whose sides were
  // divided by `divisor` and rounded up. Only for a stage that allows it.
  [[nodiscard]] virtual std::shared_ptr<const Stage> after_smaller_decoding(ImageSize /*source*/,
                                                                            int /*divisor*/) const {
    return nullptr;
  }

  // If a row of its result needs rows from all over its source: how the source is turned, or not,
  // while the processor keeps it as a whole (pipeline/execute/kept_picture.hpp). Such a stage is
  // never run or prepared itself: the stages after it begin with what was kept.
  [[nodiscard]] virtual std::optional<Turn> keeps_source() const { return std::nullopt; }
  // The stage that does the rest, once `kept` is there; nullptr if nothing is left. Only for a
  // stage that keeps its source.
  [[nodiscard]] virtual std::shared_ptr<const Stage> rest_of(const WholePicture& /*kept*/) const {
    return nullptr;
  }

  // The stage for pictures with this EXIF orientation, 1 to 8; nullptr if that makes no difference
  // to it.
  [[nodiscard]] virtual std::shared_ptr<const Stage> for_orientation(int /*orientation*/) const {
    return nullptr;
  }

  // The stage for pictures whose samples mean this; nullptr if that makes no difference to it.
  // Changes `colors` to what its result's mean, apart from the format. Throws UnusableProfile.
  [[nodiscard]] virtual std::shared_ptr<const Stage> for_colors(PictureColors& /*colors*/) const {
    return nullptr;
  }
  // The profile of its result, if it is not that of its source.
  [[nodiscard]] virtual std::shared_ptr<const IccProfile> new_profile() const { return nullptr; }

  // Why only the processor carries it out, also in chains on a device; empty if it has kernels.
  [[nodiscard]] virtual std::string processor_only() const { return {}; }

  // The statistics of the whole picture that it needs before it can process any of it. Such a stage
  // is never run or prepared itself; the stage that resolved() returns is.
  [[nodiscard]] virtual std::optional<Quantity> needs() const { return std::nullopt; }

  // The stage for a picture in the format `input` with these statistics, those of needs(). Only for
  // a stage with a need; the returned stage has none.
  [[nodiscard]] virtual std::shared_ptr<const Stage> resolved(const PictureStatistics& statistics,
                                                              const PixelFormat& input) const;

  // On the processor: fills `target`, rows within the result, from `source`, which covers
  // source_rows(target.rows, sizes.source). Safe to call from several threads.
  virtual void run(const ConstRows& source, const MutableRows& target,
                   const StageSizes& sizes) const;
  // Whether `target` may be `source`: each pixel depends on that pixel alone, format and size stay.
  [[nodiscard]] virtual bool runs_in_place() const { return false; }

  // On the processor: bytes that one call of run() takes for a source of this shape besides the
  // rows, and the rows of the result that suit a call, because it computes some around them as
  // well.
  [[nodiscard]] virtual std::uint64_t host_scratch_bytes(const PictureShape& /*input*/) const {
    return 0;
  }
  [[nodiscard]] virtual int suitable_rows() const { return 1; }

  // Its computation for a single pixel of this format, for a kernel on `device`; nothing if it also
  // reads other pixels, or would not suit such a kernel.
  [[nodiscard]] virtual std::optional<PixelFunction> pixel_function(
      const PixelFormat& /*input*/, const DeviceInfo& /*device*/) const {
    return std::nullopt;
  }

  // For a stage that also reads a pixel's neighbours and keeps format and size: a kernel that loads
  // and stores through the macros of kernels/stage/fused_window.cl, so that other stages can share
  // it; nothing if there is none.
  [[nodiscard]] virtual std::optional<RowKernel> window_kernel(const PixelFormat& /*input*/,
                                                               const DeviceInfo& /*device*/,
                                                               const WindowUse& /*use*/) const {
    return std::nullopt;
  }

  // Bytes of scratch memory on the device that suit it, besides the rows, for each band in progress
  // of a picture of this shape; 0: it uses none.
  [[nodiscard]] virtual std::uint64_t scratch_bytes(const PictureShape& /*input*/,
                                                    const DeviceInfo& /*device*/) const {
    return 0;
  }

  // The same stage with at most `bytes` of scratch memory, or its minimum if that is more. Only for
  // a stage that uses some.
  [[nodiscard]] virtual std::shared_ptr<const Stage> with_scratch(std::uint64_t bytes) const;

  // Builds the kernels for sources of this shape: by default a kernel generated from its pixel
  // function. Throws DeviceError; UsageError if a requested option (a tile) does not fit the
  // device.
  [[nodiscard]] virtual std::unique_ptr<DevicePass> prepare(Session& session,
                                                            const PictureShape& input) const;

  // The shape of its result. Throws UsageError, UnsuitableSize.
  [[nodiscard]] PictureShape output(const PictureShape& input) const {
    return {output_size(input.size), output_format(input.format)};
  }
};

// The chain with its steps in place of the stages that have some. Throws what Stage::output() does.
[[nodiscard]] StageChain expanded(const StageChain& chain, const PictureShape& input,
                                  const DeviceInfo* device);

// The chain for one picture, as for_colors() says. Throws UnusableProfile, and what
// Stage::output_format() does.
[[nodiscard]] StageChain with_colors_of(const StageChain& chain, const PixelFormat& input,
                                        const Metadata& metadata);

}  // namespace gpufilter
