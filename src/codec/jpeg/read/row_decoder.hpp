// The rows of a JPEG, or of a part of one, as libjpeg decodes them in the calling thread.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "codec/ink_conversion.hpp"
#include "codec/jpeg/library.hpp"
#include "codec/jpeg/read/decompressor.hpp"
#include "codec/jpeg/read/input.hpp"

namespace gpufilter {

// The polarity of all CMYK files: Adobe's programs began it, and others follow them without Adobe's
// marker.
inline constexpr CmykPolarity jpeg_polarity = CmykPolarity::inverted;

class JpegRowDecoder {
 public:
  // `name` is the picture's name in messages.
  explicit JpegRowDecoder(std::string name);

  // Reads the header of a file. Throws PictureError.
  void open(JpegInput::Read read, jpeg_progress_mgr& progress);

  // Chooses the format of the rows, grey or RGB, after the header was read. Throws PictureError.
  void choose_colors();
  // Instead of cmyk_to_rgb(), unless it is nullptr.
  void convert_by(std::shared_ptr<const InkConversion> ink) { ink_ = std::move(ink); }

  // Rows of several scans are made from what there is of them. A row fails for which there is no
  // brightness, and finish() does, if anything is missing.
  void keep_damaged() { keeps_damaged_ = true; }

  // Begins at a restart marker of the file that `whole` has opened; `read` yields the bytes from
  // `place` on. The part has `height` rows. May be called again for another part of the same file.
  // Throws PictureError.
  void open_part(const JpegRowDecoder& whole, JpegInput::Read read, const JpegPlace& place,
                 int height);

  // Makes rows from `coefficients` that others decode. Before a row is read, its row of MCUs and
  // the one below must be decoded; the rows of MCUs above are no longer needed. libjpeg insists on
  // decoding a scan in step with the output, so it is given one that changes nothing, one bit per
  // block. Throws PictureError.
  void open_output(const JpegRowDecoder& whole, JpegCoefficients& coefficients);

  // Decodes the next row. The first row of a file of several scans decodes all of them. Throws
  // PictureError.
  void read_row(std::uint8_t* row);

  // After the last row: reads to the end marker. Throws PictureError.
  void finish();

  // After finish(): whether the file ended before that marker.
  [[nodiscard]] bool lacks_end_marker() const { return errors_.ended(); }

  // Instead of finish(): ignores what follows the rows that were read.
  void abandon() { jpeg_abort_decompress(&jpeg_); }

  [[nodiscard]] Decompressor& jpeg() { return jpeg_; }
  [[nodiscard]] const Decompressor& jpeg() const { return jpeg_; }
  [[nodiscard]] const std::string& name() const { return errors_.name(); }
  [[nodiscard]] JpegErrors& errors() { return errors_; }
  [[nodiscard]] const JpegInput& input() const { return input_; }

 private:
  void read_part_header(const JpegRowDecoder& whole);
  void start();
  void start_tolerantly();
  void require_brightness();

  JpegErrors errors_;
  JpegInput input_;
  std::vector<JOCTET> part_header_;
  Decompressor jpeg_;
  bool created_ = false;
  bool started_ = false;
  bool keeps_damaged_ = false;
  std::shared_ptr<const InkConversion> ink_;
  std::vector<JSAMPLE> cmyk_row_;
};

}  // namespace gpufilter
