#include "codec/jpeg/read/device_scan.hpp"

#include <algorithm>
#include <cstring>

namespace gpufilter {
namespace {

// libjpeg and older versions of libjpeg-turbo interpolate chroma in other ways.
#ifdef LIBJPEG_TURBO_VERSION_NUMBER
constexpr bool is_known_library = LIBJPEG_TURBO_VERSION_NUMBER >= 2001000;
#else
constexpr bool is_known_library = false;
#endif

bool is_baseline(const jpeg_decompress_struct& jpeg) {
  if (jpeg.progressive_mode != FALSE || jpeg.arith_code != FALSE || jpeg.data_precision != 8 ||
      jpeg.comps_in_scan != jpeg.num_components || jpeg.Ss != 0 || jpeg.Se != DCTSIZE2 - 1 ||
      jpeg.Ah != 0 || jpeg.Al != 0) {
    return false;
  }
  for (int i = 0; i < jpeg.comps_in_scan; ++i) {
    if (jpeg.cur_comp_info[i]->component_index != i) return false;
  }
  return jpeg.jpeg_color_space == JCS_GRAYSCALE || jpeg.jpeg_color_space == JCS_YCbCr;
}

bool has_common_sampling(const jpeg_decompress_struct& jpeg) {
  if (jpeg.num_components == 1) return true;
  const auto is_single = [](const jpeg_component_info& component) {
    return component.h_samp_factor == 1 && component.v_samp_factor == 1;
  };
  const jpeg_component_info& luma = jpeg.comp_info[0];
  return jpeg.num_components == 3 && luma.h_samp_factor <= 2 && luma.v_samp_factor <= 2 &&
         is_single(jpeg.comp_info[1]) && is_single(jpeg.comp_info[2]);
}

std::optional<JpegHuffmanTable> table_of(const JHUFF_TBL* table, bool of_first_coefficients) {
  if (table == nullptr) return std::nullopt;
  JpegHuffmanTable result;
  std::copy(std::begin(table->bits), std::end(table->bits), result.counts.begin());
  std::copy(std::begin(table->huffval), std::end(table->huffval), result.symbols.begin());
  return is_valid(result, of_first_coefficients) ? std::optional(result) : std::nullopt;
}

std::optional<JpegScan::Component> component_of(const jpeg_decompress_struct& jpeg,
                                                const jpeg_component_info& info) {
  // libjpeg checks these numbers later.
  if (info.dc_tbl_no < 0 || info.dc_tbl_no >= NUM_HUFF_TBLS || info.ac_tbl_no < 0 ||
      info.ac_tbl_no >= NUM_HUFF_TBLS || info.quant_tbl_no < 0 ||
      info.quant_tbl_no >= NUM_QUANT_TBLS) {
    return std::nullopt;
  }
  const auto first = table_of(jpeg.dc_huff_tbl_ptrs[info.dc_tbl_no], true);
  const auto others = table_of(jpeg.ac_huff_tbl_ptrs[info.ac_tbl_no], false);
  const JQUANT_TBL* divisors = jpeg.quant_tbl_ptrs[info.quant_tbl_no];
  if (!first || !others || divisors == nullptr) return std::nullopt;
  JpegScan::Component component{{}, *first, *others};
  for (std::size_t i = 0; i < component.divisors.size(); ++i) {
    if (divisors->quantval[i] > 255) return std::nullopt;
    component.divisors[i] = static_cast<std::uint8_t>(divisors->quantval[i]);
  }
  return component;
}

}  // namespace

std::optional<JpegScan> device_scan(const jpeg_decompress_struct& jpeg) {
  if (!is_known_library || !is_baseline(jpeg) || !has_common_sampling(jpeg)) return std::nullopt;
  JpegScan scan;
  scan.size = {static_cast<int>(jpeg.image_width), static_cast<int>(jpeg.image_height)};
  scan.restart_interval = jpeg.restart_interval;
  if (jpeg.num_components == 3) {
    scan.horizontal = jpeg.comp_info[0].h_samp_factor;
    scan.vertical = jpeg.comp_info[0].v_samp_factor;
  }
  for (int i = 0; i < jpeg.num_components; ++i) {
    const auto component = component_of(jpeg, jpeg.comp_info[i]);
    if (!component) return std::nullopt;
    scan.components.push_back(*component);
  }
  return scan;
}

std::size_t plain_scan_bytes(std::span<const std::uint8_t> bytes) {
  for (std::size_t at = 0; at + 1 < bytes.size(); at += 2) {
    const void* found = std::memchr(bytes.data() + at, 0xFF, bytes.size() - 1 - at);
    if (found == nullptr) return 0;
    at = static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - bytes.data());
    const int code = bytes[at + 1];
    if (code == JPEG_EOI) return at;
    if (code != 0 && !is_restart(code)) return 0;
  }
  return 0;
}

}  // namespace gpufilter
