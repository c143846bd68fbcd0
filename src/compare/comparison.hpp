// Compares two pictures sample by sample.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "codec/byte_source.hpp"
#include "codec/codec.hpp"
#include "codec/codec_table.hpp"
#include "compare/structural_similarity.hpp"
#include "image/rows.hpp"

namespace gpufilter {

enum class Verdict { equal, within_tolerance, different };

struct Tolerance {
  std::uint32_t steps = 0;  // the maximum difference of a sample
  double percent = 0;       // of a picture's pixels may differ by more
};

// Differences are absolute, in steps of a sample.
struct ChannelComparison {
  std::uint64_t differing = 0;  // samples that differ at all
  std::uint64_t beyond_tolerance = 0;
  std::uint32_t maximum = 0;
  std::uint64_t sum = 0;
  std::uint64_t sum_of_squares = 0;
};

// The samples of both pictures at one position, one for each channel.
struct DifferingPixel {
  int x = 0;
  int y = 0;
  std::array<std::uint32_t, 4> a{};
  std::array<std::uint32_t, 4> b{};
};

// All counts and sums are exact.
struct Comparison {
  ImageSize size;
  PixelFormat format;
  Tolerance tolerance;
  std::uint64_t differing_pixels = 0;         // with any sample that differs
  std::uint64_t pixels_beyond_tolerance = 0;  // with any sample that differs by more steps
  std::vector<ChannelComparison> channels;
  // Pixels come row by row, from the top left.
  std::optional<DifferingPixel> first;
  std::optional<DifferingPixel> first_beyond_tolerance;
  std::optional<DifferingPixel> worst;  // the first with a sample that differs by maximum()
  // The mean structural similarity; none if the picture is smaller than its window, or if it was
  // left out.
  std::optional<double> ssim;

  [[nodiscard]] Verdict verdict() const;
  [[nodiscard]] double percent_beyond_tolerance() const;
  [[nodiscard]] std::uint64_t samples() const { return size.pixels() * channels.size(); }
  [[nodiscard]] std::uint64_t differing_samples() const;
  [[nodiscard]] std::uint64_t samples_beyond_tolerance() const;
  [[nodiscard]] std::uint32_t maximum() const;
  // The mean difference over all pixels, including equal ones: in one channel, and in all samples.
  [[nodiscard]] double mean(std::size_t channel) const;
  [[nodiscard]] double mean() const;
  // The peak signal-to-noise ratio in decibels, 10 log10(max^2 / MSE): max is the largest sample of
  // the depth, 255 or 65535, MSE the mean of the squared differences of all samples, including
  // alpha. None if no sample differs, as it is infinite.
  [[nodiscard]] std::optional<double> psnr() const;
};

// Compares pictures of one size and format that arrive as rows, top to bottom.
class Comparer {
 public:
  // The structural similarity takes longer than everything else.
  enum class Similarity { computed, left_out };

  Comparer(ImageSize size, PixelFormat format, const Tolerance& tolerance,
           Similarity similarity = Similarity::computed);

  // Adds the same rows of both pictures. Throws std::overflow_error if a sum of squares does not
  // fit in 64 bits, which takes more than 2^32 pixels.
  void add(const ConstRows& a, const ConstRows& b);

  // The result for the rows so far.
  [[nodiscard]] const Comparison& result() const { return result_; }

 private:
  template <typename Sample, std::size_t channels>
  void add_row(const Sample* a, const Sample* b, int y);

  template <typename Sample>
  void note_pixel(const Sample* a, const Sample* b, int x, int y, std::uint32_t difference);

  Comparison result_;
  std::optional<StructuralSimilarity> similarity_;
  std::uint32_t worst_difference_ = 0;
};

// Reads two pictures of the same size and format to their ends in bands, so that neither is ever in
// memory as a whole. Draws their differences into `drawing` (of difference_format, completed but
// not committed) if there is one. Throws PictureError if a file is damaged or the drawing cannot be
// written.
[[nodiscard]] Comparison compare_pictures(RowReader& a, RowReader& b, const Tolerance& tolerance,
                                          RowWriter* drawing = nullptr);

struct FileComparisonRequest {
  std::string a;  // "-" is standard input
  std::string b;
  Tolerance tolerance;
  ReadLimits limits;
  // The file for the drawing of the differences; it has the extension of a lossless codec.
  std::optional<std::string> drawing;
  OpenSource open = open_source;
};

struct ComparedFile {
  std::string name;  // its name in messages
  const Codec* file_format = nullptr;
  ImageSize size;
  PixelFormat format;
};

struct FileComparison {
  ComparedFile a;
  ComparedFile b;
  // Nothing if size, channels or depth differ: then nothing was compared or drawn.
  std::optional<Comparison> comparison;
};

// Metadata is ignored. Memory does not grow with the pictures' height. Throws PictureError if a
// file cannot be read to its end, or the drawing cannot be written.
[[nodiscard]] FileComparison compare_files(const FileComparisonRequest& request);

struct FolderComparisonRequest {
  std::string a;
  std::string b;
  bool recursive = false;
  Tolerance tolerance;
  ReadLimits limits;
};

// The comparison of one name.
struct NameComparison {
  std::string name;  // relative to both folders
  bool in_a = false;
  bool in_b = false;
  std::optional<FileComparison> files;  // if both folders have it and both files can be read
  std::string failure;                  // why a file cannot be read: "PATH: REASON"
};

// Sees more of a comparison; either may be empty.
struct ComparisonWatch {
  // How many names there are, before the first is compared.
  std::function<void(std::size_t names)> begin = {};
  // Called for each name once it is compared, with its index from 0 on; by several threads at the
  // same time.
  std::function<void(std::size_t place, const NameComparison& name)> look = {};
};

// Compares every picture that either folder holds with the file of the same relative path in the
// other: "x.png" and "x.jpg" are two names. scan_folder() has the rules for files, links and hidden
// names. If one folder lies in the other, the scan of the outer one does not enter it.
//
// Calls `take` for each name in the order of their bytes, one at a time. As many pairs are compared
// at the same time as threads are allowed, with two bands each in memory. Throws PictureError if a
// folder itself cannot be read, and whatever `take` throws.
void compare_folders(const FolderComparisonRequest& request,
                     const std::function<void(const NameComparison&)>& take,
                     const ComparisonWatch& watch = {});

}  // namespace gpufilter
