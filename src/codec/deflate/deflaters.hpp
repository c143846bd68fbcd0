// Three ways to deflate (RFC 1951) one chunk after the other, in memory that a deflater keeps.
//
// deflate() makes no reference to earlier chunks, and ends on a whole byte. `last`: the stream ends
// with this chunk. The result is valid until the next call and depends on the arguments alone.
// Throws std::bad_alloc.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace gpufilter {

// Huffman codes and runs of equal bytes only. For data with few repetitions, such as filtered
// photographs; several times as fast as a search for matches.
class HuffmanDeflater {
 public:
  HuffmanDeflater();
  ~HuffmanDeflater();

  [[nodiscard]] std::span<const std::uint8_t> deflate(std::span<const std::uint8_t> data,
                                                      bool last);

  // An estimate of the size of deflate()'s result, for short data in a fraction of its time.
  [[nodiscard]] static std::size_t estimated_size(std::span<const std::uint8_t> data);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A search for repetitions in rows of pixels, for drawings, text, gradients and dithers.
class MatchDeflater {
 public:
  MatchDeflater();
  ~MatchDeflater();

  // `data` is below 2 GiB. `row` is the number of bytes from a pixel to the one below.
  [[nodiscard]] std::span<const std::uint8_t> deflate(std::span<const std::uint8_t> data,
                                                      std::size_t row, bool last);

  // Deflates, but searches only for repetitions of whole pixels of `pixel` bytes: for photographs
  // in grey or sepia, whose channels are similar. A row of `row` bytes is a filter's number and
  // pixels.
  static constexpr std::size_t pixel = 3;
  [[nodiscard]] std::span<const std::uint8_t> deflate_pixels(std::span<const std::uint8_t> data,
                                                             std::size_t row, bool last);

  struct Statistics {
    std::size_t positions = 0;  // at which a match was searched; they take most of the time
    std::size_t described = 0;  // bytes of the descriptions of codes
  };
  // Statistics of the last call.
  [[nodiscard]] const Statistics& statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// libdeflate, which makes the smallest files. Its streams cannot be continued; this class modifies
// them so that another chunk can follow.
class LibdeflateDeflater {
 public:
  LibdeflateDeflater();
  ~LibdeflateDeflater();

  // `level` is libdeflate's, from 0 (stored) to 12. Unless it is the `last`, the chunk is inflated
  // again to find the end of its last block.
  [[nodiscard]] std::span<const std::uint8_t> deflate(std::span<const std::uint8_t> data, int level,
                                                      bool last);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpufilter
