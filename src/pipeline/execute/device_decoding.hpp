// Pictures that are decoded by the device that filters them, and the commands of their bands.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/timeline.hpp"
#include "codec/codec_table.hpp"
#include "compute/jpeg_decoder.hpp"
#include "device/session.hpp"
#include "image/rows.hpp"
#include "pipeline/execute/band_executor.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter {

// The commands of one band on a device, to be timed when they are done.
class BandCommands {
 public:
  // Empty rows: the commands belong to no band.
  BandCommands(const RowRange& band, Timeline& timeline) : band_(band), timeline_(timeline) {}

  void add(Event event, Activity activity, int pass, std::uint64_t bytes);
  // The kernels of one pass: its bytes are counted once, whatever they move among themselves.
  void add_kernels(std::vector<Event> events, int pass, std::uint64_t bytes);

  // Only after the queue has finished.
  void record();

 private:
  struct Command {
    Event event;
    Span span;
    Nanoseconds queued = 0;
  };

  void record_launch(Nanoseconds from, Nanoseconds to);

  RowRange band_;
  Timeline& timeline_;
  Nanoseconds begun_ = now();
  std::vector<Command> commands_;
};

// `scan` if a device is to decode the picture, of which the processor has already decoded
// `rows_decoded` rows: as the options say, and if they leave it open, if a GPU is clearly sooner.
[[nodiscard]] const JpegScan* scan_for_device(const RunOptions& options,
                                              const PictureHeader& header,
                                              const std::optional<JpegScan>& scan,
                                              int rows_decoded);

// The commands of the decoder, as passes in the order of its steps.
[[nodiscard]] NoteJpegCommand noted_in(BandCommands& commands);

class DeviceDecoding {
 public:
  // Passes in reports.
  static constexpr int steps = 3;

  // Reads the scan and loads it into the device's memory. Nothing if libjpeg has to decode it.
  // Throws PictureError, DeviceError.
  [[nodiscard]] static std::unique_ptr<DeviceDecoding> start(Session& session, const JpegScan& scan,
                                                             Timeline& timeline);

  // For one lane of bands of `plan`.
  [[nodiscard]] std::unique_ptr<JpegRows> make_rows(const Plan& plan, Timeline& timeline) const;

  [[nodiscard]] std::vector<PassReport> describe(const JpegRows& rows) const;

 private:
  DeviceDecoding(Session& session, const JpegScan& scan)
      : session_(session), data_(session, scan) {}

  Session& session_;
  JpegData data_;
};

// A plan whose source the device decodes; the decoder's memory is part of the plan's. Everything
// together may take `limits.max_memory`. nullptr if that is too little, or if the device cannot
// start.
[[nodiscard]] std::unique_ptr<Plan> plan_for_decoding(const PictureShape& input,
                                                      const LoweredChain& chain,
                                                      const JpegScan& scan, PlanLimits limits);

}  // namespace gpufilter
