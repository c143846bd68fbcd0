#include "html/survey.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <system_error>
#include <utility>
#include <vector>

#include <fcntl.h>

#include "base/files.hpp"
#include "chart/histogram_plot.hpp"
#include "codec/codec_table.hpp"
#include "compare/difference_picture.hpp"
#include "compute/picture_statistics.hpp"
#include "host/parallel.hpp"
#include "host/turn_rows.hpp"
#include "image/exif.hpp"
#include "image/image.hpp"
#include "image/metadata.hpp"
#include "image/pixel_format.hpp"
#include "pipeline/run/memory_picture.hpp"
#include "stages/colour/color_profile.hpp"
#include "stages/resize/resize.hpp"

namespace gpufilter::html {
namespace {

// Two greys for transparent parts, in squares of this many areas.
constexpr std::array<std::uint32_t, 2> checkers{204, 153};
constexpr int checker_areas = 16;

// The areas are at most this many times as fine as the result, to which --resize then reduces them,
// so that its cost does not grow with the picture.
constexpr int fineness = 2;

int scaled(int side, int from, int to) {
  return std::max(1, static_cast<int>((2 * std::int64_t{side} * to + from) / (2 * from)));
}

Image resized(const Image& image, ImageSize size) {
  if (image.size() == size) {
    Image same(size, image.format());
    std::copy_n(image.rows().data, image.bytes(), same.rows().data);
    return same;
  }
  Timeline unused;
  const StageChain chain{
      make_resize({.width = size.width, .height = size.height, .fit = ResizeFit::fill})};
  return lab::filter_in_memory(image, chain, {},
                               [&](const Plan& plan) { return make_host_executor(plan, &unused); });
}

std::vector<std::uint8_t> encoded(const Image& image, int quality) {
  const Codec* const jpeg = &codec_for_output("preview.jpg");
  WriteOptions options;
  for (const WriteOption* option : jpeg->options) {
    if (option->name == "quality") options.set(*option, std::to_string(quality));
    if (option->name == "subsampling") options.set(*option, quality >= 80 ? "444" : "420");
  }
  PictureHeader header;
  header.size = image.size();
  header.format = image.format();
  std::vector<std::uint8_t> bytes;
  const auto sink = memory_sink(bytes, "preview");
  const auto writer = create_picture(*jpeg, *sink, header, options);
  writer->write(image.rows());
  writer->finish({});
  sink->commit();
  return bytes;
}

std::vector<std::uint8_t> encoded_within(const Image& image, std::uint64_t limit) {
  std::vector<std::uint8_t> bytes;
  for (const int quality : {88, 76, 62, 48, 34}) {
    bytes = encoded(image, quality);
    if (bytes.size() <= limit) return bytes;
  }
  const ImageSize size = image.size();
  if (std::max(size.width, size.height) < 32) return bytes;
  return encoded_within(
      resized(image, {std::max(1, size.width * 3 / 4), std::max(1, size.height * 3 / 4)}), limit);
}

// The mean as an 8-bit sample.
std::uint32_t to_8_bits(std::uint64_t sum, std::uint64_t weight, std::uint32_t max_sample) {
  const std::uint64_t whole = weight * max_sample;
  return static_cast<std::uint32_t>((2 * sum * 255 + whole) / (2 * whole));
}

Image in_srgb(Image image, const Metadata& metadata) {
  try {
    Timeline unused;
    const PictureContext picture{.shape = {image.size(), image.format()},
                                 .metadata = std::make_shared<Metadata>(metadata)};
    return lab::filter_in_memory(
        image, lower_chain({make_to_srgb({})}, picture), {},
        [&](const Plan& plan) { return make_host_executor(plan, &unused); });
  } catch (const UnusableProfile&) {
    return image;
  }
}

// The pixels of a picture with this metadata, 8-bit and without alpha: upright and in sRGB, which
// pages show. Colours of a profile that cannot be used stay.
Image as_shown(Image image, const Metadata& metadata) {
  return turned(in_srgb(std::move(image), metadata),
                turn_for_orientation(stored_orientation(metadata).value_or(1)));
}

// Rows of one picture that are read at a time: enough for the codecs to work efficiently.
constexpr std::size_t band_bytes = std::size_t{1} << 22U;

using Task = std::function<void()>;

void run_all(const std::vector<Task>& tasks) {
  run_parts(static_cast<int>(tasks.size()),
            [&](int part) { tasks[static_cast<std::size_t>(part)](); });
}

// Reads a picture in bands and gathers what is shown of it alone.
class Reading {
 public:
  Reading(std::unique_ptr<ByteSource> source, const SurveyRequest& request)
      : reader_(open_picture(std::move(source), request.limits)),
        small_({header().size, header().format}, request.previews.edge),
        histograms_(
            std::get<Histograms>(no_statistics(header().format, Quantity::channel_histograms))) {
    const auto fitting = static_cast<int>(
        std::clamp<std::size_t>(band_bytes / row_pitch(header().size.width, header().format), 1,
                                std::numeric_limits<int>::max()));
    band_ = Image({header().size.width, std::min(fitting, header().size.height)}, header().format);
  }

