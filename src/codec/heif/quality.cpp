#include "codec/heif/quality.hpp"

#include <algorithm>
#include <cmath>

#include "codec/heif/functions.hpp"

namespace gpufilter {
namespace {

bool stores_rgb(ByteSpan points) {
  constexpr std::size_t matrix_at = 8;
  if (points.size() < matrix_at + 2) return false;
  return ByteCursor(points.subspan(matrix_at)).number(2) == heif_matrix_coefficients_RGB_GBR;
}

// `points` are those of the picture that it is a part of.
bool is_lossless(const HeifPicture& picture, ByteSpan points) {
  const ByteSpan own = code_points_of(*picture.item);
  if (!own.empty()) points = own;
  if (picture.parts.empty())
    return picture.header.may_be_lossless && (picture.is_grey || stores_rgb(points));
  return std::all_of(picture.parts.begin(), picture.parts.end(),
                     [points](const auto& part) { return is_lossless(*part, points); });
}

// libheif gives libaom one of 64 quantisers, which stand for those of AV1.
int av1_quality(int quantiser) {
  constexpr int last = 63;
  const int index = quantiser > 252 ? last : std::min((quantiser + 3) / 4, last - 1);
  return index == 0 ? 100 : 100 - (100 * index - 50 + last - 1) / last;
}

// libheif gives x265 a rate factor of (100 - quality) / 2, from which single pictures get finer
// quantisers than others, by a ratio of 1.4.
int hevc_quality(int quantiser) {
  constexpr double finer = 2.9126;
  return quantiser <= 0 ? 100 : static_cast<int>(std::floor(100 - 2 * (quantiser + finer)));
}

}  // namespace

bool is_lossless_heif(const HeifPicture& picture) {
  return is_lossless(picture, {});
}

std::optional<int> heif_quality(const HeifPicture& picture) {
  if (!picture.parts.empty()) return heif_quality(*picture.parts.front());
  const auto quantiser = picture.header.quantiser;
  if (!quantiser) return std::nullopt;
  const bool is_av1 = picture.item->type == "av01";
  return std::clamp(is_av1 ? av1_quality(*quantiser) : hevc_quality(*quantiser), 1, 100);
}

}  // namespace gpufilter
