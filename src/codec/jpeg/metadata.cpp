#include "codec/jpeg/metadata.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <span>
#include <string_view>

#include "base/format.hpp"
#include "base/log.hpp"
#include "codec/text_encoding.hpp"

namespace gpufilter {
namespace {

using namespace std::string_view_literals;

constexpr int app1 = JPEG_APP0 + 1;
constexpr auto comment_keyword = "Comment"sv;
constexpr std::size_t largest_segment = 65533;
constexpr std::size_t largest_icc_profile = std::size_t{255} * (largest_segment - 14);

std::string_view text_of(const jpeg_marker_struct& marker) {
  // libjpeg's bytes are compared and stored as characters.
  return {reinterpret_cast<const char*>(marker.data), marker.data_length};
}

// Some files end a comment with a zero byte, which no other format could store.
std::string comment_text(std::string_view stored) {
  stored = stored.substr(0, stored.find('\0'));
  return is_utf8(stored) ? std::string(stored) : utf8_from_latin1(stored);
}

void read_app1(std::string_view segment, Metadata& metadata) {
  const auto take = [&](std::string_view prefix, Bytes& into) {
    if (!into.empty() || segment.substr(0, prefix.size()) != prefix) return;
    into.assign(segment.begin() + prefix.size(), segment.end());
  };
  take(exif_prefix, metadata.exif);
  take(xmp_prefix, metadata.xmp);
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
  if (jpeg.jpeg_color_space == JCS_CMYK || jpeg.jpeg_color_space == JCS_YCCK) {
    log::debug(errors.name() + ": the CMYK colour profile is dropped: it does not describe RGB");
    return;
  }
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

void drop(const JpegErrors& errors, std::string_view what) {
  log::debug(formatted("{}: {}: dropped", errors.name(), what));
}

void write_segment(jpeg_compress_struct& jpeg, JpegErrors& errors, int marker,
                   std::string_view prefix, std::span<const std::uint8_t> content) {
  Bytes segment(prefix.begin(), prefix.end());
  segment.insert(segment.end(), content.begin(), content.end());
  if (segment.size() > largest_segment) {
    drop(errors, formatted("{} bytes of metadata do not fit a JPEG segment", segment.size()));
    return;
  }
  const JOCTET* data = segment.data();
  const auto length = static_cast<unsigned>(segment.size());
  errors.run([&] { jpeg_write_marker(&jpeg, marker, data, length); });
}

void write_icc_profile(jpeg_compress_struct& jpeg, JpegErrors& errors, const Bytes& profile) {
  constexpr std::size_t header_size = 128;
  constexpr std::size_t color_space_at = 16;
  const auto wanted = jpeg.num_components == 1 ? "GRAY"sv : "RGB "sv;
  if (profile.size() < header_size ||
      !std::equal(wanted.begin(), wanted.end(), profile.begin() + color_space_at)) {
    return drop(errors, "the colour profile is not one for the picture's colours");
  }
  if (profile.size() > largest_icc_profile) {
    return drop(errors, "the colour profile is larger than JPEG can hold");
  }
  const JOCTET* data = profile.data();
  const auto length = static_cast<unsigned>(profile.size());
  errors.run([&] { jpeg_write_icc_profile(&jpeg, data, length); });
}

constexpr std::uint64_t most_dots = 0xFFFF;

// Rounded; the inverse of what read_density() does.
constexpr std::uint64_t per_inch(std::uint32_t per_metre) {
  return (std::uint64_t{per_metre} * 254 + 5000) / 10000;
}

// Whether converting to JFIF's dots per inch and back yields this value.
constexpr bool is_exact_in_inches(std::uint32_t per_metre) {
  const std::uint64_t dpi = per_inch(per_metre);
  return dpi <= most_dots && (dpi * 10000 + 127) / 254 == per_metre;
}

constexpr bool is_exact_in_centimetres(std::uint32_t per_metre) {
  return per_metre % 100 == 0 && per_metre / 100 <= most_dots;
}

}  // namespace

Metadata read_jpeg_metadata(Decompressor& jpeg, JpegErrors& errors,
                            std::vector<std::string>& warnings) {
  Metadata metadata;
  for (const jpeg_marker_struct* marker = jpeg.marker_list; marker != nullptr;
       marker = marker->next) {
    if (marker->marker == app1) read_app1(text_of(*marker), metadata);
    if (marker->marker == JPEG_COM) {
      auto text = comment_text(text_of(*marker));
      if (!text.empty()) metadata.text.push_back({std::string(comment_keyword), text, {}, {}});
    }
  }
  read_icc_profile(jpeg, errors, metadata, warnings);
  if (jpeg.segments.left_out_comments()) {
    warnings.push_back(errors.name() + ": skipped some of its comments: there are too many");
  }
  metadata.density = read_density(jpeg);
  return metadata;
}

void set_jpeg_density(jpeg_compress_struct& jpeg, const Metadata& metadata) {
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
  if (x == 0 || y == 0 || x > most_dots || y > most_dots) return;
  jpeg.density_unit = unit;
  jpeg.X_density = static_cast<UINT16>(x);
  jpeg.Y_density = static_cast<UINT16>(y);
}

void write_jpeg_metadata(jpeg_compress_struct& jpeg, JpegErrors& errors, const Metadata& metadata) {
  if (!metadata.exif.empty()) write_segment(jpeg, errors, app1, exif_prefix, metadata.exif);
  if (!metadata.xmp.empty()) write_segment(jpeg, errors, app1, xmp_prefix, metadata.xmp);
  if (metadata.icc_profile) write_icc_profile(jpeg, errors, metadata.icc_profile->data);
  for (const TextEntry& entry : metadata.text) {
    if (entry.keyword == comment_keyword) {
      write_segment(jpeg, errors, JPEG_COM, entry.text, {});
    } else {
      drop(errors, formatted("text \"{}\" has no place in JPEG", entry.keyword));
    }
  }
  if (metadata.gamma || metadata.chromaticity) {
    drop(errors, "gamma and chromaticity have no place in JPEG");
  }
}

}  // namespace gpufilter
