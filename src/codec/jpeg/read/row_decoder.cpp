#include "codec/jpeg/read/row_decoder.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "codec/jpeg/read/scans.hpp"
#include "codec/sample_conversion.hpp"

namespace gpufilter {
namespace {

// Zero bits: every DC coefficient stays as it is.
std::size_t no_corrections(std::span<JOCTET> buffer) {
  std::fill(buffer.begin(), buffer.end(), JOCTET{0});
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

}  // namespace

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
    ++jpeg_.input_scan_number;  // libjpeg reads no further for the output of a scan before it
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