  [[nodiscard]] const PictureHeader& header() const { return reader_->header(); }
  [[nodiscard]] bool is_at_end() const { return next_ == header().size.height; }
  [[nodiscard]] const SmallPicture& small() const { return small_; }

  // Decodes the next band, of the same rows for all pictures of one size and format.
  void read() {
    const int end = std::min(next_ + band_.size().height, header().size.height);
    rows_ = {band_.rows().data, band_.pitch(), {next_, end}, band_.width(), band_.format()};
    reader_->read(rows_);
    next_ = end;
    if (!is_at_end()) return;
    metadata_ = header().metadata;
    add_late_metadata(metadata_, reader_->finish());
  }
  [[nodiscard]] ConstRows rows() const { return rows_; }

  // The work on the last band; its parts can run at the same time.
  void add_tasks(std::vector<Task>& tasks) {
    tasks.emplace_back([this] { small_.add(rows_); });
    tasks.emplace_back([this] { add_histograms(histograms_, rows_); });
  }

  // The next two after the last band.
  [[nodiscard]] int orientation() const { return stored_orientation(metadata_).value_or(1); }
  [[nodiscard]] Side result(const SurveyRequest::Picture& request, std::uint64_t bytes) const {
    const Image preview = as_shown(small_.image(), metadata_);
    write_preview(preview, request.preview, bytes);
    return {request.label, request.address, preview.size(),
            lab::sketch_histograms(histograms_, header().format, "Histogram: " + request.label)};
  }

