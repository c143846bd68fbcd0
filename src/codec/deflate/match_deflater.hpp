// Deflate (RFC 1951) with a search for repetitions in rows of pixels, for drawings, text, gradients
// and dithers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace gpufilter {

// Deflates one chunk after the other, in memory that it keeps.
class MatchDeflater {
 public:
  MatchDeflater();
  ~MatchDeflater();
  MatchDeflater(const MatchDeflater&) = delete;
  MatchDeflater& operator=(const MatchDeflater&) = delete;

  // Deflates `data` (below 2 GiB) without reference to earlier chunks, up to a whole byte. `row` is
  // the number of bytes from a pixel to the one below. `last`: the stream ends with this chunk. The
  // result is valid until the next call and depends on the arguments alone. Throws std::bad_alloc.
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

}  // namespace gpufilter
