#include "codec/jpeg/read/scan_limits.hpp"

#include <algorithm>

#include "base/error.hpp"
#include "base/format.hpp"

namespace gpufilter {
namespace {

std::uint64_t rounded_up(std::uint64_t value, int step) {
  const auto unit = static_cast<unsigned>(step);
  return (value + unit - 1) / unit * unit;
}

}  // namespace

bool has_several_scans(const jpeg_decompress_struct& jpeg) {
  return jpeg.progressive_mode != FALSE || jpeg.comps_in_scan < jpeg.num_components;
}

bool has_all_scans(const jpeg_decompress_struct& jpeg) {
  for (int i = 0; i < jpeg.num_components; ++i) {
    if (jpeg.comp_info[i].quant_table == nullptr) return false;  // its first scan sets it
    if (jpeg.progressive_mode == FALSE) continue;
    const int* const missing_bits = jpeg.coef_bits[i];  // -1: all
    if (std::any_of(missing_bits, missing_bits + DCTSIZE2, [](int bits) { return bits != 0; }))
      return false;
  }
  return true;
}

std::uint64_t coefficient_bytes(const jpeg_decompress_struct& jpeg) {
  return has_several_scans(jpeg) ? all_coefficient_bytes(jpeg) : 0;
}

std::uint64_t all_coefficient_bytes(const jpeg_decompress_struct& jpeg) {
  std::uint64_t blocks = 0;
  for (int i = 0; i < jpeg.num_components; ++i) {
    const jpeg_component_info& component = jpeg.comp_info[i];
    blocks += rounded_up(component.width_in_blocks, component.h_samp_factor) *
              rounded_up(component.height_in_blocks, component.v_samp_factor);
  }
  return blocks * sizeof(JBLOCK);
}

ScanLimits::ScanLimits() : jpeg_progress_mgr{} {
  progress_monitor = check;
}

// libjpeg calls this before each row of blocks.
void ScanLimits::check(j_common_ptr common) {
  auto& limits = *static_cast<ScanLimits*>(common->progress);
  const auto& jpeg = *reinterpret_cast<j_decompress_ptr>(common);
  if (jpeg.input_scan_number == limits.scans_) return;
  limits.scans_ = jpeg.input_scan_number;
  for (int i = 0; i < jpeg.comps_in_scan; ++i) {
    const jpeg_component_info& component = *jpeg.cur_comp_info[i];
    limits.blocks_ += std::uint64_t{component.width_in_blocks} * component.height_in_blocks;
  }
  if (limits.scans_ <= max_scans && limits.blocks_ <= max_blocks) return;
  auto& errors = *static_cast<JpegErrors*>(jpeg.client_data);
  errors.call_back([&] {
    throw PictureError(
        errors.name(),
        limits.scans_ > max_scans
            ? formatted("damaged JPEG: more than {} scans", max_scans)
            : formatted("unsupported JPEG: {} scans are too many for its size: save it as a "
                        "baseline JPEG",
                        limits.scans_));
  });
}

}  // namespace gpufilter
