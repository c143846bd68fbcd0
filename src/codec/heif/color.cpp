#include "codec/heif/color.hpp"

#include <array>
#include <utility>

namespace gpufilter {
namespace {

constexpr std::size_t max_profile_bytes = std::size_t{16} << 20U;

HeifNclx nclx_of(const heif_image_handle* handle) {
  heif_color_profile_nclx* nclx = nullptr;
  if (libheif().heif_image_handle_get_nclx_color_profile(handle, &nclx).code != heif_error_Ok)
    nclx = nullptr;
  return {nclx, libheif().heif_nclx_color_profile_free};
}

}  // namespace

void read_heif_colors(const heif_image_handle* handle, Metadata& metadata) {
  const std::size_t size = libheif().heif_image_handle_get_raw_color_profile_size(handle);
  if (size > 0 && size <= max_profile_bytes) {
    Bytes profile(size);
    if (libheif().heif_image_handle_get_raw_color_profile(handle, profile.data()).code ==
        heif_error_Ok) {
      metadata.icc_profile.emplace().data = std::move(profile);
    }
  }
  const HeifNclx nclx = nclx_of(handle);
  if (!nclx) return;
  const auto primaries = nclx->color_primaries;
  const auto transfer = nclx->transfer_characteristics;
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

bool stores_rgb(const heif_image_handle* handle) {
  const HeifNclx nclx = nclx_of(handle);
  return nclx && nclx->matrix_coefficients == heif_matrix_coefficients_RGB_GBR;
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
