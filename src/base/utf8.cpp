#include "base/utf8.hpp"

#include <cstdint>

namespace gpufilter {
namespace {

struct Range {
  std::uint8_t first;
  std::uint8_t last;
  [[nodiscard]] bool contains(std::uint8_t byte) const { return first <= byte && byte <= last; }
};

// The bytes that may follow a lead byte (table 3-7 of the Unicode standard): their number, and the
// range of the first, which excludes overlong forms, surrogates and code points above U+10FFFF.
struct Tail {
  std::size_t length;  // 0: not a lead byte
  Range first;
};

Tail tail_of(std::uint8_t lead) {
  if (Range{0xC2, 0xDF}.contains(lead)) return {1, {0x80, 0xBF}};
  if (lead == 0xE0) return {2, {0xA0, 0xBF}};
  if (lead == 0xED) return {2, {0x80, 0x9F}};
  if (Range{0xE1, 0xEF}.contains(lead)) return {2, {0x80, 0xBF}};
  if (lead == 0xF0) return {3, {0x90, 0xBF}};
  if (Range{0xF1, 0xF3}.contains(lead)) return {3, {0x80, 0xBF}};
  if (lead == 0xF4) return {3, {0x80, 0x8F}};
  return {0, {0, 0}};
}

}  // namespace

std::size_t utf8_length(std::string_view text) {
  constexpr Range continuation{0x80, 0xBF};
  if (text.empty()) return 0;
  const auto lead = static_cast<std::uint8_t>(text[0]);
  if (lead < 0x80) return 1;
  const Tail tail = tail_of(lead);
  if (tail.length == 0 || text.size() <= tail.length) return 0;
  for (std::size_t i = 1; i <= tail.length; ++i) {
    const Range& range = i == 1 ? tail.first : continuation;
    if (!range.contains(static_cast<std::uint8_t>(text[i]))) return 0;
  }
  return tail.length + 1;
}

}  // namespace gpufilter
