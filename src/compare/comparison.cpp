#include "compare/comparison.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <exception>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/numbers.hpp"
#include "base/threads.hpp"
#include "batch/folder_scan.hpp"
#include "codec/unread.hpp"
#include "compare/difference_picture.hpp"
#include "image/image.hpp"
#include "image/pixel_format.hpp"
#include "pipeline/execute/band_pipeline.hpp"

namespace gpufilter {
namespace {

// Size of a band of one picture: large enough for the codecs to work efficiently, small compared
// with a picture.
constexpr std::size_t band_bytes = std::size_t{1} << 22U;

std::uint32_t absolute_difference(std::uint32_t a, std::uint32_t b) {
  return a > b ? a - b : b - a;
}

template <typename Sample>
const Sample* samples_of(const ConstRows& rows, int y) {
  return reinterpret_cast<const Sample*>(rows.row(y));
}

// A window of `count` rows from row `y` of a picture, in the memory of `image`.
MutableRows window(Image& image, int y, int count) {
  return {image.rows().data, image.pitch(), {y, y + count}, image.width(), image.format()};
}

std::unique_ptr<RowReader> open(const FileComparisonRequest& request, const std::string& path,
                                ComparedFile& file) {
  std::unique_ptr<ByteSource> source = request.open(path);
  file.name = source->name();
  std::unique_ptr<RowReader> reader = open_picture(std::move(source), request.limits);
  file.file_format = reader->header().file_format;
  file.size = reader->header().size;
  file.format = reader->header().format;
  return reader;
}

Comparison compare_and_draw(RowReader& a, RowReader& b, const Tolerance& tolerance,
                            const std::string& drawing) {
  const std::unique_ptr<ByteSink> sink = open_sink(drawing);
  PictureHeader header;
  header.size = a.header().size;
  header.format = difference_format;
  const std::unique_ptr<RowWriter> writer =
      create_picture(codec_for_output(drawing), *sink, header);
  Comparison comparison = compare_pictures(a, b, tolerance, writer.get());
  sink->commit();
  return comparison;
}

std::string path_of(const std::string& folder, const std::string& name) {
  return std::filesystem::path(folder) / name;
}

// The pictures of `folder`, and the files and folders that cannot be read.
std::vector<FoundFile> pictures_in(const FolderComparisonRequest& request,
                                   const std::string& folder, const std::string& other) {
  FolderScan scan;
  scan.folder = folder;
  scan.recursive = request.recursive;
  scan.left_out = other;
  return scan_folder(scan).files;
}

// All names, in order. A name found by only one scan may still exist in the other folder, as a file
// that the scan ignores.
std::vector<NameComparison> names_of(const FolderComparisonRequest& request) {
  std::map<std::string, NameComparison> names;
  const auto add = [&](const std::string& folder, const std::string& other,
                       bool NameComparison::*here) {
    for (const FoundFile& file : pictures_in(request, folder, other)) {
      NameComparison& name = names[file.relative];
      name.name = file.relative;
      name.*here = true;
      if (!file.problem.empty() && name.failure.empty()) {
        name.failure = path_of(folder, file.relative) + ": " + file.problem;
      }
    }
  };
  add(request.a, request.b, &NameComparison::in_a);
  add(request.b, request.a, &NameComparison::in_b);
  std::vector<NameComparison> list;
  for (auto& [relative, name] : names) {
    name.in_a = name.in_a || exists(path_of(request.a, relative));
    name.in_b = name.in_b || exists(path_of(request.b, relative));
    list.push_back(std::move(name));
  }
  return list;
}

void compare_name(const FolderComparisonRequest& request, NameComparison& name) {
  if (!name.failure.empty() || !name.in_a || !name.in_b) return;
  const std::string a = path_of(request.a, name.name);
  try {
    name.files = compare_files(
        {a, path_of(request.b, name.name), request.tolerance, request.limits, std::nullopt});
  } catch (const PictureError& error) {
    name.failure = error.what();
  } catch (const std::bad_alloc&) {
    name.failure = a + ": not enough memory to compare it";
  } catch (const std::exception& error) {
    name.failure = a + ": " + error.what();
  }
}

}  // namespace

Verdict Comparison::verdict() const {
  if (differing_pixels == 0) return Verdict::equal;
  return percent_beyond_tolerance() <= tolerance.percent ? Verdict::within_tolerance
                                                         : Verdict::different;
}

// The quotient is rounded once, like the decimal number that it is compared with, so both are the
// same double if the share is exactly the allowed one.
double Comparison::percent_beyond_tolerance() const {
  return 100 * static_cast<double>(pixels_beyond_tolerance) / static_cast<double>(size.pixels());
}

std::uint64_t Comparison::differing_samples() const {
  return std::accumulate(channels.begin(), channels.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& c) { return sum + c.differing; });
}

