// What became of one picture of a folder.
#pragma once

#include <optional>
#include <string>

#include "batch/batch_plan.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter {

enum class PictureStatus {
  done,
  unchanged,  // already complete from an earlier run
  exists,     // the output existed and was kept
  failed,
  not_begun,  // the run stopped before it
  planned     // would be filtered without dry_run
};
[[nodiscard]] const char* to_string(PictureStatus status);

struct PictureResult {
  const BatchItem* item = nullptr;
  PictureStatus status = PictureStatus::not_begun;
  std::string failure;        // "PATH: reason"
  bool out_of_space = false;  // it failed because the disk is full, and the run ends
  int job = 0;                // the number of the job that did it, from 0
  // Only if status is done:
  const Codec* input_format = nullptr;
  ImageSize size;            // of the input
  ImageSize output_size;     // of the result
  int decoding_divisor = 1;  // as in RunReport
  FilePixels input_pixels;
  FilePixels output_pixels;
  std::vector<std::string> unread;     // as in RunReport
  std::optional<Color> background;     // as in RunReport
  std::optional<int> verified_blocks;  // the same
  bool replaced = false;               // the output was a file that existed before
  int exif_orientation = 1;            // as in RunReport
  bool is_oriented = false;            // the same
  std::vector<std::string> left_out;   // the same
  bool copied = false;                 // as in OutputReport
  std::uint64_t output_bytes = 0;
  std::optional<EncodingNotes> encoding;  // how the result was written
  std::vector<OutputReport> others;       // as in RunReport
  std::string device;
  Nanoseconds duration = 0;
};

// That of a picture that is done.
[[nodiscard]] PictureResult result_of(const BatchItem& item, const RunReport& report);

}  // namespace gpufilter
