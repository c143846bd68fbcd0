// The rows of common PNG files, inflated by ISA-L.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "codec/png/stream.hpp"
#include "image/rows.hpp"

namespace gpufilter {

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
  struct Inflater;

  void read_row(const std::uint8_t* filtered, std::uint8_t* row);

  PngStream& stream_;
  PixelFormat format_;
  std::size_t row_bytes_;
  int rows_left_;
  int rows_at_a_time_;
  std::unique_ptr<Inflater> inflater_;
  std::vector<std::uint8_t> filtered_;
  std::vector<std::uint8_t> above_;
  std::vector<std::uint8_t> current_;
};

}  // namespace gpufilter
