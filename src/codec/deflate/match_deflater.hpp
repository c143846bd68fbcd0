// Deflate (RFC 1951) by a search for what repeats itself in rows of pixels: drawings, text,
// gradients, dithers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace gpufilter {

// Deflates chunk after chunk in memory that it keeps.
class MatchDeflater {
 public:
  MatchDeflater();
  ~MatchDeflater();
  MatchDeflater(const MatchDeflater&) = delete;
  MatchDeflater& operator=(const MatchDeflater&) = delete;

  // Deflates `data` (below 2 GiB) without reference to what came before, up to a whole byte. `row`:
  // the distance from a pixel to the one below. `last`: the stream ends here. The result stays
  // until the next call, and depends on the arguments alone. Throws std::bad_alloc.
  [[nodiscard]] std::span<const std::uint8_t> deflate(std::span<const std::uint8_t> data,
                                                      std::size_t row, bool last);

  // The same, but only repetitions of whole pixels of `pixel` bytes count: for photographs in grey
  // or sepia, whose channels have much in common. Rows take `row` bytes: a filter's, then pixels.
  static constexpr std::size_t pixel = 3;
  [[nodiscard]] std::span<const std::uint8_t> deflate_pixels(std::span<const std::uint8_t> data,
                                                             std::size_t row, bool last);

  struct Statistics {
    std::size_t positions = 0;  // where a match was looked for: most of the time goes there
    std::size_t described = 0;  // bytes that describe blocks' codes
  };
  // Of the last call.
  [[nodiscard]] const Statistics& statistics() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpufilter
