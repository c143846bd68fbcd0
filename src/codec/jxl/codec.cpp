#include "codec/jxl/codec.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <optional>
#include <utility>

#include "base/format.hpp"
#include "base/threads.hpp"
#include "codec/jxl/library.hpp"
#include "codec/whole_picture.hpp"
#include "host/parallel.hpp"
#include "image/icc.hpp"
#include "image/rows.hpp"

namespace gpufilter {
namespace {

std::string jxl_libraries() {
  const std::uint32_t version = libjxl().JxlDecoderVersion();
  return formatted("libjxl {}.{}.{}", version / 1'000'000, version / 1000 % 1000, version % 1000);
}

using Points = std::array<std::uint8_t, 4>;  // of ITU-T H.273

struct Primaries {
  std::uint8_t point;
  JxlPrimaries primaries;
  JxlWhitePoint white;
};

constexpr std::array<Primaries, 4> known_primaries{{{1, JXL_PRIMARIES_SRGB, JXL_WHITE_POINT_D65},
                                                    {9, JXL_PRIMARIES_2100, JXL_WHITE_POINT_D65},
                                                    {11, JXL_PRIMARIES_P3, JXL_WHITE_POINT_DCI},
                                                    {12, JXL_PRIMARIES_P3, JXL_WHITE_POINT_D65}}};

bool is_srgb(const JxlColorEncoding& colors) {
  return colors.white_point == JXL_WHITE_POINT_D65 &&
         colors.transfer_function == JXL_TRANSFER_FUNCTION_SRGB &&
         (colors.color_space == JXL_COLOR_SPACE_GRAY ||
          (colors.color_space == JXL_COLOR_SPACE_RGB && colors.primaries == JXL_PRIMARIES_SRGB));
}

// Transfer functions have the same numbers in JPEG XL.
std::optional<Points> hdr_points(const JxlColorEncoding& colors) {
  if (colors.transfer_function != JXL_TRANSFER_FUNCTION_PQ &&
      colors.transfer_function != JXL_TRANSFER_FUNCTION_HLG) {
    return std::nullopt;
  }
  for (const Primaries& known : known_primaries) {
    if (known.primaries == colors.primaries && known.white == colors.white_point)
      return Points{known.point, static_cast<std::uint8_t>(colors.transfer_function), 0, 1};
  }
  return std::nullopt;
}

// RGB of full range, in colours that JPEG XL has names for.
bool set_points(const Points& points, JxlColorEncoding& colors) {
  constexpr std::array<JxlTransferFunction, 6> known_functions{
      JXL_TRANSFER_FUNCTION_709, JXL_TRANSFER_FUNCTION_LINEAR, JXL_TRANSFER_FUNCTION_SRGB,
      JXL_TRANSFER_FUNCTION_PQ,  JXL_TRANSFER_FUNCTION_DCI,    JXL_TRANSFER_FUNCTION_HLG};
  if (points[2] != 0 || points[3] != 1) return false;
  for (const Primaries& primaries : known_primaries) {
    for (const JxlTransferFunction function : known_functions) {
      if (primaries.point != points[0] || function != points[1]) continue;
      colors.primaries = primaries.primaries;
      colors.white_point = primaries.white;
      colors.transfer_function = function;
      return true;
    }
  }
  return false;
}

// Empty if libjxl has none.
Bytes profile_of(const JxlDecoder* decoder, JxlColorProfileTarget target) {
  std::size_t size = 0;
  if (libjxl().icc_size(decoder, target, &size) != JXL_DEC_SUCCESS) return {};
  Bytes profile(size);
  const bool has_it = libjxl().icc(decoder, target, profile.data(), size) == JXL_DEC_SUCCESS;
  return has_it ? profile : Bytes();
}

}  // namespace

const WriteOption& jxl_effort_option() {
  static const WriteOption option{"jxl-effort", WriteOption::WholeNumber{1, 9}, "",
                                  "Effort of JPEG XL output: 1 is fast, 9 slow. By default 5, or 3 "
                                  "for lossless files."};
  return option;
}

const Codec& jxl_codec() {
  static const Codec codec{.name = "JPEG XL",
                           .extensions = {".jxl"},
                           .signatures = {"\xff\x0a", {"\0\0\0\x0cJXL \r\n\x87\n", 12}},
                           .holds_alpha = true,
                           .color_tags = ColorTags::points,
                           .holds_late_metadata = false,
                           .encodes_in_parallel = true,
                           .decoding = {"decode JPEG XL", 15e-9, 0},
                           .encoding = {"encode JPEG XL", 90e-9, 0},
                           .report_key = "encoding",
                           .options = {&quality_option(), &lossless_option(), &jxl_effort_option(),
                                       &strip_option(), &keep_option()},
                           .open = open_jxl,
                           .create = create_jxl,
                           .libraries = jxl_libraries,
                           .loaded_later = "libjxl " GPUFILTER_JXL_VERSION};
  return codec;
}

const LibJxl& libjxl() {
  static const LibJxl library(GPUFILTER_JXL_LIBRARY);
  return library;
}

JxlPixelFormat jxl_format(const PixelFormat& format) {
  return {static_cast<std::uint32_t>(format.channels),
          format.depth == 8 ? JXL_TYPE_UINT8 : JXL_TYPE_UINT16, JXL_NATIVE_ENDIAN, row_alignment};
}

JxlParallelRetCode run_for_jxl(void* /*runner*/, void* jxl, JxlParallelRunInit init,
                               JxlParallelRunFunction function, std::uint32_t begin,
                               std::uint32_t end) try {
  const std::size_t threads =
      std::clamp<std::size_t>(allowed_threads(), 1, std::max<std::uint32_t>(end - begin, 1));
  if (const JxlParallelRetCode failure = init(jxl, threads); failure != 0) return failure;
  std::atomic<std::uint64_t> next = begin;
  run_parts(static_cast<int>(threads), [&](int thread) {
    for (std::uint64_t value = next++; value < end; value = next++)
      function(jxl, static_cast<std::uint32_t>(value), static_cast<std::size_t>(thread));
  });
  return 0;
} catch (...) {
  return JXL_PARALLEL_RET_RUNNER_ERROR;
}

void choose_jxl_colors(JxlDecoder* decoder) {
  constexpr auto original = JXL_COLOR_PROFILE_TARGET_ORIGINAL;
  JxlBasicInfo info{};
  if (libjxl().JxlDecoderGetBasicInfo(decoder, &info) != JXL_DEC_SUCCESS ||
      info.uses_original_profile == JXL_TRUE ||
      libjxl().encoded_profile(decoder, original, nullptr) == JXL_DEC_SUCCESS) {
    return;
  }
  const bool is_grey = info.num_color_channels == 1;
  JxlColorEncoding colors{};
  libjxl().JxlColorEncodingSetToSRGB(&colors, is_grey ? JXL_TRUE : JXL_FALSE);
  const auto primaries = is_grey ? std::nullopt : icc_primaries(profile_of(decoder, original));
  if (primaries) {
    constexpr std::array<double, 2> d50{0.3457, 0.3585};
    colors.white_point = JXL_WHITE_POINT_CUSTOM;
    colors.primaries = JXL_PRIMARIES_CUSTOM;
    std::copy_n(d50.begin(), 2, colors.white_point_xy);
    std::copy_n(primaries->begin(), 2, colors.primaries_red_xy);
    std::copy_n(primaries->begin() + 2, 2, colors.primaries_green_xy);
    std::copy_n(primaries->begin() + 4, 2, colors.primaries_blue_xy);
  }
  libjxl().JxlDecoderSetPreferredColorProfile(decoder, &colors);
}

void read_jxl_colors(const JxlDecoder* decoder, Metadata& metadata) {
  constexpr auto data = JXL_COLOR_PROFILE_TARGET_DATA;
  JxlColorEncoding colors{};
  if (libjxl().encoded_profile(decoder, data, &colors) == JXL_DEC_SUCCESS) {
    if (is_srgb(colors)) {
      metadata.srgb_intent = colors.rendering_intent;
      return;
    }
    metadata.coding_points = hdr_points(colors);
  }
  Bytes profile = profile_of(decoder, data);
  if (!profile.empty()) metadata.icc_profile.emplace().data = std::move(profile);
}

bool write_jxl_colors(JxlEncoder* encoder, const PixelFormat& format, const Metadata& metadata,
                      LeftOut& left_out) {
  JxlColorEncoding colors{};
  libjxl().JxlColorEncodingSetToSRGB(&colors, format.color_channels() == 1 ? JXL_TRUE : JXL_FALSE);
  if (metadata.coding_points && set_points(*metadata.coding_points, colors))
    return libjxl().JxlEncoderSetColorEncoding(encoder, &colors) == JXL_ENC_SUCCESS;
  const IccProfile* profile = profile_for(format, metadata, left_out);
  if (profile != nullptr &&
      libjxl().JxlEncoderSetICCProfile(encoder, profile->data.data(), profile->data.size()) !=
          JXL_ENC_SUCCESS) {
    left_out.add("the ICC profile (libjxl does not accept it)");
    profile = nullptr;
  }
  note_color_description(metadata, profile != nullptr, left_out);
  if (profile != nullptr) return true;
  if (metadata.srgb_intent)
    colors.rendering_intent = static_cast<JxlRenderingIntent>(*metadata.srgb_intent);
  return libjxl().JxlEncoderSetColorEncoding(encoder, &colors) == JXL_ENC_SUCCESS;
}

}  // namespace gpufilter
