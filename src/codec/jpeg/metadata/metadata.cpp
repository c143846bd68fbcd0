#include "codec/jpeg/metadata/metadata.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "codec/jpeg/metadata/text_segments.hpp"
#include "codec/text_encoding.hpp"
#include "image/exif_parts.hpp"
#include "image/image_resources.hpp"

namespace gpufilter {
namespace {

std::string_view text_of(const jpeg_marker_struct& marker) {
  // libjpeg's bytes are compared and stored as characters.
  return {reinterpret_cast<const char*>(marker.data), marker.data_length};
}

// Some files end a comment with a zero byte, which no other format could store.
std::string comment_text(std::string_view stored) {
  stored = stored.substr(0, stored.find('\0'));
  return is_utf8(stored) ? std::string(stored) : utf8_from_latin1(stored);
}

void read_segment(const jpeg_marker_struct& marker, Metadata& metadata) {
  const std::string_view segment = text_of(marker);
  const auto content = [&segment](std::string_view prefix) {
    return segment.substr(prefix.size());
  };
  const auto take = [](std::string_view bytes, Bytes& into) {
    if (into.empty()) into.assign(bytes.begin(), bytes.end());
  };
  switch (jpeg_segment_kind(marker.marker, segment)) {
    case JpegSegmentKind::exif:
      return take(content(exif_prefix), metadata.exif);
    case JpegSegmentKind::xmp:
      return take(content(xmp_prefix), metadata.xmp);
    case JpegSegmentKind::image_resources: {
      const auto part = content(resources_prefix);
      metadata.image_resources.insert(metadata.image_resources.end(), part.begin(), part.end());
      return;
    }
    case JpegSegmentKind::icc_profile:
    case JpegSegmentKind::other:
      break;
  }
  if (marker.marker != JPEG_COM) return;
  auto text = comment_text(segment);
  if (!text.empty()) metadata.text.push_back({std::string(comment_keyword), text, {}, {}});
}

void read_icc_profile(Decompressor& jpeg, JpegErrors& errors, Metadata& metadata,
                      std::vector<std::string>& warnings) {
  JOCTET* data = nullptr;
  unsigned length = 0;
  errors.run([&] { jpeg_read_icc_profile(&jpeg, &data, &length); });
  if (data == nullptr) {
    if (jpeg.segments.has_profile()) {
      warnings.push_back(errors.name() + ": skipped damaged metadata: colour profile");
    }
    return;
  }
  const std::unique_ptr<JOCTET, decltype(&std::free)> owned(data, &std::free);
  metadata.icc_profile.emplace().data.assign(data, data + length);
}

// There is no density if the file has none, or says only that pixels are square.
std::optional<Density> read_density(const jpeg_decompress_struct& jpeg) {
  const std::uint32_t x = jpeg.X_density;
  const std::uint32_t y = jpeg.Y_density;
  if (!jpeg.saw_JFIF_marker || x == 0 || y == 0) return std::nullopt;
  const auto per_metre_from_inch = [](std::uint32_t dpi) { return (dpi * 10000 + 127) / 254; };
  switch (jpeg.density_unit) {
    case 1:
      return Density{Density::Unit::per_metre, per_metre_from_inch(x), per_metre_from_inch(y)};
    case 2:
      return Density{Density::Unit::per_metre, x * 100, y * 100};
    default:
      break;
  }
  if (jpeg.density_unit != 0 || x == y) return std::nullopt;
  return Density{Density::Unit::aspect_ratio, x, y};
}

constexpr std::uint64_t max_dots = 0xFFFF;

// Rounded; the inverse of what read_density() does.
constexpr std::uint64_t per_inch(std::uint32_t per_metre) {
  return (std::uint64_t{per_metre} * 254 + 5000) / 10000;
}

// Whether converting to JFIF's dots per inch and back yields this value.
constexpr bool is_exact_in_inches(std::uint32_t per_metre) {
  const std::uint64_t dpi = per_inch(per_metre);
  return dpi <= max_dots && (dpi * 10000 + 127) / 254 == per_metre;
}

constexpr bool is_exact_in_centimetres(std::uint32_t per_metre) {
  return per_metre % 100 == 0 && per_metre / 100 <= max_dots;
}

}  // namespace

Metadata read_jpeg_metadata(Decompressor& jpeg, JpegErrors& errors,
                            std::vector<std::string>& warnings) {
  Metadata metadata;
  for (const jpeg_marker_struct* marker = jpeg.marker_list; marker != nullptr;
       marker = marker->next)
    read_segment(*marker, metadata);
  read_icc_profile(jpeg, errors, metadata, warnings);
  if (jpeg.segments.left_out_comments()) {
    warnings.push_back(errors.name() + ": skipped some of its comments: there are too many");
  }
  if (jpeg.segments.left_out_others()) {
    warnings.push_back(errors.name() + ": skipped some of its APP segments: there are too many");
  }
  metadata.density = read_density(jpeg);
  remove_exif_prefix(metadata.exif);
  remove_exif_thumbnail(metadata.exif);
  remove_resource_thumbnails(metadata.image_resources);
  return metadata;
}

JpegMetadataLayout read_jpeg_metadata_layout(const jpeg_decompress_struct& jpeg) {
  JpegMetadataLayout layout;
  std::array<bool, 4> seen{};  // by kind
  for (const jpeg_marker_struct* marker = jpeg.marker_list; marker != nullptr;
       marker = marker->next) {
    if (announces_parts(marker->marker, text_of(*marker))) continue;
    JpegSegment segment{jpeg_segment_kind(marker->marker, text_of(*marker)), marker->marker, {}};
    const bool is_other = segment.kind == JpegSegmentKind::other;
    if (!is_other && !std::exchange(seen.at(static_cast<std::size_t>(segment.kind)), true)) {
      layout.push_back(std::move(segment));
      continue;
    }
    const bool is_part = segment.kind == JpegSegmentKind::icc_profile ||
                         segment.kind == JpegSegmentKind::image_resources;
    if (is_part) continue;
    segment.kind = JpegSegmentKind::other;
    segment.data.assign(marker->data, marker->data + marker->data_length);
    layout.push_back(std::move(segment));
  }
  return layout;
}

void set_jpeg_density(jpeg_compress_struct& jpeg, const Metadata& metadata, LeftOut& left_out) {
  if (!metadata.density) return;
  const Density& density = *metadata.density;
  std::uint64_t x = density.x;
  std::uint64_t y = density.y;
  UINT8 unit = 0;
  if (density.unit == Density::Unit::per_metre) {
    const bool inches = is_exact_in_inches(density.x) && is_exact_in_inches(density.y);
    const bool centimetres =
        is_exact_in_centimetres(density.x) && is_exact_in_centimetres(density.y);
    unit = centimetres && !inches ? 2 : 1;
    x = unit == 1 ? per_inch(density.x) : density.x / 100;
    y = unit == 1 ? per_inch(density.y) : density.y / 100;
  }
  if (x == 0 || y == 0 || x > max_dots || y > max_dots) return left_out.add("density");
  jpeg.density_unit = unit;
  jpeg.X_density = static_cast<UINT16>(x);
  jpeg.Y_density = static_cast<UINT16>(y);
}

}  // namespace gpufilter
