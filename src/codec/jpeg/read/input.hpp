// libjpeg's source manager for bytes from any source.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "codec/byte_source.hpp"
#include "codec/jpeg/library.hpp"

namespace gpufilter {

// The place in a scan where a decompressor starts if it does not start at the file's header.
struct JpegPlace {
  std::uint64_t restart = 0;        // restart markers before this place
  std::uint64_t restarts_left = 0;  // and after it
};

class JpegInput : public jpeg_source_mgr {
 public:
  // Fills the buffer as far as there are bytes left, and returns how many it wrote.
  using Read = std::function<std::size_t(std::span<JOCTET>)>;

  // Bytes that are requested at a time.
  static constexpr std::size_t buffer_size = std::size_t{64} << 10U;

  explicit JpegInput(JpegErrors& errors);

  // The bytes of a file from its beginning.
  void open(Read read);

  // `head`, followed by the bytes of a scan from `place` on. libjpeg counts restart markers from 0
  // there, so they are renumbered; if one is missing, the message contains the number in the file.
  // `head` outlives the decompressor.
  void open(Read read, std::span<const JOCTET> head, const JpegPlace& place);

  // The bytes of the buffer that libjpeg has not consumed.
  [[nodiscard]] std::span<const JOCTET> unread() const {
    return {next_input_byte, bytes_in_buffer};
  }

 private:
  static JpegInput& of(j_decompress_ptr jpeg) { return *static_cast<JpegInput*>(jpeg->src); }
  static boolean resync(j_decompress_ptr jpeg, int due);
  static bool may_end(const jpeg_decompress_struct& jpeg);
  void fill(const jpeg_decompress_struct& jpeg);
  void skip(const jpeg_decompress_struct& jpeg, long count);
  void renumber(std::span<JOCTET> bytes);

  JpegErrors& errors_;
  Read read_;
  std::vector<JOCTET> buffer_;
  unsigned shift_ = 0;  // of the numbers of restart markers
  std::uint64_t restarts_left_ = 0;
  bool behind_ff_ = false;
};

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
