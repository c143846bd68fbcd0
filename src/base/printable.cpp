#include "base/printable.hpp"

#include <algorithm>
#include <cstdint>

#include "base/format.hpp"

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

// `character` has to be valid UTF-8.
char32_t code_point(std::string_view character) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(character[i]); };
  if (character.size() == 1) return byte(0);
  char32_t code = byte(0) & (0x7FU >> character.size());
  for (std::size_t i = 1; i < character.size(); ++i)
    code = code << 6U | (byte(i) & 0x3FU);
  return code;
}

bool is_control(char32_t code) {
  return code < 0x20 || (0x7F <= code && code <= 0x9F);
}

// Separators of lines and paragraphs, and characters that change the direction of writing.
bool is_layout(char32_t code) {
  return code == 0x061C || code == 0x200E || code == 0x200F || (0x2028 <= code && code <= 0x202E) ||
         (0x2066 <= code && code <= 0x2069);
}

std::string escaped(char32_t code) {
  if (code == '\n') return "\\n";
  if (code == '\t') return "\\t";
  const auto number = static_cast<unsigned>(code);
  return code < 0x80 ? formatted("\\x{:02x}", number) : formatted("\\u{:04x}", number);
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

bool is_utf8(std::string_view text) {
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    if (length == 0) return false;
    text.remove_prefix(length);
  }
  return true;
}

std::string utf8_from_latin1(std::string_view text) {
  std::string result;
  result.reserve(text.size());
  for (const char c : text) {
    const auto byte = static_cast<std::uint8_t>(c);
    if (byte < 0x80) {
      result += c;
    } else {
      result += static_cast<char>(0xC0U | (byte >> 6U));
      result += static_cast<char>(0x80U | (byte & 0x3FU));
    }
  }
  return result;
}

std::string printable(std::string_view text) {
  std::string line;
  line.reserve(text.size());
  while (!text.empty()) {
    const std::size_t length = utf8_length(text);
    const std::string_view character = text.substr(0, std::max<std::size_t>(length, 1));
    const char32_t code = length > 0 ? code_point(character) : 0;
    if (length == 0) {
      line += formatted("\\x{:02x}", static_cast<unsigned char>(text[0]));
    } else if (is_control(code) || is_layout(code)) {
      line += escaped(code);
    } else {
      line += character;
    }
    text.remove_prefix(character.size());
  }
  return line;
}

std::string printable_end(std::string_view text, std::size_t columns) {
  constexpr std::string_view omission = "...";
  std::string line = printable(text);
  const auto begins_character = [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  };
  if (static_cast<std::size_t>(std::ranges::count_if(line, begins_character)) <= columns) {
    return line;
  }
  std::size_t begin = line.size();
  for (std::size_t kept = omission.size(); kept < columns; ++kept) {
    do {
      --begin;
    } while (!begins_character(line[begin]));
  }
  return std::string(omission) + line.substr(begin);
}

std::string with_words_for(std::string_view text,
                           std::initializer_list<std::pair<char, std::string_view>> words) {
  std::string result;
  for (const char& c : text) {
    const auto known =
        std::ranges::find_if(words, [c](const auto& word) { return word.first == c; });
    result += known == words.end() ? std::string_view(&c, 1) : known->second;
  }
  return result;
}

void remove_byte_order_mark(std::string& text) {
  constexpr std::string_view mark = "\xEF\xBB\xBF";
  if (text.starts_with(mark)) text.erase(0, mark.size());
}

std::string shell_word(const std::string& word) {
  constexpr std::string_view plain =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_@%+=:,./-";
  if (!word.empty() && word.find_first_not_of(plain) == std::string::npos) return word;
  if (printable(word) != word)
    return "$'" + printable(with_words_for(word, {{'\'', "\\'"}, {'\\', "\\\\"}})) + "'";
  return "'" + with_words_for(word, {{'\'', "'\\''"}}) + "'";
}

}  // namespace gpufilter
