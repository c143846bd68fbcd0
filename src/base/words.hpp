// Words in messages to the user.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace gpufilter {

// "8, 16 or 32": the words in one phrase, with `last` ("or", "and") before the last one.
[[nodiscard]] std::string enumerated(const std::vector<std::string>& words, std::string_view last);

// Converts A to Z to lower case.
[[nodiscard]] std::string lower_case(std::string_view text);

// "1 picture", "2 pictures".
[[nodiscard]] std::string counted(std::uint64_t count, std::string_view what);

// Up to three of the words in `known` that `word` may be a typo of, best first: those that it
// abbreviates, and those at a distance of one letter for words of up to six letters, two for seven
// to ten, and so on (letters inserted, removed, replaced or swapped with their neighbour). The case
// of `word` is ignored. Empty if nothing is close.
[[nodiscard]] std::vector<std::string> words_like(std::string_view word,
                                                  const std::vector<std::string>& known);

// Why `word`, which is not in `known`, is refused: "'ship' is not one of fail, skip; did you mean
// skip?". Numbers get no suggestion: similar numbers mean nothing.
[[nodiscard]] std::string not_among(std::string_view word, const std::vector<std::string>& known);

// Why `word`, which parse_bytes() does not accept, is refused.
[[nodiscard]] std::string not_bytes(std::string_view word);

}  // namespace gpufilter
