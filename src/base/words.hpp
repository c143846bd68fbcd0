// Words in messages to the user.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace gpufilter {

// "8, 16 or 32": the words in one phrase, with `last` ("or", "and") before the last one.
[[nodiscard]] std::string enumerated(const std::vector<std::string>& words, std::string_view last);

// Up to three of the words in `known` that `word` may be a slip for, best first: those that it
// abbreviates, and those that few letters inserted, removed, replaced or swapped with their
// neighbour turn it into. Capitals in `word` do not count as a difference. Empty where nothing is
// close.
[[nodiscard]] std::vector<std::string> words_like(std::string_view word,
                                                  const std::vector<std::string>& known);

// Why `word`, which is none of `known`, is refused: "'ship' is not one of fail, skip; did you mean
// skip?". Numbers are like each other without meaning anything, so none is suggested for one.
[[nodiscard]] std::string not_among(std::string_view word, const std::vector<std::string>& known);

}  // namespace gpufilter
