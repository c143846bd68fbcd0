// Data for a page on a picture before and after filtering: previews, histograms, differences.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/error.hpp"
#include "codec/codec_table.hpp"
#include "compare/comparison.hpp"
#include "html/page.hpp"
#include "image/image.hpp"

namespace gpufilter::html {

// The largest size in proportion to `size` whose sides are at most `edge` long; never larger than
// `size`.
[[nodiscard]] ImageSize size_within(ImageSize size, int edge);

// Collects a picture that arrives as rows, in 8 bits and without alpha: transparent parts show a
// grey checkerboard. Memory depends on `edge`, not on the picture.
class SmallPicture {
 public:
  // The result is size_within(picture.size, edge).
  SmallPicture(const PictureShape& picture, int edge);

  [[nodiscard]] ImageSize size() const { return size_; }

  // Every row once, from top to bottom.
  void add(const ConstRows& rows);

  // After the last row.
  [[nodiscard]] Image image() const;

 private:
  template <typename Sample, std::size_t channels>
  void add_row(const Sample* samples, int y);
  [[nodiscard]] Image means() const;

  PictureShape picture_;
  ImageSize size_;
  ImageSize areas_;                  // the picture is divided into these first
  std::vector<int> columns_;         // the first column of each area, and the end
  std::vector<int> rows_;            // how many rows the areas at each height have got
  std::vector<std::uint64_t> sums_;  // of each area's samples, by channel, row by row
};

// A preview cannot be written.
class PreviewFailure : public SystemFailure {
 public:
  using SystemFailure::SystemFailure;
};

// Writes `image`, 8-bit and without alpha, as a JPEG of at most `bytes` if that is possible: with a
// lower quality if need be, and then with fewer pixels. Throws PreviewFailure.
void write_preview(const Image& image, const std::string& path, std::uint64_t bytes);

// How much a page spends on each picture's previews.
struct PreviewLimits {
  int edge = 0;             // their longer side, in pixels
  std::uint64_t bytes = 0;  // of each file
};
// Limits by which the previews of a page of 1000 pictures take at most 22 MB.
[[nodiscard]] PreviewLimits preview_limits(std::size_t pictures);

struct Survey {
  std::optional<Side> before;
  std::optional<Side> after;
  // The comparison of all pixels, without the similarity; nothing unless both have the same size,
  // format and orientation.
  std::optional<Comparison> comparison;
  bool has_difference = false;  // a preview of the differences exists
};

struct SurveyRequest {
  struct Picture {
    std::unique_ptr<ByteSource> source;  // nullptr: there is none
    std::string label;                   // what the page calls it
    std::string preview;                 // the file that its preview is written to
    std::string address;                 // of that file in the page
  };
  Picture before;
  Picture after;
  ReadLimits limits;
  Tolerance tolerance;
  PreviewLimits previews;
  std::string difference_file;  // written only if the pictures can be compared and are not equal
};

// Reads each picture once. Previews are as_shown(). Memory does not grow with them. Throws
// PreviewFailure if a preview cannot be written, PictureError if a picture cannot be read.
[[nodiscard]] Survey survey_pictures(SurveyRequest request);

}  // namespace gpufilter::html
