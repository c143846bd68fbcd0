#include "codec/png/metadata/metadata.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "base/format.hpp"
#include "base/log.hpp"
#include "codec/png/metadata/raw_profile.hpp"
#include "codec/png/metadata/text.hpp"
#include "codec/text_encoding.hpp"
#include "image/exif_parts.hpp"
#include "image/image_resources.hpp"

namespace gpufilter {
namespace {

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
  Use take(const PngChunk& chunk);
  [[nodiscard]] Metadata& metadata() { return metadata_; }

 private:
  Use take_about_color(const PngChunk& chunk);
  Use take_gamma(const Bytes& data);
  Use take_chromaticity(const Bytes& data);
  Use take_srgb(const Bytes& data);
  Use take_coding_points(const Bytes& data);
  Use take_profile(const Bytes& data);
  Use take_density(const Bytes& data);
  Use take_exif(const Bytes& data);
  Use take_text(const PngChunk& chunk);

  PngPlace place_;
  std::size_t budget_ = inflate_budget;
  Metadata metadata_;
};

Use Collector::take(const PngChunk& chunk) {
  if (chunk.type == "eXIf") return take_exif(chunk.data);
  if (chunk.type == "tEXt" || chunk.type == "zTXt" || chunk.type == "iTXt") {
    return take_text(chunk);
  }
  return place_ == PngPlace::before_pixels ? take_about_color(chunk) : Use::meaningless;
}

Use Collector::take_about_color(const PngChunk& chunk) {
  if (chunk.type == "gAMA") return take_gamma(chunk.data);
  if (chunk.type == "cHRM") return take_chromaticity(chunk.data);
  if (chunk.type == "sRGB") return take_srgb(chunk.data);
  if (chunk.type == "cICP") return take_coding_points(chunk.data);
  if (chunk.type == "iCCP") return take_profile(chunk.data);
  if (chunk.type == "pHYs") return take_density(chunk.data);
  return Use::meaningless;
}

Use Collector::take_gamma(const Bytes& data) {
  if (metadata_.gamma) return Use::meaningless;
  if (data.size() != 4) return Use::damaged;
  const auto gamma = get_i31(data);
  if (gamma == 0) return Use::meaningless;
  metadata_.gamma = gamma;
  return taken_if(gamma.has_value());
}

Use Collector::take_chromaticity(const Bytes& data) {
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

Use Collector::take_srgb(const Bytes& data) {
  if (metadata_.srgb_intent) return Use::meaningless;
  if (data.size() != 1 || data[0] > 3) return Use::damaged;
  metadata_.srgb_intent = data[0];
  return Use::taken;
}

// Colour primaries, transfer function, matrix, which is 0 for RGB, and whether the range is full.
Use Collector::take_coding_points(const Bytes& data) {
  if (metadata_.coding_points) return Use::meaningless;
  std::array<std::uint8_t, 4> points{};
  if (data.size() != points.size() || data[2] != 0 || data[3] > 1) return Use::damaged;
  std::copy(data.begin(), data.end(), points.begin());
  metadata_.coding_points = points;
  return Use::taken;
}

// Name, NUL, method 0, zlib stream.
Use Collector::take_profile(const Bytes& data) {
  if (metadata_.icc_profile) return Use::meaningless;
  const auto end = static_cast<std::size_t>(std::find(data.begin(), data.end(), 0) - data.begin());
  if (end == 0 || end > 79 || data.size() < end + 2 || data[end + 1] != 0) return Use::damaged;
  auto profile = zlib_inflate(std::span(data).subspan(end + 2), budget_);
  if (!profile || profile->size() < icc_header_size) return Use::damaged;
  metadata_.icc_profile =
      IccProfile{utf8_from_latin1(as_text(std::span(data).first(end))), std::move(*profile)};
  return Use::taken;
}

Use Collector::take_density(const Bytes& data) {
  if (metadata_.density) return Use::meaningless;
  if (data.size() != 9 || data[8] > 1) return Use::damaged;
  const auto x = get_u32(data);
  const auto y = get_u32(std::span(data).subspan(4));
  if (x == 0 || y == 0) return Use::meaningless;
  const auto unit = data[8] == 1 ? Density::Unit::per_metre : Density::Unit::aspect_ratio;
  metadata_.density = Density{unit, x, y};
  return Use::taken;
}

Use Collector::take_exif(const Bytes& data) {
  if (!metadata_.exif.empty()) return Use::meaningless;
  Bytes tiff = data;
  remove_exif_prefix(tiff);
  const bool is_tiff = as_text(tiff).starts_with(std::string_view("II*\0", 4)) ||
                       as_text(tiff).starts_with(std::string_view("MM\0*", 4));
  if (!is_tiff) return Use::damaged;
  metadata_.exif = std::move(tiff);
  return Use::taken;
}

Use Collector::take_text(const PngChunk& chunk) {
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
    put_u32(chunk.data, static_cast<std::uint32_t>(number));
  return chunk;
}

PngChunk make_density(const Density& density) {
  PngChunk chunk{"pHYs", {}};
  put_u32(chunk.data, density.x);
  put_u32(chunk.data, density.y);
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

bool is_metadata_chunk(std::string_view type) {
  static constexpr std::array<std::string_view, 10> types{"gAMA", "cHRM", "sRGB", "cICP", "iCCP",
                                                          "pHYs", "eXIf", "tEXt", "zTXt", "iTXt"};
  return std::find(types.begin(), types.end(), type) != types.end();
}

Metadata metadata_from_chunks(std::span<const PngChunk> chunks, PngPlace place,
                              const std::string& name, SkippedChunks& skipped) {
  Collector collector(place);
  for (const PngChunk& chunk : chunks) {
    const Use use = collector.take(chunk);
    if (use == Use::damaged) skipped.add(chunk.type, "invalid, or too large");
    if (use == Use::meaningless) {
      log::debug(formatted("{}: left out a {} chunk, which means nothing there", name, chunk.type));
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
