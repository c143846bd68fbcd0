// The rows of any PNG file that libpng does not decode, inflated from front to back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/background.hpp"
#include "codec/deflate/pieces.hpp"
#include "codec/png/inflater.hpp"
#include "codec/png/row_shape.hpp"

namespace gpufilter {

// A row at which reading may begin.
struct PngRowPlace {
  std::size_t row = 0;
  PngInflatePlace stream = {};
  std::vector<std::uint8_t> above = {};  // the row before, unfiltered; empty: zeros
};

// While rows of a large picture are unfiltered and used, another thread inflates the next ones.
class PngSerialReader {
 public:
  // `stream` outlives the reader; it stands at `from`.
  PngSerialReader(PngStream& stream, const PngRowShape& shape, const PngRowPlace& from = {});
  ~PngSerialReader();
  PngSerialReader(const PngSerialReader&) = delete;
  PngSerialReader& operator=(const PngSerialReader&) = delete;

  // Writes the next row's samples to `row`. With the last row the compressed data have to end.
  // Throws PictureError.
  void read(std::uint8_t* row);

 private:
  // Rows that are inflated together.
  struct Batch {
    ScratchBytes filtered;
    ScratchBytes samples;  // unfiltered, as PNG orders bytes
    std::size_t rows = 0;
    std::optional<BackgroundTask> task = std::nullopt;  // goes first: it fills `filtered`
  };

  void start_inflating(Batch& batch);
  void advance();
  void end();

  PngStream& stream_;
  PngRowShape shape_;
  PngInflater inflater_;
  std::size_t batch_rows_;
  std::size_t to_inflate_;  // the next row
  std::size_t to_deliver_;
  std::vector<std::uint8_t> above_;       // before the first batch
  std::optional<Background> background_;  // where the picture is large
  std::array<Batch, 2> batches_;
  std::size_t current_ = 1;   // of the two, the one that is delivered
  std::size_t next_row_ = 0;  // of it
};

}  // namespace gpufilter
