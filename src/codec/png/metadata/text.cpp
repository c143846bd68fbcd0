#include "codec/png/metadata/text.hpp"

#include <algorithm>
#include <cstdint>

#include "codec/text_encoding.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t max_plain_text = 1024;  // bytes; longer text is compressed

// Nothing if `utf8` is damaged or has characters that Latin-1 lacks.
std::optional<std::string> latin1_from_utf8(std::string_view utf8) {
  if (!is_utf8(utf8)) return std::nullopt;
  std::string latin1;
  for (std::size_t i = 0; i < utf8.size(); ++i) {
    const auto lead = static_cast<unsigned char>(utf8[i]);
    if (lead < 0x80U) {
      latin1 += utf8[i];
    } else if (lead <= 0xc3U) {  // the lead bytes of U+0080 to U+00FF
      latin1 += static_cast<char>((lead & 0x03U) << 6U | (utf8[++i] & 0x3fU));
    } else {
      return std::nullopt;
    }
  }
  return latin1;
}

// Removes the bytes up to the first NUL and the NUL from `data`, and returns them without it.
// Nothing if there is no NUL.
std::optional<std::string_view> take_field(std::string_view& data) {
  const std::size_t end = data.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view field = data.substr(0, end);
  data.remove_prefix(end + 1);
  return field;
}

// Text in PNG cannot contain NUL, which ends it.
std::string_view before_nul(std::string_view text) {
  return text.substr(0, text.find('\0'));
}

std::span<const std::uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::optional<std::string> inflate_text(std::string_view compressed, std::size_t& budget) {
  const auto plain = zlib_inflate(as_bytes(compressed), budget);
  if (!plain) return std::nullopt;
  return std::string(as_text(*plain));
}

std::string utf8_from_text(std::string_view text) {
  return is_utf8(text) ? std::string(text) : utf8_from_latin1(text);
}

std::optional<std::string> parse_compressed(std::string_view data, std::size_t& budget) {
  if (data.empty() || data[0] != 0) return std::nullopt;  // deflate is the only method
  return inflate_text(data.substr(1), budget);
}

// The rest of an iTXt chunk after its keyword: flag, method, language, translated keyword, text.
std::optional<TextEntry> parse_international(std::string_view data, std::size_t& budget) {
  if (data.size() < 2 || data[0] < 0 || data[0] > 1) return std::nullopt;
  const bool compressed = data[0] == 1;
  if (compressed && data[1] != 0) return std::nullopt;
  data.remove_prefix(2);
  const auto language = take_field(data);
  if (!language) return std::nullopt;
  const auto translated = take_field(data);
  if (!translated) return std::nullopt;
  const auto text = compressed ? inflate_text(data, budget) : std::string(data);
  if (!text) return std::nullopt;
  return TextEntry{"", utf8_from_text(before_nul(*text)), utf8_from_text(*language),
                   utf8_from_text(*translated), compressed};
}

void append(Bytes& bytes, std::string_view text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
}

void append_compressed(Bytes& bytes, std::string_view text) {
  const Bytes compressed = zlib_deflate(as_bytes(text));
  bytes.insert(bytes.end(), compressed.begin(), compressed.end());
}

PngChunk make_latin1(const std::string& keyword, std::string_view text, bool compressed) {
  PngChunk chunk;
  append(chunk.data, keyword);
  chunk.data.push_back(0);
  if (compressed) {
    chunk.type = "zTXt";
    chunk.data.push_back(0);
    append_compressed(chunk.data, text);
  } else {
    chunk.type = "tEXt";
    append(chunk.data, text);
  }
  return chunk;
}

PngChunk make_international(const std::string& keyword, const TextEntry& entry, bool compressed) {
  PngChunk chunk{"iTXt", {}};
  append(chunk.data, keyword);
  chunk.data.insert(chunk.data.end(), {0, compressed ? std::uint8_t{1} : std::uint8_t{0}, 0});
  append(chunk.data, before_nul(entry.language));
  chunk.data.push_back(0);
  append(chunk.data, before_nul(entry.translated_keyword));
  chunk.data.push_back(0);
  if (compressed) {
    append_compressed(chunk.data, entry.text);
  } else {
    append(chunk.data, entry.text);
  }
  return chunk;
}

}  // namespace

std::optional<std::string> png_keyword(std::string_view keyword) {
  auto latin1 = latin1_from_utf8(keyword);
  const auto printable = [](unsigned char c) { return (c >= 32 && c < 127) || c >= 161; };
  if (!latin1 || latin1->empty() || latin1->size() > 79 ||
      !std::all_of(latin1->begin(), latin1->end(), printable)) {
    return std::nullopt;
  }
  return latin1;
}

std::optional<TextEntry> parse_text(const PngChunk& chunk, std::size_t& budget) {
  std::string_view data = as_text(chunk.data);
  const auto keyword = take_field(data);
  if (!keyword || keyword->empty() || keyword->size() > 79) return std::nullopt;
  std::optional<TextEntry> entry;
  if (chunk.type == "iTXt") {
    entry = parse_international(data, budget);
  } else {
    const auto text = chunk.type == "zTXt" ? parse_compressed(data, budget) : std::string(data);
    if (text) {
      entry = TextEntry{"", utf8_from_latin1(before_nul(*text)), "", "", chunk.type == "zTXt"};
    }
  }
  if (entry) entry->keyword = utf8_from_latin1(*keyword);
  return entry;
}

std::optional<PngChunk> make_text(const TextEntry& entry) {
  const auto keyword = png_keyword(entry.keyword);
  if (!keyword) return std::nullopt;
  TextEntry whole = entry;
  whole.text = before_nul(entry.text);
  const auto latin1 = latin1_from_utf8(whole.text);
  const bool compressed =
      entry.compressed || (latin1 ? latin1->size() : whole.text.size()) > max_plain_text;
  if (latin1 && entry.language.empty() && entry.translated_keyword.empty()) {
    return make_latin1(*keyword, *latin1, compressed);
  }
  return make_international(*keyword, whole, compressed);
}

PngChunk make_xmp(std::span<const std::uint8_t> packet, bool compressed) {
  return make_international(std::string(xmp_keyword), {"", std::string(as_text(packet)), "", ""},
                            compressed);
}

}  // namespace gpufilter
