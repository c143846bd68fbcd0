// Reads the rows of common PNG files without libpng.
#pragma once

#include <cstdint>
#include <memory>

#include "codec/png/row_shape.hpp"
#include "codec/png/stream.hpp"
#include "image/rows.hpp"

namespace gpufilter {

class PngPieceReader;
class PngSerialReader;

// Decodes the pixels that PngStream does not pass to libpng, with the checks that libpng makes: the
// checksums of the chunks and of the samples, too little data, too much data, unknown filters.
class PngPixelReader {
 public:
  // `stream` outlives the reader.
  PngPixelReader(PngStream& stream, ImageSize size, const PixelFormat& format);
  ~PngPixelReader();
  PngPixelReader(const PngPixelReader&) = delete;
  PngPixelReader& operator=(const PngPixelReader&) = delete;

  // Fills `rows` with the next rows. Throws PictureError; with the picture's last row also if the
  // compressed data does not end there.
  void read(const MutableRows& rows);

 private:
  void begin();
  void read_row(std::uint8_t* row);

  PngStream& stream_;
  PngRowShape shape_;
  // Once reading has begun, one of them exists.
  std::unique_ptr<PngPieceReader> pieces_;
  std::unique_ptr<PngSerialReader> serial_;
};

}  // namespace gpufilter
