// The bytes of a JPEG read before it is known who will decode them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <span>
#include <vector>

#include "codec/byte_source.hpp"

namespace gpufilter {

class JpegReadAhead {
 public:
  // `read` are bytes that were already read from `source`, which outlives this and has the rest.
  JpegReadAhead(ByteSource& source, std::span<const std::uint8_t> read);

  // Reads more bytes. False at the end of the source, and where it throws: then read_on() will.
  bool read_more();

  // What was read, and not dropped.
  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return bytes_; }

  // Forgets the first `count` bytes.
  void drop(std::size_t count);

  // For a decoder that takes over: yields bytes() and then what the source has left. Throws what
  // the source throws.
  std::size_t read_on(std::span<std::uint8_t> buffer);

 private:
  ByteSource& source_;
  std::vector<std::uint8_t> bytes_;
  std::size_t given_ = 0;  // by read_on()
  bool ended_ = false;
  std::exception_ptr failure_;  // of the source
};

}  // namespace gpufilter