std::uint64_t Comparison::samples_beyond_tolerance() const {
  return std::accumulate(channels.begin(), channels.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& c) { return sum + c.beyond_tolerance; });
}

std::uint32_t Comparison::maximum() const {
  std::uint32_t maximum = 0;
  for (const ChannelComparison& channel : channels)
    maximum = std::max(maximum, channel.maximum);
  return maximum;
}

double Comparison::mean(std::size_t channel) const {
  return static_cast<double>(channels.at(channel).sum) / static_cast<double>(size.pixels());
}

double Comparison::mean() const {
  double sum = 0;
  for (const ChannelComparison& channel : channels)
    sum += static_cast<double>(channel.sum);
  return sum / static_cast<double>(samples());
}

std::optional<double> Comparison::psnr() const {
  if (differing_pixels == 0) return std::nullopt;
  double squares = 0;
  for (const ChannelComparison& channel : channels) {
    squares += static_cast<double>(channel.sum_of_squares);
  }
  const double peak = format.max_sample();
  return 10 * std::log10(peak * peak * static_cast<double>(samples()) / squares);
}

Comparer::Comparer(ImageSize size, PixelFormat format, const Tolerance& tolerance,
                   Similarity similarity) {
  if (similarity == Similarity::computed) similarity_.emplace(size, format);
  result_.size = size;
  result_.format = format;
  result_.tolerance = tolerance;
  result_.channels.resize(static_cast<std::size_t>(format.channels));
}

void Comparer::add(const ConstRows& a, const ConstRows& b) {
  for (int y = a.rows.begin; y < a.rows.end; ++y) {
    if (std::memcmp(a.row(y), b.row(y), a.row_bytes()) == 0) continue;
    for_format(a.format, [&]<typename Sample, std::size_t channels>() {
      add_row<Sample, channels>(samples_of<Sample>(a, y), samples_of<Sample>(b, y), y);
    });
  }
  if (!similarity_) return;
  similarity_->add(a, b);
  result_.ssim = similarity_->mean();
}

template <typename Sample, std::size_t channels>
void Comparer::add_row(const Sample* a, const Sample* b, int y) {
  std::array<ChannelComparison, channels> row{};
  for (int x = 0; x < result_.size.width; ++x, a += channels, b += channels) {
    std::uint32_t largest = 0;
    for (std::size_t c = 0; c < channels; ++c) {
      const std::uint32_t difference = absolute_difference(a[c], b[c]);
      row[c].differing += difference != 0 ? 1 : 0;
      row[c].beyond_tolerance += difference > result_.tolerance.steps ? 1 : 0;
      row[c].maximum = std::max(row[c].maximum, difference);
      row[c].sum += difference;
      row[c].sum_of_squares += std::uint64_t{difference} * difference;
      largest = std::max(largest, difference);
    }
    if (largest > 0) note_pixel(a, b, x, y, largest);
  }
  for (std::size_t c = 0; c < channels; ++c) {
    ChannelComparison& total = result_.channels[c];
    total.differing += row[c].differing;
    total.beyond_tolerance += row[c].beyond_tolerance;
    total.maximum = std::max(total.maximum, row[c].maximum);
    total.sum += row[c].sum;
    total.sum_of_squares = checked_add(total.sum_of_squares, row[c].sum_of_squares);
  }
}

