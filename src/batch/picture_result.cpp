#include "batch/picture_result.hpp"

#include <array>

namespace gpufilter {

const char* to_string(PictureStatus status) {
  static constexpr std::array names{"done",   "unchanged", "exists",
                                    "failed", "not begun", "planned"};
  return names.at(static_cast<std::size_t>(status));
}

PictureResult result_of(const BatchItem& item, const RunReport& report) {
  PictureResult result;
  result.item = &item;
  result.status = PictureStatus::done;
  result.input_format = report.input_format;
  result.size = report.size;
  result.output_size = report.output_size;
  result.decoding_divisor = report.decoding_divisor;
  result.input_pixels = report.input_file_pixels;
  result.output_pixels = report.output_file_pixels;
  result.unread = report.unread;
  result.background = report.background;
  result.verified_blocks = report.verified_blocks;
  result.replaced = report.replaced;
  result.exif_orientation = report.exif_orientation;
  result.is_oriented = report.is_oriented;
  result.left_out = report.left_out;
  result.copied = report.copied;
  result.output_bytes = report.output_bytes;
  result.encoding = report.encoding;
  result.others = report.others;
  result.device = report.engine.device;
  result.duration = report.total;
  return result;
}

}  // namespace gpufilter
