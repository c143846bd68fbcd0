#include "codec/heif/codec.hpp"

#include <array>
#include <bit>
#include <string_view>
#include <utility>

#include "base/format.hpp"
#include "codec/heif/library.hpp"
#include "codec/whole_picture.hpp"

namespace gpufilter {
namespace {

std::string heif_libraries() {
  return formatted("libheif {}", libheif().heif_get_version());
}

// What both formats have.
Codec heif_codec() {
  Codec codec;
  codec.holds_alpha = true;
  codec.color_tags = ColorTags::points;
  codec.holds_late_metadata = false;
  codec.encodes_in_parallel = true;
  codec.report_key = "encoding";
  codec.options = {&quality_option(), &lossless_option(), &strip_option(), &keep_option()};
  codec.open = open_heif;
  codec.libraries = heif_libraries;
  codec.loaded_later = "libheif " GPUFILTER_HEIF_VERSION;
  return codec;
}

struct Initialized : LibHeif {
  using LibHeif::LibHeif;
  Initialized() : LibHeif(GPUFILTER_HEIF_LIBRARY) { heif_init(nullptr); }  // loads its plugins
};

constexpr std::size_t max_profile_bytes = std::size_t{16} << 20U;

// The kind of a "colr" box.
std::string_view kind_of(ByteSpan colors) {
  return as_text(ByteCursor(colors).take(4));
}

struct CodePoints {
  explicit CodePoints(ByteSpan colors) {
    ByteCursor cursor(colors);
    cursor.take(4);
    primaries = cursor.number(2);
    transfer = cursor.number(2);
  }
  std::uint64_t primaries = 0;
  std::uint64_t transfer = 0;
};

}  // namespace

const Codec& heic_codec() {
  static const Codec codec = [] {
    Codec heic = heif_codec();
    heic.name = "HEIC";
    heic.extensions = {".heic", ".heif", ".hif"};
    heic.signatures = {"????ftyphei", "????ftyphev", "????ftypmif1", "????ftypmsf1"};
    heic.max_depth = 10;
    heic.decoding = {"decode HEIC", 15e-9, 0};
    heic.encoding = {"encode HEIC", 200e-9, 0};
    heic.create = create_heic;
    return heic;
  }();
  return codec;
}

const Codec& avif_codec() {
  static const Codec codec = [] {
    Codec avif = heif_codec();
    avif.name = "AVIF";
    avif.extensions = {".avif"};
    avif.signatures = {"????ftypavif", "????ftypavis"};
    avif.max_depth = 12;
    avif.decoding = {"decode AVIF", 10e-9, 0};
    avif.encoding = {"encode AVIF", 200e-9, 0};
    avif.create = create_avif;
    return avif;
  }();
  return codec;
}

const LibHeif& libheif() {
  static const Initialized library;
  return library;
}

heif_chroma interleaved_chroma(int channels, int depth) {
  constexpr bool is_little = std::endian::native == std::endian::little;
  if (depth == 8) return channels == 4 ? heif_chroma_interleaved_RGBA : heif_chroma_interleaved_RGB;
  if (channels == 4)
    return is_little ? heif_chroma_interleaved_RRGGBBAA_LE : heif_chroma_interleaved_RRGGBBAA_BE;
  return is_little ? heif_chroma_interleaved_RRGGBB_LE : heif_chroma_interleaved_RRGGBB_BE;
}

void read_heif_colors(const HeifPicture& picture, Metadata& metadata) {
  ByteSpan points;
  const auto read = [&](const HeifPicture& part) {
    for (const Box& box : part.item->properties) {
      if (box.type != "colr") continue;
      const std::string_view kind = kind_of(box.content);
      const ByteSpan content = box.content.subspan(kind.size());
      const bool is_profile = kind == "prof" || kind == "rICC";
      if (is_profile && !metadata.icc_profile && content.size() <= max_profile_bytes)
        metadata.icc_profile.emplace().data.assign(content.begin(), content.end());
      if (kind == "nclx" && points.empty()) points = box.content;
    }
  };
  read(picture);
  if (!picture.parts.empty()) read(*picture.parts.front());
  if (points.empty()) return;
  const auto [primaries, transfer] = CodePoints(points);
  const bool is_hdr = transfer == heif_transfer_characteristic_ITU_R_BT_2100_0_PQ ||
                      transfer == heif_transfer_characteristic_ITU_R_BT_2100_0_HLG;
  const bool is_srgb = primaries == heif_color_primaries_ITU_R_BT_709_5 &&
                       transfer == heif_transfer_characteristic_IEC_61966_2_1;
  const bool is_known = primaries != heif_color_primaries_unspecified &&
                        transfer != heif_transfer_characteristic_unspecified;
  if (is_known && !is_srgb && (is_hdr || !metadata.icc_profile)) {
    metadata.coding_points = {static_cast<std::uint8_t>(primaries),
                              static_cast<std::uint8_t>(transfer), 0, 1};
  }
}

bool write_heif_colors(heif_image* image, const PixelFormat& format, const Metadata& metadata,
                       bool is_lossless, LeftOut& left_out) {
  constexpr std::array<std::uint8_t, 4> srgb{1, 13, 0, 1};
  HeifNclx nclx(libheif().heif_nclx_color_profile_alloc(), libheif().heif_nclx_color_profile_free);
  if (!nclx) return false;
  const auto set = [&nclx](const std::array<std::uint8_t, 4>& points) {
    return libheif().heif_nclx_color_profile_set_color_primaries(nclx.get(), points[0]).code ==
               heif_error_Ok &&
           libheif()
                   .heif_nclx_color_profile_set_transfer_characteristics(nclx.get(), points[1])
                   .code == heif_error_Ok;
  };
  const bool has_points = metadata.coding_points && set(*metadata.coding_points);
  if (!has_points) set(srgb);
  nclx->matrix_coefficients = is_lossless && format.color_channels() == 3
                                  ? heif_matrix_coefficients_RGB_GBR
                                  : heif_matrix_coefficients_ITU_R_BT_601_6;
  nclx->full_range_flag = 1;
  const IccProfile* profile = profile_for(format, metadata, left_out);
  if (profile != nullptr && libheif()
                                    .heif_image_set_raw_color_profile(
                                        image, "prof", profile->data.data(), profile->data.size())
                                    .code != heif_error_Ok) {
    left_out.add("the ICC profile (libheif does not accept it)");
    profile = nullptr;
  }
  if (!has_points) note_color_description(metadata, profile != nullptr, left_out);
  return libheif().heif_image_set_nclx_color_profile(image, nclx.get()).code == heif_error_Ok;
}

}  // namespace gpufilter