template <typename Sample>
void Comparer::note_pixel(const Sample* a, const Sample* b, int x, int y,
                          std::uint32_t difference) {
  const bool beyond = difference > result_.tolerance.steps;
  ++result_.differing_pixels;
  if (beyond) ++result_.pixels_beyond_tolerance;
  const auto name = [&](std::optional<DifferingPixel>& pixel) {
    pixel = DifferingPixel{x, y, {}, {}};
    std::copy_n(a, result_.channels.size(), pixel->a.begin());
    std::copy_n(b, result_.channels.size(), pixel->b.begin());
  };
  if (!result_.first) name(result_.first);
  if (beyond && !result_.first_beyond_tolerance) name(result_.first_beyond_tolerance);
  if (difference <= worst_difference_) return;
  worst_difference_ = difference;
  name(result_.worst);
}

Comparison compare_pictures(RowReader& a, RowReader& b, const Tolerance& tolerance,
                            RowWriter* drawing) {
  const ImageSize size = a.header().size;
  const PixelFormat format = a.header().format;
  const auto rows_that_fit = static_cast<int>(std::clamp<std::size_t>(
      band_bytes / row_pitch(size.width, format), 1, std::numeric_limits<int>::max()));
  const int height = std::min(rows_that_fit, size.height);
  Image band_a({size.width, height}, format);
  Image band_b({size.width, height}, format);
  Image band_drawing;
  if (drawing != nullptr) band_drawing = Image({size.width, height}, difference_format);

  Comparer comparer(size, format, tolerance);
  int count = 0;
  for (int y = 0; y < size.height; y += count) {
    count = std::min(height, size.height - y);
    const MutableRows rows_a = window(band_a, y, count);
    const MutableRows rows_b = window(band_b, y, count);
    a.read(rows_a);
    b.read(rows_b);
    comparer.add(rows_a, rows_b);
    if (drawing != nullptr) {
      const MutableRows rows_drawing = window(band_drawing, y, count);
      draw_difference(rows_a, rows_b, tolerance.steps, rows_drawing);
      drawing->write(rows_drawing);
    }
  }
  // The ends of the files may be damaged too, and nothing is equal to a damaged picture.
  (void)a.finish();
  (void)b.finish();
  if (drawing != nullptr) drawing->finish({});
  return comparer.result();
}

FileComparison compare_files(const FileComparisonRequest& request) {
  FileComparison files;
  const std::unique_ptr<RowReader> a = open(request, request.a, files.a);
  const std::unique_ptr<RowReader> b = open(request, request.b, files.b);
  if (files.a.size != files.b.size || files.a.format != files.b.format) return files;
  files.comparison = request.drawing ? compare_and_draw(*a, *b, request.tolerance, *request.drawing)
                                     : compare_pictures(*a, *b, request.tolerance);
  warn_of_unread(files.a.name, a->header().unread);
  warn_of_unread(files.b.name, b->header().unread);
  return files;
}

void compare_folders(const FolderComparisonRequest& request,
                     const std::function<void(const NameComparison&)>& take,
                     const ComparisonWatch& watch) {
  std::vector<NameComparison> names = names_of(request);
  if (watch.begin) watch.begin(names.size());
  std::size_t next = 0;
  run_band_pipeline<NameComparison>(
      allowed_threads(),
      [&]() -> NameComparison* { return next == names.size() ? nullptr : &names[next++]; },
      [&](NameComparison& name) {
        compare_name(request, name);
        if (watch.look) watch.look(static_cast<std::size_t>(&name - names.data()), name);
      },
      [&](NameComparison& name) {
        take(name);
        name = {};
      });
}

}  // namespace gpufilter
