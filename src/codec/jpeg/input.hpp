// libjpeg's source manager over bytes that come from anywhere.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "codec/jpeg/library.hpp"

namespace gpufilter {

// Where in a scan a decompressor begins that does not begin at the file's header.
struct JpegPlace {
  std::uint64_t restart = 0;        // how many restart markers lie before
  std::uint64_t restarts_left = 0;  // and how many are due behind
};

class JpegInput : public jpeg_source_mgr {
 public:
  // Fills the buffer, or as much of it as there are bytes left.
  using Read = std::function<std::size_t(std::span<JOCTET>)>;

  explicit JpegInput(JpegErrors& errors);

  // The bytes of a file from its beginning.
  void open(Read read);

  // `head` and then the bytes of a scan from `place` on. libjpeg counts restart markers from 0
  // there, so they are renumbered; where one is missing, the message has the file's own numbers.
  // `head` outlives the decompressor.
  void open(Read read, std::span<const JOCTET> head, const JpegPlace& place);

  // What libjpeg has not taken of the buffer.
  [[nodiscard]] std::span<const JOCTET> unread() const {
    return {next_input_byte, bytes_in_buffer};
  }

 private:
  static JpegInput& of(j_decompress_ptr jpeg) { return *static_cast<JpegInput*>(jpeg->src); }
  static boolean resync(j_decompress_ptr jpeg, int due);
  void fill();
  void skip(long count);
  void renumber(std::span<JOCTET> bytes);

  JpegErrors& errors_;
  Read read_;
  std::vector<JOCTET> buffer_;
  unsigned shift_ = 0;  // of the numbers of restart markers
  std::uint64_t restarts_left_ = 0;
  bool behind_ff_ = false;
};

}  // namespace gpufilter
