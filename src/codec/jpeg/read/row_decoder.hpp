// The rows of a JPEG, or of a part of one, as libjpeg decodes them in the calling thread; the
// headers of scans, also for decoders of parts of a file whose header another decoder has read; and
// limits on the cost of scans. For a file of several scans, libjpeg holds all coefficients in
// memory, and every scan passes over them again.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "codec/jpeg/library.hpp"
#include "codec/jpeg/read/decompressor.hpp"
#include "codec/read_limits.hpp"

namespace gpufilter {

// Whether libjpeg has to hold all coefficients: the file is progressive, or its first scan lacks
// some components. Call after the header was read.
[[nodiscard]] bool has_several_scans(const jpeg_decompress_struct& jpeg);

// Bytes of the coefficients that libjpeg will allocate; 0 if it decodes row by row. Call after the
// header was read.
[[nodiscard]] std::uint64_t coefficient_bytes(const jpeg_decompress_struct& jpeg);

// The bytes of all coefficients, whether or not libjpeg decodes row by row.
[[nodiscard]] std::uint64_t all_coefficient_bytes(const jpeg_decompress_struct& jpeg);

// Stops decoding if there are too many scans, or too many blocks of 8x8 samples in all scans
// together.
class ScanLimits : public jpeg_progress_mgr {
 public:
  ScanLimits();

  // Far more than encoders write (10 to 20).
  static constexpr int max_scans = 500;
  // The scans that libjpeg writes for 200 megapixels without chroma subsampling have a third of
  // these. A file of a few bytes that reaches it keeps a processor busy for about ten seconds.
  static constexpr std::uint64_t max_blocks = std::uint64_t{1} << 27U;

 private:
  static void check(j_common_ptr common);

  int scans_ = 0;
  std::uint64_t blocks_ = 0;
};

// The header of a scan.
struct JpegScanHeader {
  struct Component {
    int index = 0;  // in the order of the frame
    int dc_table = 0;
    int ac_table = 0;
  };
  std::vector<Component> components;
  int first_coefficient = 0;
  int last_coefficient = DCTSIZE2 - 1;
  int high_bit = 0;  // the lowest bit known before this scan; 0 if none is known
  int low_bit = 0;   // the lowest bit known after it
};

// True for every scan of a sequential file, and for no scan of a progressive one.
[[nodiscard]] bool holds_all_coefficients(const JpegScanHeader& scan);

// The header of the scan that the decompressor is at.
[[nodiscard]] JpegScanHeader current_scan(const jpeg_decompress_struct& jpeg);

// A frame like `whole`'s, but `height` rows high and progressive if the scan is, the segments
// `tables`, and the scan's header. Components are numbered in order. The tables of `whole` are not
// included: see Decompressor::copy_tables().
[[nodiscard]] std::vector<JOCTET> part_header(const jpeg_decompress_struct& whole, int height,
                                              std::span<const JOCTET> tables,
                                              const JpegScanHeader& scan);

// A segment that sets the number of MCUs between two restart markers.
[[nodiscard]] std::vector<JOCTET> restart_segment(unsigned interval);

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

  // Rows of several scans are made from the data that exist. Reading a row without luma fails, and
  // so does finish() if anything is missing.
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
