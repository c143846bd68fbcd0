// The bytes of a JPEG read before it is known who will decode them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <memory>
#include <span>

#include "codec/byte_source.hpp"

namespace gpufilter {

class JpegReadAhead {
 public:
  // `read` are bytes that were already read from `source`, which outlives this and has the rest.
  JpegReadAhead(ByteSource& source, std::span<const std::uint8_t> read);

  // Reads more bytes. False at the end of the source, and where it throws: then read_on() will.
  // Throws std::bad_alloc.
  bool read_more();

  // The bytes that were read and not dropped.
  [[nodiscard]] std::span<const std::uint8_t> bytes() const { return {bytes_.get(), size_}; }

  // Forgets the first `count` bytes.
  void drop(std::size_t count);

  // For a decoder that takes over: yields bytes() and then what the source has left. Throws what
  // the source throws.
  std::size_t read_on(std::span<std::uint8_t> buffer);

 private:
  struct Free {
    void operator()(std::uint8_t* bytes) const { std::free(bytes); }
  };

  void make_room(std::size_t count);

  ByteSource& source_;
  // A std::vector would hold all bytes twice whenever it grows. realloc() moves large blocks
  // without copying them.
  std::unique_ptr<std::uint8_t, Free> bytes_;
  std::size_t capacity_ = 0;
  std::size_t size_ = 0;
  std::size_t given_ = 0;  // by read_on()
  bool ended_ = false;
  std::exception_ptr failure_;  // of the source
};

}  // namespace gpufilter
