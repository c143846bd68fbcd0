#include "codec/jpeg/read/row_decoder.hpp"

#include <algorithm>
#include <cstddef>
#include <initializer_list>

#include "base/byte_cursor.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "codec/sample_conversion.hpp"

namespace gpufilter {
namespace {

std::uint64_t rounded_up(std::uint64_t value, int step) {
  const auto unit = static_cast<unsigned>(step);
  return (value + unit - 1) / unit * unit;
}

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

// Packs two 4-bit numbers.
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

// Zero bits: every DC coefficient stays as it is.
std::size_t no_corrections(std::span<JOCTET> buffer) {
  std::ranges::fill(buffer, JOCTET{0});
  return buffer.size();
}

// A scan of all components that adds the last bit to the DC coefficients.
JpegScanHeader dc_correction(const jpeg_decompress_struct& whole) {
  JpegScanHeader scan;
  for (int i = 0; i < whole.num_components; ++i)
    scan.components.push_back({i, 0, 0});
  scan.last_coefficient = 0;
  scan.high_bit = 1;
  return scan;
}

// Whether the scans that were read hold every coefficient of every component, so that no scan can
// be missing.
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

}  // namespace

bool has_several_scans(const jpeg_decompress_struct& jpeg) {
  return jpeg.progressive_mode != FALSE || jpeg.comps_in_scan < jpeg.num_components;
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

JpegRowDecoder::JpegRowDecoder(std::string name)
    : errors_(std::move(name)), input_(errors_), jpeg_(errors_) {}

void JpegRowDecoder::open(JpegInput::Read read, jpeg_progress_mgr& progress) {
  input_.open(std::move(read));
  errors_.run([&] {
    jpeg_.create();
    jpeg_.src = &input_;
    jpeg_.progress = &progress;
    keep_jpeg_segments(jpeg_);
    jpeg_read_header(&jpeg_, TRUE);
  });
  jpeg_.segments.close();
}

void JpegRowDecoder::open_part(const JpegRowDecoder& whole, JpegInput::Read read,
                               const JpegPlace& place, int height) {
  part_header_ = part_header(whole.jpeg_, height, restart_segment(whole.jpeg_.restart_interval),
                             current_scan(whole.jpeg_));
  input_.open(std::move(read), part_header_, place);
  read_part_header(whole);
}

void JpegRowDecoder::open_output(const JpegRowDecoder& whole, JpegCoefficients& coefficients) {
  errors_.expect_one_scan();
  part_header_ = part_header(whole.jpeg_, static_cast<int>(whole.jpeg_.image_height), {},
                             dc_correction(whole.jpeg_));
  input_.open(no_corrections, part_header_, {});
  read_part_header(whole);
  jpeg_.use(coefficients);
  jpeg_.buffered_image = TRUE;
  jpeg_.do_block_smoothing = FALSE;
}

void JpegRowDecoder::read_part_header(const JpegRowDecoder& whole) {
  errors_.run([&] {
    if (!created_) {
      jpeg_.create();
      jpeg_.src = &input_;
      keep_jpeg_segments(jpeg_);
      jpeg_.copy_tables(whole.jpeg_);
    }
    jpeg_read_header(&jpeg_, TRUE);
  });
  created_ = true;
  started_ = false;
  jpeg_.segments.close();
  jpeg_.jpeg_color_space = whole.jpeg_.jpeg_color_space;
  jpeg_.out_color_space = whole.jpeg_.out_color_space;
  ink_ = whole.ink_;
  cmyk_row_.resize(whole.cmyk_row_.size());
}

void JpegRowDecoder::read_row(std::uint8_t* row) {
  if (!std::exchange(started_, true)) {
    if (keeps_damaged_ && has_several_scans(jpeg_)) {
      start_tolerantly();
    } else {
      errors_.run([this] { start(); });
    }
  }
  require_brightness();
  const bool cmyk = jpeg_.out_color_space == JCS_CMYK;
  JSAMPROW destination = cmyk ? cmyk_row_.data() : row;
  errors_.run([&] { jpeg_read_scanlines(&jpeg_, &destination, 1); });
  if (!cmyk) return;
  if (ink_) return ink_->to_rgb(cmyk_row_.data(), row, jpeg_.output_width);
  cmyk_to_rgb(cmyk_row_.data(), row, static_cast<int>(jpeg_.output_width), jpeg_polarity);
}

// Calls libjpeg, so only within JpegErrors::run().
void JpegRowDecoder::start() {
  jpeg_start_decompress(&jpeg_);
  if (jpeg_.buffered_image != FALSE) jpeg_start_output(&jpeg_, 1);
}

// Reads all scans, as libjpeg otherwise does without being asked, and then makes rows of what has
// been read.
void JpegRowDecoder::start_tolerantly() {
  errors_.tolerate();
  jpeg_.buffered_image = TRUE;
  errors_.run([this] { jpeg_start_decompress(&jpeg_); });
  try {
    errors_.run([this] {
      do {
        jpeg_.progress->progress_monitor(reinterpret_cast<j_common_ptr>(&jpeg_));
      } while (jpeg_consume_input(&jpeg_) != JPEG_REACHED_EOI);
    });
  } catch (const PictureError&) {
    if (!errors_.damage() && !errors_.ended()) throw;  // a limit, not damage
    errors_.note_damage(reinterpret_cast<j_common_ptr>(&jpeg_));
    ++jpeg_.input_scan_number;  // so that libjpeg does not stop reading for the output of an
                                // earlier scan
  }
  errors_.run([this] { jpeg_start_output(&jpeg_, std::max(jpeg_.input_scan_number - 1, 1)); });
}

// The first scan has the brightness of all rows; without it they would be grey.
void JpegRowDecoder::require_brightness() {
  const auto& damage = errors_.damage();
  if (!damage || damage->scan > 1) return;
  const unsigned mcu_height =
      static_cast<unsigned>(jpeg_.max_v_samp_factor * DCTSIZE) / jpeg_.scale_denom;
  if (jpeg_.output_scanline >= damage->row * mcu_height) errors_.throw_failure();
}

void JpegRowDecoder::finish() {
  const bool complete = has_all_scans(jpeg_);  // libjpeg forgets it when it finishes
  if (keeps_damaged_ && has_several_scans(jpeg_)) {
    if (errors_.damage()) errors_.throw_failure();
  } else {
    errors_.run([this] { jpeg_finish_decompress(&jpeg_); });
  }
  if (errors_.ended() && !complete) errors_.throw_failure();
}

void JpegRowDecoder::choose_colors() {
  switch (jpeg_.jpeg_color_space) {
    case JCS_GRAYSCALE:
      jpeg_.out_color_space = JCS_GRAYSCALE;
      return;
    case JCS_RGB:
    case JCS_YCbCr:
      jpeg_.out_color_space = JCS_RGB;
      return;
    case JCS_CMYK:
    case JCS_YCCK:
      jpeg_.out_color_space = JCS_CMYK;
      cmyk_row_.resize(std::size_t{4} * jpeg_.image_width);
      return;
    default:
      throw PictureError(errors_.name(),
                         formatted("unsupported JPEG: {} colour components of unknown meaning",
                                   jpeg_.num_components));
  }
}

}  // namespace gpufilter
