#include "codec/jpeg/row_decoder.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "codec/sample_conversion.hpp"

namespace gpufilter {
namespace {

constexpr int extended_sequential = 0xC1;
constexpr int scan = 0xDA;
constexpr int restart_interval = 0xDD;

void put_marker(std::vector<JOCTET>& to, int marker) {
  to.insert(to.end(), {0xFF, static_cast<JOCTET>(marker)});
}

void put_number(std::vector<JOCTET>& to, unsigned number) {
  to.insert(to.end(), {static_cast<JOCTET>(number >> 8U), static_cast<JOCTET>(number & 0xFFU)});
}

// Two numbers of four bits.
JOCTET pair_of(int high, int low) {
  return static_cast<JOCTET>(high << 4U | low);
}

// The header of a file with fewer rows, whose tables are known already. Components are numbered in
// their order. Of a single one the sampling factors do not matter, but those of 1 let a picture
// have any number of its blocks.
std::vector<JOCTET> part_header(const jpeg_decompress_struct& whole, int height) {
  const auto components = static_cast<unsigned>(whole.num_components);
  std::vector<JOCTET> header;
  put_marker(header, 0xD8);
  put_marker(header, extended_sequential);
  put_number(header, 8 + 3 * components);
  header.push_back(8);  // bits a sample
  put_number(header, static_cast<unsigned>(height));
  put_number(header, whole.image_width);
  header.push_back(static_cast<JOCTET>(components));
  for (int i = 0; i < whole.num_components; ++i) {
    const jpeg_component_info& component = whole.comp_info[i];
    const auto sampling =
        components == 1 ? pair_of(1, 1) : pair_of(component.h_samp_factor, component.v_samp_factor);
    header.insert(header.end(), {static_cast<JOCTET>(i + 1), sampling,
                                 static_cast<JOCTET>(component.quant_tbl_no)});
  }
  put_marker(header, restart_interval);
  put_number(header, 4);
  put_number(header, whole.restart_interval);
  put_marker(header, scan);
  put_number(header, 6 + 2 * components);
  header.push_back(static_cast<JOCTET>(components));
  for (int i = 0; i < whole.comps_in_scan; ++i) {
    const jpeg_component_info& component = *whole.cur_comp_info[i];
    header.insert(header.end(), {static_cast<JOCTET>(component.component_index + 1),
                                 pair_of(component.dc_tbl_no, component.ac_tbl_no)});
  }
  header.insert(header.end(), {0, 63, 0});
  return header;
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
  part_header_ = part_header(whole.jpeg_, height);
  input_.open(std::move(read), part_header_, place);
  errors_.run([&] {
    if (!created_) {
      jpeg_.create();
      jpeg_.src = &input_;
      keep_jpeg_segments(jpeg_);
      copy_tables(whole.jpeg_);
    }
    jpeg_read_header(&jpeg_, TRUE);
  });
  created_ = true;
  started_ = false;
  jpeg_.segments.close();
  jpeg_.jpeg_color_space = whole.jpeg_.jpeg_color_space;
  jpeg_.out_color_space = whole.jpeg_.out_color_space;
  inverted_ink_ = whole.inverted_ink_;
  cmyk_row_.resize(whole.cmyk_row_.size());
}

void JpegRowDecoder::read_row(std::uint8_t* row) {
  if (!std::exchange(started_, true)) errors_.run([this] { jpeg_start_decompress(&jpeg_); });
  const bool cmyk = jpeg_.out_color_space == JCS_CMYK;
  JSAMPROW destination = cmyk ? cmyk_row_.data() : row;
  errors_.run([&] { jpeg_read_scanlines(&jpeg_, &destination, 1); });
  if (!cmyk) return;
  cmyk_to_rgb(cmyk_row_.data(), row, static_cast<int>(jpeg_.image_width),
              inverted_ink_ ? CmykPolarity::inverted : CmykPolarity::ink);
}

void JpegRowDecoder::finish() {
  errors_.run([this] { jpeg_finish_decompress(&jpeg_); });
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
      // Adobe's programs store ink inverted, and theirs is the marker that says so.
      inverted_ink_ = jpeg_.saw_Adobe_marker != FALSE;
      return;
    default:
      throw PictureError(errors_.name(),
                         formatted("unsupported JPEG: {} colour components of unknown meaning",
                                   jpeg_.num_components));
  }
}

// Calls libjpeg, so only within JpegErrors::run().
void JpegRowDecoder::copy_tables(const Decompressor& whole) {
  auto* const common = reinterpret_cast<j_common_ptr>(&jpeg_);
  for (int i = 0; i < NUM_QUANT_TBLS; ++i) {
    if (whole.quant_tbl_ptrs[i] == nullptr) continue;
    jpeg_.quant_tbl_ptrs[i] = jpeg_alloc_quant_table(common);
    *jpeg_.quant_tbl_ptrs[i] = *whole.quant_tbl_ptrs[i];
  }
  const auto copy = [common](JHUFF_TBL* const* from, JHUFF_TBL** to) {
    for (int i = 0; i < NUM_HUFF_TBLS; ++i) {
      if (from[i] == nullptr) continue;
      to[i] = jpeg_alloc_huff_table(common);
      *to[i] = *from[i];
    }
  };
  copy(whole.dc_huff_tbl_ptrs, jpeg_.dc_huff_tbl_ptrs);
  copy(whole.ac_huff_tbl_ptrs, jpeg_.ac_huff_tbl_ptrs);
}

}  // namespace gpufilter
