// What a page shows of a picture before and after: previews, histograms, differences.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "codec/codec_table.hpp"
#include "compare/comparison.hpp"

namespace gpufilter::html {

// How much a page spends on each picture's previews.
struct PreviewLimits {
  int edge = 0;             // their longer side, in pixels
  std::uint64_t bytes = 0;  // of each file
};
// Such that the previews of a page of 1000 pictures take at most 22 MB.
[[nodiscard]] PreviewLimits preview_limits(std::size_t pictures);

// One of the two pictures. The preview is a file, see SurveyRequest.
struct SurveyedPicture {
  const Codec* file_format = nullptr;
  ImageSize size;
  PixelFormat format;
  FilePixels file_pixels;
  ImageSize preview;
  std::string histograms;  // as sketch_histograms() draws them
};

struct Survey {
  std::optional<SurveyedPicture> before;
  std::optional<SurveyedPicture> after;
  // The comparison of all pixels, without the similarity; nothing unless both have the same size,
  // format and orientation.
  std::optional<Comparison> comparison;
  bool has_difference = false;  // a preview of the differences exists
};

struct SurveyRequest {
  std::unique_ptr<ByteSource> before;  // nullptr: there is none
  std::unique_ptr<ByteSource> after;
  ReadLimits limits;
  Tolerance tolerance;
  PreviewLimits previews;
  // The previews are written to these files.
  std::string before_file;
  std::string after_file;
  std::string difference_file;  // only if the pictures can be compared and are not equal
  // What the page calls the pictures.
  std::string before_label;
  std::string after_label;
};

// Reads each picture once. Previews are as_shown(). Memory does not grow with them. Throws
// PreviewFailure if a preview cannot be written, PictureError if a picture cannot be read.
[[nodiscard]] Survey survey_pictures(SurveyRequest request);

}  // namespace gpufilter::html
