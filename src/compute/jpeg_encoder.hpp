// Encodes pixels in the memory of a device as baseline JPEG, with libjpeg's bytes.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "device/device_rows.hpp"
#include "image/jpeg_coding.hpp"

namespace gpufilter {

// Colour, downsampling, forward DCT, quantisation and Huffman code are one kernel, which writes a
// fragment of the data for each work-group; other kernels join the fragments. Not for use by two
// threads at a time.
class JpegEncoder {
 public:
  // Suitable room for the data of a band of `rows` rows: ordinary pictures need less. An encoder
  // takes twice as many on the device.
  [[nodiscard]] static std::uint64_t suitable_bytes(const JpegCoding& coding, int rows);

  // The number of rows of a band, at most `rows`, that suits the coding: whole restart intervals or
  // the whole picture; 0 if there is none.
  [[nodiscard]] static int suitable_rows(const JpegCoding& coding, int rows);

  // For bands of at most `max_rows` rows and `max_bytes` bytes of data, including stuffed zero
  // bytes. `session` outlives it. Throws DeviceError.
  JpegEncoder(Session& session, const JpegCoding& coding, int max_rows, std::uint64_t max_bytes);

  // The steps of its work, for reports: the kernel that makes fragments, and those that join them.
  static constexpr std::array steps{"forward DCT", "entropy coding"};
  [[nodiscard]] const std::array<CodeDescription, 2>& descriptions() const { return descriptions_; }

  struct Commands {
    std::vector<Event> blocks;
    std::vector<Event> joining;
    std::vector<Event> downloads;
  };
  // Encodes `rows`, whole restart intervals; returns when that is done. Adds what it queued to
  // `commands`. Nothing if the data take more than `max_bytes`. Throws DeviceError.
  [[nodiscard]] std::optional<CodedRows> encode(Queue& queue, const DeviceRows& rows,
                                                Commands& commands);

 private:
  struct Layout;
  [[nodiscard]] Layout layout_of(const RowRange& rows) const;
  void enqueue(Queue& queue, const DeviceRows& rows, const Layout& layout, Commands& commands);

  struct Kernels {
    Kernel encode;
    Kernel place_fragments;
    Kernel measure_chunks;
    Kernel place_chunks;
    Kernel stuff_bytes;
  };
  struct Buffers {
    Buffer tables;
    Buffer fragments;
    Buffer fragment_table;
    Buffer starts;
    Buffer chunks;
    Buffer sizes;
    Buffer counters;
    Buffer data;
  };

  Session& session_;
  JpegCoding coding_;
  std::int32_t capacity_;  // bytes of the data before and after zeros are inserted, each
  std::int32_t groups_;    // work-groups for the chunks
  Kernels kernels_;
  Buffers buffers_;
  std::vector<std::uint32_t> table_words_;  // empty once the buffer holds them
  std::vector<std::uint32_t> counted_;      // the words of the counters
  std::array<CodeDescription, 2> descriptions_;
};

}  // namespace gpufilter
