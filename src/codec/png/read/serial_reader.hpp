// Reads the rows of any PNG file that libpng does not decode, from the first to the last.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <optional>
#include <span>
#include <vector>

#include <isa-l/igzip_lib.h>

#include "base/background.hpp"
#include "codec/deflate/format.hpp"
#include "codec/png/read/stream.hpp"
#include "codec/png/read/unfilter.hpp"

namespace gpufilter {

// A byte of a zlib stream at which a block begins, and the state of an inflater that has read the
// stream up to it.
struct PngInflatePlace {
  std::uint64_t compressed_bytes = 0;          // of the zlib stream; 0: its beginning
  std::span<const std::uint8_t> history = {};  // at least the last 32 KiB, or everything
  std::uint32_t adler32 = 1;                   // of everything before
};

// Inflates the data of PngStream's IDAT chunks by ISA-L. Messages of PictureError use the words of
// libpng and zlib.
class PngInflater {
 public:
  // `stream` outlives the inflater and is at `from`. From there on everything is as if this
  // inflater had begun with the first byte, messages included.
  explicit PngInflater(PngStream& stream, const PngInflatePlace& from = {});

  // Fills `output`. Throws PictureError if the data is damaged or ends too early.
  void inflate(std::span<std::uint8_t> output);

  // Bytes of `output` that the last call filled.
  [[nodiscard]] std::size_t inflated() const { return inflated_; }

  // Throws PictureError unless the data ends here, with the right checksum.
  void expect_end();

 private:
  [[nodiscard]] bool is_out_of_input() const;
  std::size_t step(std::span<std::uint8_t> output);
  void read_input();
  std::size_t take_kept_output(std::span<std::uint8_t> output);
  [[noreturn]] void refuse(const char* why) const;
  [[noreturn]] void refuse_end() const;

  // Compressed bytes read at a time. The file has a larger buffer of its own.
  static constexpr std::size_t input_size = std::size_t{16} << 10U;

  PngStream& stream_;
  std::array<std::uint8_t, input_size> input_{};
  std::size_t next_read_;  // bytes
  bool input_ended_ = false;
  std::size_t inflated_ = 0;
  const char* failure_ = nullptr;  // the error after the last byte that was inflated
  inflate_state state_{};
};

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
