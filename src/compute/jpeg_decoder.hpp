// Decodes baseline JPEGs on a device: the very samples that libjpeg-turbo decodes by default.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "device/device_rows.hpp"
#include "image/jpeg_coding.hpp"

namespace gpufilter {

// The kinds of the decoder's commands, in processing order.
enum class JpegStep { upload, entropy, transform, color };

// Takes each command, for the timing.
using NoteJpegCommand = std::function<void(JpegStep step, Event command)>;

// The data of a scan in a device's memory, with an index of its blocks. Once loaded, it may be used
// by several threads.
class JpegData {
 public:
  // Whether the decoder's index types are large enough for the scan.
  [[nodiscard]] static bool can_index(const JpegScan& scan);
  // Bytes of the device's memory that data of `scan` take at most.
  [[nodiscard]] static std::uint64_t memory_of(const JpegScan& scan);

  // For a scan that it can index; `session` outlives the data. Builds the kernels. Throws
  // DeviceError.
  JpegData(Session& session, JpegScan scan);

  // Loads and indexes `bytes`, as JpegScan::read() yields them, and waits until that is done. False
  // if libjpeg would warn about them, or refuse them, or if their codes find no common rhythm
  // within a reasonable time. Throws DeviceError.
  [[nodiscard]] bool load(Queue& queue, std::span<const std::uint8_t> bytes,
                          const NoteJpegCommand& note);

  [[nodiscard]] const JpegScan& scan() const { return scan_; }
  [[nodiscard]] CodeDescription description() const;

 private:
  friend class JpegRows;
  class Loading;

  struct Kernels {
    explicit Kernels(Session& session);

    Kernel add_up;
    Kernel count_bytes;
    Kernel copy_data;
    Kernel count_subsequences;
    Kernel list_subsequences;
    Kernel synchronize;
    Kernel check_data;
  };

  [[nodiscard]] std::int32_t blocks() const;
  [[nodiscard]] std::int32_t segment_blocks() const;  // between two restart markers
  [[nodiscard]] std::int32_t segments() const;

  Session& session_;
  JpegScan scan_;
  Kernels kernels_;
  std::int32_t subsequences_ = 0;
  Buffer tables_;        // of codes and divisors
  Buffer data_;          // without markers
  Buffer ranges_;        // of the subsequences
  Buffer first_places_;  // where decoding of each subsequence begins
  Buffer sums_;          // blocks and DC differences in the subsequences
};

// Decodes rows of a picture, one band at a time. Not thread-safe: bands that are decoded at the
// same time need one each.
class JpegRows {
 public:
  // Bytes of the device's memory for bands of `rows` rows.
  [[nodiscard]] static std::uint64_t memory_of(const JpegScan& scan, int rows);

  // For bands of up to `max_rows` rows. `data` is loaded, and outlives this. Throws DeviceError.
  JpegRows(Session& session, const JpegData& data, int max_rows);

  // Queues the commands that fill `target` with its rows, at row_pitch().
  void enqueue(Queue& queue, const DeviceRows& target, const NoteJpegCommand& note) const;

  // Descriptions of the inverse DCT, and of upsampling and conversion.
  [[nodiscard]] std::vector<CodeDescription> descriptions() const;

 private:
  const JpegData& data_;
  Buffer coefficients_;
  Buffer planes_;
  Kernel clear_;
  Kernel store_;
  Kernel transform_;
  Kernel color_;
};

}  // namespace gpufilter
