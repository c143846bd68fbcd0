// A stage: one step of the chain that a picture goes through. It knows its own arithmetic, twice:
// as the C++ reference and as kernels, and both give the same bits.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "compute/picture_statistics.hpp"
#include "device/device_rows.hpp"

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
  };
  [[nodiscard]] virtual const Description& description() const = 0;

  // Queues the work that fills `target` from `source`. `source` covers target.rows and the stage's
  // halo as far as it lies in the picture (under a wrapping border: all of it). The buffers differ.
  // Not for use by two threads at a time. Returns the commands, in order, for the timing.
  virtual std::vector<Event> enqueue(Queue& queue, const DeviceRows& source,
                                     const DeviceRows& target) = 0;
};

class Stage {
 public:
  virtual ~Stage() = default;

  // The option that asks for it, without dashes: "blur".
  [[nodiscard]] virtual std::string name() const = 0;

  // Everything that decides its result, as text: two stages with one key, as they were asked for
  // (not resolved), give the same bits for every picture. Kernel variants are no part of it, the
  // contents of files are.
  [[nodiscard]] virtual std::string key() const = 0;

  // Rows above and below an output row that it reads.
  [[nodiscard]] virtual int halo() const { return 0; }

  // Whether rows past the picture's edge are those of its opposite side.
  [[nodiscard]] virtual bool wraps() const { return false; }

  // The format of its result. Throws UsageError where it cannot work on `input`.
  [[nodiscard]] virtual PixelFormat output_format(const PixelFormat& input) const { return input; }

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

  // The C++ reference: fills `target` from `source`, rows of a picture `height` high. `source`
  // covers what enqueue() asks for. Safe to call from several threads.
  virtual void run(const ConstRows& source, const MutableRows& target, int height) const;

  // Builds what it takes to run on a device. Throws DeviceError; UsageError where what was asked
  // for (a tile) does not fit the device.
  [[nodiscard]] virtual std::unique_ptr<DevicePass> prepare(Session& session, ImageSize size,
                                                            const PixelFormat& input) const;
};

}  // namespace gpufilter
