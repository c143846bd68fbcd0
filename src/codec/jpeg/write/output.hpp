// libjpeg's destination manager for a ByteSink.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "codec/byte_sink.hpp"
#include "codec/jpeg/library.hpp"

namespace gpufilter {

class JpegOutput : public jpeg_destination_mgr {
 public:
  JpegOutput(ByteSink& sink, JpegErrors& errors);

  // Writes what is still in the buffer. Call only within JpegErrors::run().
  void flush();

 private:
  static JpegOutput& of(j_compress_ptr jpeg) { return *static_cast<JpegOutput*>(jpeg->dest); }
  void rewind();
  void write(std::size_t count);

  ByteSink& sink_;
  JpegErrors& errors_;
  std::vector<JOCTET> buffer_;
};

// Each picture replaces the one before it. Throws std::bad_alloc through JpegErrors::run().
class JpegMemoryOutput : public jpeg_destination_mgr {
 public:
  explicit JpegMemoryOutput(JpegErrors& errors);
  [[nodiscard]] std::size_t size() const { return bytes_.size() - free_in_buffer; }
  [[nodiscard]] std::span<JOCTET> bytes() { return std::span(bytes_).first(size()); }

 private:
  static JpegMemoryOutput& of(j_compress_ptr jpeg) {
    return *static_cast<JpegMemoryOutput*>(jpeg->dest);
  }
  void grow();

  JpegErrors& errors_;
  std::vector<JOCTET> bytes_;
};

}  // namespace gpufilter
