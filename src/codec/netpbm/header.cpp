#include "codec/netpbm/header.hpp"

#include <algorithm>
#include <climits>
#include <map>
#include <optional>
#include <sstream>
#include <string_view>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t longest_line = 4096;  // of a PAM header

bool is_blank(char c) {
  return std::string_view(" \t\n\v\f\r").find(c) != std::string_view::npos;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// The channels that a PAM's tuple type has; nothing for types that are no pictures, or unknown.
std::optional<int> channels_of_type(const std::string& type) {
  static const std::map<std::string, int> types{
      {"BLACKANDWHITE", 1},   {"GRAYSCALE", 1}, {"BLACKANDWHITE_ALPHA", 2},
      {"GRAYSCALE_ALPHA", 2}, {"RGB", 3},       {"RGB_ALPHA", 4}};
  const auto found = types.find(type);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

std::string line_of(NetpbmInput& input) {
  std::string line;
  for (char c = input.next(); c != '\n'; c = input.next()) {
    if (line.size() == longest_line) input.refuse("a line of its header is too long");
    line += c;
  }
  return line;
}

// The number that is the only word after a PAM's keyword.
std::uint32_t value_of(const NetpbmInput& input, const std::string& keyword,
                       const std::string& text) {
  std::istringstream words(text);
  std::uint32_t number = 0;
  std::string more;
  const bool is_number = !text.empty() && std::all_of(text.begin(), text.end(), [](char c) {
    return is_digit(c) || is_blank(c);
  });
  if (!is_number || !(words >> number) || words >> more)
    input.refuse(formatted("{} is '{}'", keyword, printable(text)));
  return number;
}

// Lines of a keyword and a value, in any order.
NetpbmHeader read_pam_header(NetpbmInput& input) {
  std::map<std::string, std::uint32_t> numbers{
      {"WIDTH", 0}, {"HEIGHT", 0}, {"DEPTH", 0}, {"MAXVAL", 0}};
  std::string type;
  for (std::string line = line_of(input);; line = line_of(input)) {
    std::istringstream words(line);
    std::string keyword;
    if (!(words >> keyword) || keyword[0] == '#') continue;
    if (keyword == "ENDHDR") break;
    std::string value;
    std::getline(words >> std::ws, value);
    if (keyword == "TUPLTYPE") {
      if (!type.empty()) type += ' ';
      type += value.substr(0, value.find_last_not_of(" \t\r") + 1);
      if (type.size() > longest_line) input.refuse("its tuple type is too long");
    } else if (const auto number = numbers.find(keyword); number != numbers.end()) {
      number->second = value_of(input, keyword, value);
    } else {
      input.refuse(formatted("'{}' is not a keyword of its header", printable(keyword)));
    }
  }
  const std::uint32_t depth = numbers["DEPTH"];
  const bool is_picture = depth >= 1 && depth <= 4;
  const auto channels =
      type.empty() && is_picture ? static_cast<int>(depth) : channels_of_type(type).value_or(0);
  if (channels == 0 || depth != static_cast<std::uint32_t>(channels)) {
    throw PictureError(input.name(),
                       formatted("a PAM of {} channels and type '{}' is not supported: only grey, "
                                 "grey with alpha, RGB and RGB with alpha are",
                                 depth, printable(type)));
  }
  return {'7', numbers["WIDTH"], numbers["HEIGHT"], channels, numbers["MAXVAL"]};
}

NetpbmHeader read_map_header(NetpbmInput& input, char kind) {
  NetpbmHeader header{.kind = kind, .channels = kind == '3' || kind == '6' ? 3 : 1};
  header.width = input.number();
  header.height = input.number();
  header.maxval = header.is_bitmap() ? 1 : input.number();
  return header;
}

}  // namespace

bool NetpbmInput::is_at_end() {
  if (begin_ < end_) return false;
  begin_ = 0;
  end_ = source_->read(text_);
  return end_ == 0;
}

char NetpbmInput::next() {
  if (is_at_end()) throw PictureError(name(), "the file ends too early");
  return static_cast<char>(text_.at(begin_++));
}

char NetpbmInput::next_of_text() {
  char c = next();
  if (c == '#') {
    while (c != '\n' && c != '\r')
      c = next();
  }
  return c;
}

std::uint32_t NetpbmInput::number() {
  char c = next_of_text();
  while (is_blank(c))
    c = next_of_text();
  if (!is_digit(c)) refuse(formatted("'{}' where a number should be", printable({&c, 1})));
  std::uint64_t value = 0;
  for (;;) {
    value = value * 10 + static_cast<std::uint64_t>(c - '0');
    if (value > INT_MAX) refuse("a number is too large");
    if (is_at_end()) break;
    c = next_of_text();
    if (!is_digit(c)) break;
  }
  if (!is_digit(c) && !is_blank(c)) {
    refuse(formatted("'{}' behind a number", printable({&c, 1})));
  }
  return static_cast<std::uint32_t>(value);
}

void NetpbmInput::read(std::span<std::uint8_t> bytes) {
  const std::size_t ahead = std::min(bytes.size(), end_ - begin_);
  std::copy_n(text_.begin() + static_cast<std::ptrdiff_t>(begin_), ahead, bytes.begin());
  begin_ += ahead;
  const auto rest = bytes.subspan(ahead);
  if (source_->read(rest) < rest.size()) throw PictureError(name(), "the file ends too early");
}

bool NetpbmInput::begins_another() {
  if (is_at_end() || text_.at(begin_) != 'P') return false;
  ++begin_;
  return !is_at_end() && text_.at(begin_) >= '1' && text_.at(begin_) <= '7';
}

void NetpbmInput::refuse(const std::string& why) const {
  throw PictureError(name(), "damaged Netpbm file: " + why);
}

NetpbmHeader read_netpbm_header(NetpbmInput& input) {
  static_cast<void>(input.next());  // "P": the signature has been checked
  const char kind = input.next();
  const NetpbmHeader header = kind == '7' ? read_pam_header(input) : read_map_header(input, kind);
  if (header.width == 0 || header.height == 0) input.refuse("its width or height is 0");
  if (header.width > INT_MAX || header.height > INT_MAX) input.refuse("a number is too large");
  if (header.maxval == 0 || header.maxval > 65535)
    input.refuse(formatted("its largest sample is {}, not 1 to 65535", header.maxval));
  return header;
}

}  // namespace gpufilter
