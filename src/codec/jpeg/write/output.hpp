// libjpeg's destination manager for a ByteSink.
#pragma once

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

}  // namespace gpufilter
