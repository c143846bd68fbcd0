#include "batch/picture_result.hpp"

namespace gpufilter {

const char* to_string(PictureStatus status) {
  switch (status) {
    case PictureStatus::done:
      return "done";
    case PictureStatus::unchanged:
      return "unchanged";
    case PictureStatus::exists:
      return "exists";
    case PictureStatus::failed:
      return "failed";
    case PictureStatus::not_begun:
      return "not begun";
    case PictureStatus::planned:
      return "planned";
  }
  return "?";
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
  result.background = report.background;
  result.verified_blocks = report.verified_blocks;
  result.replaced = report.replaced;
  result.output_bytes = report.output_bytes;
  result.encoding = report.encoding;
  result.others = report.others;
  result.device = report.engine.device;
  result.duration = report.total;
  return result;
}

}  // namespace gpufilter
