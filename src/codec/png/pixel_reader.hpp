// The rows of common PNG files, inflated by ISA-L.
#pragma once

#include <cstdint>
#include <memory>

#include "codec/png/row_shape.hpp"
#include "codec/png/stream.hpp"
#include "image/rows.hpp"

namespace gpufilter {

class PngPieceReader;
class PngSerialReader;

// Decodes what PngStream keeps from libpng, with the checks that libpng makes: the chunks'
// checksums, that of the samples, too little data, too much, filters that are none.
class PngPixelReader {
 public:
  // `stream` outlives the reader.
  PngPixelReader(PngStream& stream, ImageSize size, const PixelFormat& format);
  ~PngPixelReader();
  PngPixelReader(const PngPixelReader&) = delete;
  PngPixelReader& operator=(const PngPixelReader&) = delete;

  // Fills every row of `rows` with the next ones; with the picture's last row the compressed data
  // have to end. Throws PictureError.
  void read(const MutableRows& rows);

 private:
  void begin();
  void read_row(std::uint8_t* row);

  PngStream& stream_;
  PngRowShape shape_;
  // One of them, once reading has begun.
  std::unique_ptr<PngPieceReader> pieces_;
  std::unique_ptr<PngSerialReader> serial_;
};

}  // namespace gpufilter
