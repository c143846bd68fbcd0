#include "batch/journal_text.hpp"

#include <charconv>

#include "base/content_hash.hpp"
#include "base/format.hpp"
#include "base/words.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t checksum_digits = 16;

std::string checksum(std::string_view text) {
  return to_string(content_hash(text)).substr(0, checksum_digits);
}

// Whether the text may be a line that its writer did not finish.
bool may_begin_line(std::string_view text) {
  const std::string_view sum = text.substr(0, checksum_digits);
  return sum.find_first_not_of("0123456789abcdef") == std::string_view::npos &&
         (text.size() <= checksum_digits || text[checksum_digits] == ' ');
}

}  // namespace

std::string sealed(const std::string& text) {
  return checksum(text) + " " + text;
}

std::optional<std::string_view> unsealed(std::string_view line) {
  if (line.size() <= checksum_digits || line[checksum_digits] != ' ' ||
      line.substr(0, checksum_digits) != checksum(line.substr(checksum_digits + 1))) {
    return std::nullopt;
  }
  return line.substr(checksum_digits + 1);
}

std::string Damage::text() const {
  return formatted("is damaged: {} of {} cannot be read", damaged, counted(lines, "line"));
}

Damage damage_in(std::string_view journal) {
  Damage found;
  while (!journal.empty()) {
    const std::size_t end = journal.find('\n');
    const std::string_view line = journal.substr(0, end);
    const bool is_whole = end != std::string_view::npos;
    journal.remove_prefix(is_whole ? end + 1 : journal.size());
    if (line.empty() || (!is_whole && may_begin_line(line))) continue;
    ++found.lines;
    if (!unsealed(line)) ++found.damaged;
  }
  return found;
}

std::string escaped(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte > 0x20 && byte != 0x7f && c != '%') {
      text += c;
    } else {
      text += formatted("%{:02x}", byte);
    }
  }
  return text;
}

std::optional<std::string> unescaped(std::string_view text) {
  std::string bytes;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '%') {
      bytes += text[i];
      continue;
    }
    unsigned byte = 0;
    if (text.size() - i < 3) return std::nullopt;
    const char* begin = text.data() + i + 1;
    if (std::from_chars(begin, begin + 2, byte, 16).ptr != begin + 2) return std::nullopt;
    bytes += static_cast<char>(byte);
    i += 2;
  }
  return bytes;
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  for (std::size_t at = 0; at != std::string_view::npos;) {
    const std::size_t end = text.find(separator, at);
    parts.push_back(text.substr(at, end - at));
    at = end == std::string_view::npos ? end : end + 1;
  }
  return parts;
}

}  // namespace gpufilter