 private:
  std::unique_ptr<RowReader> reader_;
  SmallPicture small_;
  Histograms histograms_;
  Image band_;
  MutableRows rows_;
  int next_ = 0;
  Metadata metadata_;  // of the whole file, once it is read
};

void read_alone(Reading& picture) {
  while (!picture.is_at_end()) {
    picture.read();
    std::vector<Task> tasks;
    picture.add_tasks(tasks);
    run_all(tasks);
  }
}

bool are_comparable(const Reading& a, const Reading& b) {
  return a.header().size == b.header().size && a.header().format == b.header().format;
}

void read_together(Reading& before, Reading& after, const SurveyRequest& request, Survey& survey) {
  const PictureHeader& header = before.header();
  Comparer comparer(header.size, header.format, request.tolerance, Comparer::Similarity::left_out);
  DifferenceMap map({header.size, header.format}, before.small().size(), request.tolerance.steps);
  while (!before.is_at_end()) {
    run_all({[&] { before.read(); }, [&] { after.read(); }});
    std::vector<Task> tasks{[&] { comparer.add(before.rows(), after.rows()); },
                            [&] { map.add(before.rows(), after.rows()); }};
    before.add_tasks(tasks);
    after.add_tasks(tasks);
    run_all(tasks);
  }
  if (before.orientation() != after.orientation()) return;  // a pixel is not where the other is
  survey.comparison = comparer.result();
  if (survey.comparison->differing_pixels == 0) return;
  write_preview(turned(map.image(), turn_for_orientation(before.orientation())),
                request.difference_file, request.previews.bytes);
  survey.has_difference = true;
}

}  // namespace

ImageSize size_within(ImageSize size, int edge) {
  const int longer = std::max(size.width, size.height);
  if (longer <= edge) return size;
  return {scaled(size.width, longer, edge), scaled(size.height, longer, edge)};
}

SmallPicture::SmallPicture(const PictureShape& picture, int edge)
    : picture_(picture),
      size_(size_within(picture.size, edge)),
      areas_{std::min(picture.size.width, fineness * size_.width),
             std::min(picture.size.height, fineness * size_.height)},
      rows_(static_cast<std::size_t>(areas_.height)),
      sums_(areas_.pixels() * static_cast<std::size_t>(picture.format.channels)) {
  for (int area = 0; area <= areas_.width; ++area) {
    columns_.push_back(static_cast<int>(std::int64_t{area} * picture.size.width / areas_.width));
  }
}

void SmallPicture::add(const ConstRows& rows) {
  for_format(rows.format, [&]<typename Sample, std::size_t channels>() {
    for (int y = rows.rows.begin; y < rows.rows.end; ++y)
      add_row<Sample, channels>(reinterpret_cast<const Sample*>(rows.row(y)), y);
  });
}

// Colours are weighted by alpha, so that transparent pixels do not show.
template <typename Sample, std::size_t channels>
void SmallPicture::add_row(const Sample* samples, int y) {
  constexpr bool has_alpha = channels % 2 == 0;
  constexpr std::size_t colors = channels - (has_alpha ? 1 : 0);
  const auto row = static_cast<std::size_t>(std::int64_t{y} * areas_.height / picture_.size.height);
  ++rows_[row];
  std::uint64_t* sums = &sums_[row * static_cast<std::size_t>(areas_.width) * channels];
  for (std::size_t area = 0; area + 1 < columns_.size(); ++area, sums += channels) {
    std::array<std::uint64_t, channels> own{};
    for (int x = columns_[area]; x < columns_[area + 1]; ++x, samples += channels) {
      const std::uint64_t alpha = has_alpha ? samples[channels - 1] : 1;
      for (std::size_t c = 0; c < colors; ++c)
        own[c] += alpha * samples[c];
      if constexpr (has_alpha) own[colors] += alpha;
    }
    for (std::size_t c = 0; c < channels; ++c)
      sums[c] += own[c];
  }
}

Image SmallPicture::means() const {
  const PixelFormat& format = picture_.format;
  const auto channels = static_cast<std::size_t>(format.channels);
  const auto colors = static_cast<std::size_t>(format.color_channels());
  const std::uint64_t max = format.max_sample();
  Image image(areas_, {static_cast<int>(colors), 8});
  for (int y = 0; y < areas_.height; ++y) {
    std::uint8_t* out = image.rows().row(y);
    for (int x = 0; x < areas_.width; ++x) {
      const auto area = static_cast<std::size_t>(std::int64_t{y} * areas_.width + x);
      const std::uint64_t* sums = &sums_[area * channels];
      const auto column = static_cast<std::size_t>(x);
      const auto pixels = static_cast<std::uint64_t>(columns_[column + 1] - columns_[column]) *
                          static_cast<std::uint64_t>(rows_[static_cast<std::size_t>(y)]);
      const auto checker = checkers.at(((x / checker_areas) + (y / checker_areas)) % 2);
      for (std::size_t c = 0; c < colors; ++c) {
        std::uint64_t value = to_8_bits(sums[c], pixels, format.max_sample());
        if (format.has_alpha()) {
          const std::uint64_t opaque = pixels * max * max;  // sums[c] of a white pixel that hides
          const std::uint64_t hidden = sums[colors] * max;
          value = (2 * (255 * sums[c] + checker * (opaque - hidden)) + opaque) / (2 * opaque);
        }
        *out++ = static_cast<std::uint8_t>(value);
      }
    }
  }
  return image;
}

Image SmallPicture::image() const {
  return resized(means(), size_);
}

void write_preview(const Image& image, const std::string& path, std::uint64_t bytes) {
  const std::vector<std::uint8_t> jpeg = encoded_within(image, bytes);
  with_failures_of<PreviewFailure>(path, [&] {
    // Pages name previews only once all are complete, so they need not be written in one step.
    FileDescriptor file = open_file(path, O_WRONLY | O_CREAT | O_TRUNC, 0666);
    write_fully(file.get(), jpeg);
    file.close();
  });
}

PreviewLimits preview_limits(std::size_t pictures) {
  struct Step {
    std::size_t pictures;
    int edge;
  };
  constexpr std::array<Step, 5> steps{{{1, 1280}, {12, 960}, {60, 720}, {300, 480}, {1000, 320}}};
  constexpr std::uint64_t bytes_of_page = 22'000'000;
  constexpr std::uint64_t enough = 500'000;
  constexpr std::uint64_t previews = 3;  // of a picture
  const std::size_t counted = std::clamp<std::size_t>(pictures, 1, steps.back().pictures);
  const auto step = std::find_if(steps.begin(), steps.end(),
                                 [&](const Step& s) { return counted <= s.pictures; });
  return {step->edge, std::min(enough, bytes_of_page / (previews * counted))};
}

Survey survey_pictures(SurveyRequest request) {
  std::optional<Reading> before;
  std::optional<Reading> after;
  if (request.before.source) before.emplace(std::move(request.before.source), request);
  if (request.after.source) after.emplace(std::move(request.after.source), request);
  Survey survey;
  if (before && after && are_comparable(*before, *after)) {
    read_together(*before, *after, request, survey);
  } else {
    if (before) read_alone(*before);
    if (after) read_alone(*after);
  }
  if (before) survey.before = before->result(request.before, request.previews.bytes);
  if (after) survey.after = after->result(request.after, request.previews.bytes);
  return survey;
}

}  // namespace gpufilter::html
