// Reads the rows of any PNG file that libpng does not decode, from the first to the last.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <vector>

#include "base/background.hpp"
#include "codec/deflate/pieces.hpp"
#include "codec/png/read/inflater.hpp"
#include "codec/png/read/row_shape.hpp"

namespace gpufilter {

// A row at which reading can begin.
struct PngRowPlace {
  std::size_t row = 0;
  PngInflatePlace stream = {};
  std::vector<std::uint8_t> above = {};  // samples of the row above; empty: zeros
};

// In large pictures, another thread inflates the next rows while these are unfiltered and used.
class PngSerialReader {
 public:
  // `stream` outlives the reader and is at `from`.
  PngSerialReader(PngStream& stream, const PngRowShape& shape, const PngRowPlace& from = {});
  ~PngSerialReader();
  PngSerialReader(const PngSerialReader&) = delete;
  PngSerialReader& operator=(const PngSerialReader&) = delete;

  // Writes the next row's samples to `row`. Throws PictureError.
  void read(std::uint8_t* row);

  // Once all rows have been read: throws PictureError if the compressed data does not end there.
  void finish();

 private:
  // Rows that are inflated together.
  struct Batch {
    ScratchBytes filtered;
    ScratchBytes samples;  // unfiltered, in PNG's byte order
    std::size_t rows = 0;
    std::exception_ptr failure = {};                    // of the row after them
    std::optional<BackgroundTask> task = std::nullopt;  // destroyed first: it fills `filtered`
  };

  void start_inflating(Batch& batch);
  void inflate(Batch& batch);
  void unfilter(Batch& batch, const std::uint8_t* above);
  void advance();

  PngStream& stream_;
  PngRowShape shape_;
  PngInflater inflater_;
  std::size_t batch_rows_;
  std::size_t to_inflate_;                // the next row
  std::vector<std::uint8_t> above_;       // before the first batch
  std::optional<Background> background_;  // if the picture is large
  std::array<Batch, 2> batches_;
  std::size_t current_ = 1;   // index of the batch that is being delivered
  std::size_t next_row_ = 0;  // of that batch
};

}  // namespace gpufilter
