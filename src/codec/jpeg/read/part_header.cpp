#include "codec/jpeg/read/part_header.hpp"

#include <initializer_list>

#include "base/byte_cursor.hpp"

namespace gpufilter {
namespace {

constexpr int extended_sequential = 0xC1;
constexpr int progressive = 0xC2;
constexpr int scan_marker = 0xDA;
constexpr int restart_marker = 0xDD;

void put(std::vector<JOCTET>& to, std::initializer_list<int> bytes) {
  for (const int byte : bytes)
    to.push_back(static_cast<JOCTET>(byte));
}

void put_marker(std::vector<JOCTET>& to, int marker) {
  put(to, {0xFF, marker});
}

// Two numbers of four bits.
int pair_of(int high, int low) {
  return high << 4U | low;
}

// The sampling factors of a single component do not matter, but with factors of 1 a picture can
// have any number of its blocks.
void put_frame(std::vector<JOCTET>& to, int marker, const jpeg_decompress_struct& whole,
               int height) {
  const auto components = static_cast<unsigned>(whole.num_components);
  put_marker(to, marker);
  put_number(to, 8 + 3 * components, 2);
  to.push_back(8);  // bits a sample
  put_number(to, static_cast<unsigned>(height), 2);
  put_number(to, whole.image_width, 2);
  to.push_back(static_cast<JOCTET>(components));
  for (int i = 0; i < whole.num_components; ++i) {
    const jpeg_component_info& component = whole.comp_info[i];
    const auto sampling =
        components == 1 ? pair_of(1, 1) : pair_of(component.h_samp_factor, component.v_samp_factor);
    put(to, {i + 1, sampling, component.quant_tbl_no});
  }
}

void put_scan(std::vector<JOCTET>& to, const JpegScanHeader& scan) {
  put_marker(to, scan_marker);
  put_number(to, 6 + 2 * static_cast<unsigned>(scan.components.size()), 2);
  to.push_back(static_cast<JOCTET>(scan.components.size()));
  for (const JpegScanHeader::Component& component : scan.components) {
    put(to, {component.index + 1, pair_of(component.dc_table, component.ac_table)});
  }
  put(to, {scan.first_coefficient, scan.last_coefficient, pair_of(scan.high_bit, scan.low_bit)});
}

}  // namespace

bool holds_all_coefficients(const JpegScanHeader& scan) {
  return scan.first_coefficient == 0 && scan.last_coefficient == DCTSIZE2 - 1 &&
         scan.high_bit == 0 && scan.low_bit == 0;
}

JpegScanHeader current_scan(const jpeg_decompress_struct& jpeg) {
  JpegScanHeader scan;
  for (int i = 0; i < jpeg.comps_in_scan; ++i) {
    const jpeg_component_info& component = *jpeg.cur_comp_info[i];
    scan.components.push_back(
        {component.component_index, component.dc_tbl_no, component.ac_tbl_no});
  }
  scan.first_coefficient = jpeg.Ss;
  scan.last_coefficient = jpeg.Se;
  scan.high_bit = jpeg.Ah;
  scan.low_bit = jpeg.Al;
  return scan;
}

std::vector<JOCTET> part_header(const jpeg_decompress_struct& whole, int height,
                                std::span<const JOCTET> tables, const JpegScanHeader& scan) {
  std::vector<JOCTET> header;
  put_marker(header, 0xD8);
  put_frame(header, holds_all_coefficients(scan) ? extended_sequential : progressive, whole,
            height);
  header.insert(header.end(), tables.begin(), tables.end());
  put_scan(header, scan);
  return header;
}

std::vector<JOCTET> restart_segment(unsigned interval) {
  std::vector<JOCTET> segment;
  put_marker(segment, restart_marker);
  put_number(segment, 4, 2);
  put_number(segment, interval, 2);
  return segment;
}

}  // namespace gpufilter
