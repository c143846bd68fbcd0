#include "codec/png/metadata/raw_profile.hpp"

#include <algorithm>
#include <charconv>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "base/format.hpp"
#include "image/image_resources.hpp"

namespace gpufilter {
namespace {

using namespace std::string_view_literals;

constexpr auto keyword_prefix = "Raw profile type "sv;
constexpr auto exif_prefix = "Exif\0\0"sv;
constexpr auto xmp_prefix = "http://ns.adobe.com/xap/1.0/\0"sv;
constexpr std::size_t bytes_a_line = 36;
constexpr auto digits = "0123456789abcdef"sv;

bool is_space(char c) {
  return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

int value_of_digit(char c) {
  const auto at = digits.find(c >= 'A' && c <= 'F' ? static_cast<char>(c - 'A' + 'a') : c);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

// A line break, a name, a line break, the number of bytes, and their digits.
std::optional<Bytes> decode(std::string_view text) {
  if (!text.starts_with('\n')) return std::nullopt;
  const std::size_t name_end = text.find('\n', 1);
  if (name_end == std::string_view::npos) return std::nullopt;
  text.remove_prefix(std::min(text.find_first_not_of(" \n", name_end), text.size()));
  std::size_t count = 0;
  const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), count);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(stop - text.data()));
  if (count > text.size() / 2) return std::nullopt;
  Bytes bytes;
  bytes.reserve(count);
  int high = -1;
  for (const char c : text) {
    if (is_space(c)) continue;
    const int digit = value_of_digit(c);
    if (digit < 0) return std::nullopt;
    if (high < 0) {
      high = digit;
    } else {
      bytes.push_back(static_cast<std::uint8_t>(std::exchange(high, -1) * 16 + digit));
    }
  }
  return bytes.size() == count && count > 0 ? std::optional(std::move(bytes)) : std::nullopt;
}

bool move_without(std::string_view prefix, const Bytes& from, Bytes& to) {
  const bool has_prefix =
      from.size() >= prefix.size() &&
      std::equal(prefix.begin(), prefix.end(), from.begin(),
                 [](char c, std::uint8_t byte) { return static_cast<std::uint8_t>(c) == byte; });
  if (!has_prefix || !to.empty()) return false;
  to.assign(from.begin() + static_cast<std::ptrdiff_t>(prefix.size()), from.end());
  return true;
}

// Whether `bytes` found their place in `metadata`.
bool take(std::string_view type, Bytes bytes, Metadata& metadata) {
  if (type == "exif" || type == "APP1") {
    return move_without(exif_prefix, bytes, metadata.exif) ||
           move_without(xmp_prefix, bytes, metadata.xmp);
  }
  if (type == "xmp") return move_without("", bytes, metadata.xmp);
  if (type == "iptc" || type == "8bim") {
    return move_without("", resources_from_iptc(std::move(bytes)), metadata.image_resources);
  }
  if ((type != "icc" && type != "icm") || metadata.icc_profile) return false;
  metadata.icc_profile.emplace().data = std::move(bytes);
  return true;
}

}  // namespace

void take_raw_profiles(Metadata& metadata) {
  const auto taken = [&metadata](const TextEntry& entry) {
    if (!entry.keyword.starts_with(keyword_prefix)) return false;
    auto bytes = decode(entry.text);
    return bytes && take(entry.keyword.substr(keyword_prefix.size()), std::move(*bytes), metadata);
  };
  auto& text = metadata.text;
  text.erase(std::remove_if(text.begin(), text.end(), taken), text.end());
}

TextEntry raw_profile_of(const Bytes& resources) {
  TextEntry entry{std::string(keyword_prefix) + "iptc", "", "", "", true};
  entry.text = formatted("\niptc\n{:8}", resources.size());
  entry.text.reserve(entry.text.size() + resources.size() * 2 + resources.size() / bytes_a_line +
                     2);
  for (std::size_t i = 0; i < resources.size(); ++i) {
    if (i % bytes_a_line == 0) entry.text += '\n';
    entry.text += digits[resources[i] / 16];
    entry.text += digits[resources[i] % 16];
  }
  entry.text += '\n';
  return entry;
}

}  // namespace gpufilter
