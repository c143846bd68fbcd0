#include "base/words.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <utility>

#include "base/format.hpp"
#include "base/printable.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t max_suggestions = 3;

// The minimum number of letters to insert, remove, replace or swap with their neighbour to turn one
// word into the other (optimal string alignment,
// https://en.wikipedia.org/wiki/Damerau-Levenshtein_distance).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  std::vector<std::size_t> above = row;
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::vector<std::size_t> next(b.size() + 1, i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t replaced = row[j] + (a[i] == b[j] ? 0 : 1);
      next[j + 1] = std::min({replaced, row[j + 1] + 1, next[j] + 1});
      const bool swapped = i > 0 && j > 0 && a[i] == b[j - 1] && a[i - 1] == b[j];
      if (swapped) next[j + 1] = std::min(next[j + 1], above[j - 1] + 1);
    }
    above = std::exchange(row, std::move(next));
  }
  return row.back();
}

}  // namespace

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& letter : lower) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  }
  return lower;
}

std::string counted(std::uint64_t count, std::string_view what) {
  return formatted("{} {}{}", count, what, count == 1 ? "" : "s");
}

std::string enumerated(const std::vector<std::string>& words, std::string_view last) {
  if (words.size() < 2) return words.empty() ? "" : words.front();
  return formatted("{} {} {}", fmt::join(words.begin(), words.end() - 1, ", "), last, words.back());
}

std::vector<std::string> words_like(std::string_view word, const std::vector<std::string>& known) {
  const std::string name = lower_case(word);
  if (name.empty()) return {};
  const std::size_t allowed = std::max<std::size_t>(1, (name.size() + 1) / 4);
  std::vector<std::pair<std::size_t, std::string>> near;
  for (const std::string& candidate : known) {
    std::size_t letters = distance(name, candidate);
    const bool is_abbreviation = name.size() > 2 && candidate.starts_with(name);
    if (is_abbreviation) letters = std::min(letters, std::size_t{1});
    if (letters <= allowed) near.emplace_back(letters, candidate);
  }
  std::ranges::stable_sort(near, [](const auto& a, const auto& b) { return a.first < b.first; });
  near.resize(std::min(near.size(), max_suggestions));
  std::vector<std::string> words(near.size());
  std::transform(near.begin(), near.end(), words.begin(),
                 [](const auto& entry) { return entry.second; });
  return words;
}

std::string not_among(std::string_view word, const std::vector<std::string>& known) {
  std::string text = formatted("'{}' is not one of {}", printable(word), fmt::join(known, ", "));
  const bool is_number = word.find_first_not_of("0123456789:.,-") == std::string_view::npos;
  const auto near = is_number ? std::vector<std::string>{} : words_like(word, known);
  if (!near.empty()) text += formatted("; did you mean {}?", enumerated(near, "or"));
  return text;
}

std::string not_bytes(std::string_view word) {
  return formatted("'{}' is not a number of bytes such as 1000000, 500K, 64M or 1G",
                   printable(word));
}

}  // namespace gpufilter
