#include "codec/png/metadata.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "base/byte_cursor.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "image/exif.hpp"

namespace gpufilter {
namespace {

using namespace std::string_view_literals;

constexpr auto keyword_prefix = "Raw profile type "sv;
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

// Stores `bytes` in `metadata`; false if it has no member for them.
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

// XMP travels as an iTXt chunk. Its standard wants it plain, so that tools find it without
// inflating; a file that has it compressed keeps it so.
inline constexpr std::string_view xmp_keyword = "XML:com.adobe.xmp";

constexpr std::size_t max_plain_text = 1024;  // bytes; longer text is compressed

// The text in Latin-1; nothing if `utf8` is invalid or has characters that Latin-1 lacks.
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

// Removes a NUL-terminated field from the beginning of `data` and returns it without the NUL;
// nothing if there is no NUL.
std::optional<std::string_view> take_field(std::string_view& data) {
  const std::size_t end = data.find('\0');
  if (end == std::string_view::npos) return std::nullopt;
  const std::string_view field = data.substr(0, end);
  data.remove_prefix(end + 1);
  return field;
}

// Text in PNG ends at the first NUL.
std::string_view before_nul(std::string_view text) {
  return text.substr(0, text.find('\0'));
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

// `keyword` (UTF-8) as PNG takes it: 1 to 79 printable Latin-1 characters; else nothing.
std::optional<std::string> png_keyword(std::string_view keyword) {
  auto latin1 = latin1_from_utf8(keyword);
  const auto printable = [](unsigned char c) { return (c >= 32 && c < 127) || c >= 161; };
  if (!latin1 || latin1->empty() || latin1->size() > 79 ||
      !std::all_of(latin1->begin(), latin1->end(), printable)) {
    return std::nullopt;
  }
  return latin1;
}

// The text of a tEXt, zTXt or iTXt chunk. Nothing if the chunk is damaged or if its text exceeds
// `budget`, in bytes. The size of inflated text is subtracted from the budget.
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

// The chunk for `entry`: tEXt or zTXt if its characters are Latin-1, otherwise iTXt. It is
// compressed if the text is long or was compressed in the input file. Nothing if PNG cannot hold
// the keyword.
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

// Limit of the inflated size of all compressed chunks of one picture together, in bytes.
constexpr std::size_t inflate_budget = std::size_t{32} << 20U;

constexpr std::size_t icc_header_size = 128;

// PNG's four-byte numbers are at most 2^31 - 1.
std::optional<std::int32_t> get_i31(std::span<const std::uint8_t> bytes) {
  const std::uint32_t value = get_u32(bytes);
  if (value > 0x7fffffffU) return std::nullopt;
  return static_cast<std::int32_t>(value);
}

// The outcome of reading a chunk. A chunk without effect is not damaged.
enum class Use { taken, meaningless, damaged };

constexpr Use taken_if(bool sound) {
  return sound ? Use::taken : Use::damaged;
}

// Takes chunks one after the other.
class Collector {
 public:
  explicit Collector(PngPlace place) : place_(place) {}
  Use take(const PngChunk& chunk) {
    if (chunk.type == "eXIf") return take_exif(chunk.data);
    if (chunk.type == "tEXt" || chunk.type == "zTXt" || chunk.type == "iTXt") {
      return take_text(chunk);
    }
    return place_ == PngPlace::before_pixels ? take_about_color(chunk) : Use::meaningless;
  }

  [[nodiscard]] Metadata& metadata() { return metadata_; }

 private:
  Use take_about_color(const PngChunk& chunk) {
    if (chunk.type == "gAMA") return take_gamma(chunk.data);
    if (chunk.type == "cHRM") return take_chromaticity(chunk.data);
    if (chunk.type == "sRGB") return take_srgb(chunk.data);
    if (chunk.type == "cICP") return take_coding_points(chunk.data);
    if (chunk.type == "iCCP") return take_profile(chunk.data);
    if (chunk.type == "pHYs") return take_density(chunk.data);
    return Use::meaningless;
  }

  Use take_gamma(const Bytes& data) {
    if (metadata_.gamma) return Use::meaningless;
    if (data.size() != 4) return Use::damaged;
    const auto gamma = get_i31(data);
    if (gamma == 0) return Use::meaningless;
    metadata_.gamma = gamma;
    return taken_if(gamma.has_value());
  }

  Use take_chromaticity(const Bytes& data) {
    std::array<std::int32_t, 8> values{};
    if (metadata_.chromaticity) return Use::meaningless;
    if (data.size() != 4 * values.size()) return Use::damaged;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const auto value = get_i31(std::span(data).subspan(4 * i));
      if (!value) return Use::damaged;
      values.at(i) = *value;
    }
    metadata_.chromaticity = values;
    return Use::taken;
  }

  Use take_srgb(const Bytes& data) {
    if (metadata_.srgb_intent) return Use::meaningless;
    if (data.size() != 1 || data[0] > 3) return Use::damaged;
    metadata_.srgb_intent = data[0];
    return Use::taken;
  }

  // Colour primaries, transfer function, matrix, which is 0 for RGB, and whether the range is full.
  Use take_coding_points(const Bytes& data) {
    if (metadata_.coding_points) return Use::meaningless;
    std::array<std::uint8_t, 4> points{};
    if (data.size() != points.size() || data[2] != 0 || data[3] > 1) return Use::damaged;
    std::copy(data.begin(), data.end(), points.begin());
    metadata_.coding_points = points;
    return Use::taken;
  }

  // Name, NUL, method 0, zlib stream.
  Use take_profile(const Bytes& data) {
    if (metadata_.icc_profile) return Use::meaningless;
    const auto end = static_cast<std::size_t>(std::ranges::find(data, 0) - data.begin());
    if (end == 0 || end > 79 || data.size() < end + 2 || data[end + 1] != 0) return Use::damaged;
    auto profile = zlib_inflate(std::span(data).subspan(end + 2), budget_);
    if (!profile || profile->size() < icc_header_size) return Use::damaged;
    metadata_.icc_profile =
        IccProfile{utf8_from_latin1(as_text(std::span(data).first(end))), std::move(*profile)};
    return Use::taken;
  }

  Use take_density(const Bytes& data) {
    if (metadata_.density) return Use::meaningless;
    if (data.size() != 9 || data[8] > 1) return Use::damaged;
    const auto x = get_u32(data);
    const auto y = get_u32(std::span(data).subspan(4));
    if (x == 0 || y == 0) return Use::meaningless;
    const auto unit = data[8] == 1 ? Density::Unit::per_metre : Density::Unit::aspect_ratio;
    metadata_.density = Density{unit, x, y};
    return Use::taken;
  }

  Use take_exif(const Bytes& data) {
    if (!metadata_.exif.empty()) return Use::meaningless;
    Bytes tiff = data;
    remove_exif_prefix(tiff);
    const bool is_tiff = as_text(tiff).starts_with(std::string_view("II*\0", 4)) ||
                         as_text(tiff).starts_with(std::string_view("MM\0*", 4));
    if (!is_tiff) return Use::damaged;
    metadata_.exif = std::move(tiff);
    return Use::taken;
  }

  Use take_text(const PngChunk& chunk) {
    auto entry = parse_text(chunk, budget_);
    if (!entry) return Use::damaged;
    if (chunk.type != "iTXt" || entry->keyword != xmp_keyword) {
      metadata_.text.push_back(std::move(*entry));
      return Use::taken;
    }
    if (!metadata_.xmp.empty()) return Use::meaningless;
    metadata_.xmp.assign(entry->text.begin(), entry->text.end());
    metadata_.xmp_compressed = entry->compressed;
    return Use::taken;
  }

  PngPlace place_;
  std::size_t budget_ = inflate_budget;
  Metadata metadata_;
};

PngChunk make_profile(const IccProfile& profile) {
  const std::string name = png_keyword(profile.name).value_or("icc");
  PngChunk chunk{"iCCP", Bytes(name.begin(), name.end())};
  chunk.data.insert(chunk.data.end(), {0, 0});
  const Bytes compressed = zlib_deflate(profile.data);
  chunk.data.insert(chunk.data.end(), compressed.begin(), compressed.end());
  return chunk;
}

PngChunk make_numbers(const char* type, std::span<const std::int32_t> numbers) {
  PngChunk chunk{type, {}};
  for (const std::int32_t number : numbers)
    put_number(chunk.data, static_cast<std::uint32_t>(number), 4);
  return chunk;
}

PngChunk make_density(const Density& density) {
  PngChunk chunk{"pHYs", {}};
  put_number(chunk.data, density.x, 4);
  put_number(chunk.data, density.y, 4);
  chunk.data.push_back(density.unit == Density::Unit::per_metre ? 1 : 0);
  return chunk;
}

// With a profile no sRGB chunk is written: PNG allows only one of the two.
void add_about_color(std::vector<PngChunk>& chunks, const Metadata& metadata,
                     const PixelFormat& format, LeftOut& left_out) {
  if (metadata.coding_points) {
    const auto& points = *metadata.coding_points;
    chunks.push_back({"cICP", Bytes(points.begin(), points.end())});
  }
  if (metadata.gamma) chunks.push_back(make_numbers("gAMA", {&*metadata.gamma, 1}));
  if (metadata.chromaticity) chunks.push_back(make_numbers("cHRM", *metadata.chromaticity));
  if (const IccProfile* profile = profile_for(format, metadata, left_out)) {
    chunks.push_back(make_profile(*profile));
  } else if (metadata.srgb_intent) {
    chunks.push_back({"sRGB", {static_cast<std::uint8_t>(*metadata.srgb_intent)}});
  }
  if (metadata.density) chunks.push_back(make_density(*metadata.density));
}

void add_text(std::vector<PngChunk>& chunks, const TextEntry& entry, LeftOut& left_out) {
  if (auto chunk = make_text(entry)) {
    chunks.push_back(std::move(*chunk));
  } else {
    left_out.add(formatted("text \"{}\" (no keyword of a PNG)", entry.keyword));
  }
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

bool is_metadata_chunk(std::string_view type) {
  static constexpr std::array<std::string_view, 10> types{"gAMA", "cHRM", "sRGB", "cICP", "iCCP",
                                                          "pHYs", "eXIf", "tEXt", "zTXt", "iTXt"};
  return std::ranges::find(types, type) != types.end();
}

Metadata metadata_from_chunks(std::span<const PngChunk> chunks, PngPlace place,
                              const std::string& name, SkippedChunks& skipped) {
  Collector collector(place);
  for (const PngChunk& chunk : chunks) {
    const Use use = collector.take(chunk);
    if (use == Use::damaged) skipped.add(chunk.type, "invalid, or too large");
    if (use == Use::meaningless) {
      log::debug(
          formatted("{}: left out a {} chunk, which has no meaning there", name, chunk.type));
    }
  }
  Metadata metadata = std::move(collector.metadata());
  take_raw_profiles(metadata);
  remove_exif_thumbnail(metadata.exif);
  remove_resource_thumbnails(metadata.image_resources);
  return metadata;
}

std::vector<PngChunk> chunks_from_metadata(const Metadata& metadata, PngPlace place,
                                           const PixelFormat& format, LeftOut& left_out) {
  std::vector<PngChunk> chunks;
  if (place == PngPlace::before_pixels) add_about_color(chunks, metadata, format, left_out);
  if (!metadata.exif.empty()) chunks.push_back({"eXIf", metadata.exif});
  if (!metadata.xmp.empty()) chunks.push_back(make_xmp(metadata.xmp, metadata.xmp_compressed));
  if (!metadata.image_resources.empty()) {
    add_text(chunks, raw_profile_of(metadata.image_resources), left_out);
  }
  for (const TextEntry& entry : metadata.text)
    add_text(chunks, entry, left_out);
  return chunks;
}

}  // namespace gpufilter
