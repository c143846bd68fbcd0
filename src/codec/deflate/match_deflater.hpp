// Deflate (RFC 1951) by a search for what repeats itself in rows of pixels: drawings, text,
// gradients, dithers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace gpufilter {

// greedy: the first match that is found is taken; lazy: it may be put off for a better one behind
// it.
enum class MatchSearch { greedy, lazy };

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
                                                      std::size_t row, MatchSearch search,
                                                      bool last);

  // How many positions the last call looked for a match at: most of its time goes there.
  [[nodiscard]] std::size_t positions() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpufilter
