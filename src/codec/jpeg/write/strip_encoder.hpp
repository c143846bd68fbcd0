// One strip of a JPEG: whole rows of MCUs, from one restart marker to the next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "codec/byte_sink.hpp"
#include "codec/jpeg/library.hpp"
#include "codec/jpeg/write/encoding.hpp"
#include "codec/sample_conversion.hpp"

namespace gpufilter {

// libjpeg's destination manager for a ByteSink.
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

// How many rows of MCUs each strip of a picture has, except the last one, which may have fewer; 0
// if the picture is too small to be divided. It depends only on size and subsampling. A strip costs
// at most 10 bytes (the marker, bits up to a whole byte, three coefficients that refer to nothing)
// and has 256 Ki pixels, which take 3 KB even in a single colour. So strips cost at most 0.3 %,
// including the segment that announces the markers.
[[nodiscard]] int mcu_rows_a_strip(const McuGrid& grid);

// Encodes one strip after another and reuses its memory.
class JpegStripEncoder {
 public:
  // `name` is the picture's name in messages.
  JpegStripEncoder(const std::string& name, const JpegPicture& picture);

  // Begins a strip of `count` rows, which are then passed one by one. All functions throw
  // std::bad_alloc, and Stopped as check_stop().
  void begin(int count);
  void write_row(const std::uint8_t* row);
  // The entropy-coded data of the strip and an end marker, valid until the next strip begins.
  [[nodiscard]] std::span<std::uint8_t> finish();

 private:
  JpegErrors errors_;
  std::vector<std::uint8_t> encoded_;
  std::unique_ptr<ByteSink> sink_;  // to `encoded_`
  JpegOutput output_;
  Compressor jpeg_;
  RowConversion conversion_;
};

}  // namespace gpufilter
