// One strip of a JPEG: whole rows of MCUs, from one restart marker to the next.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "codec/jpeg/library.hpp"
#include "codec/jpeg/write/encoding.hpp"
#include "codec/jpeg/write/output.hpp"
#include "codec/sample_conversion.hpp"

namespace gpufilter {

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
  // std::bad_alloc.
  void begin(int count);
  void write_row(const std::uint8_t* row);
  // The entropy-coded data of the strip and an end marker, valid until the next strip begins.
  [[nodiscard]] std::span<std::uint8_t> finish();

 private:
  JpegErrors errors_;
  JpegMemoryOutput output_;
  Compressor jpeg_;
  RowConversion conversion_;
  std::size_t headers_ = 0;  // bytes before the data
};

}  // namespace gpufilter
