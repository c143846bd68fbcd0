#include "html/survey.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "chart/histogram_plot.hpp"
#include "compare/difference_picture.hpp"
#include "compute/picture_statistics.hpp"
#include "host/parallel.hpp"
#include "host/turn_rows.hpp"
#include "html/small_picture.hpp"
#include "image/exif.hpp"
#include "image/image.hpp"
#include "image/metadata.hpp"
#include "pipeline/run/memory_picture.hpp"
#include "stages/colour/color_profile.hpp"

namespace gpufilter::html {
namespace {

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
  [[nodiscard]] SurveyedPicture result(const std::string& label, const std::string& preview_file,
                                       std::uint64_t preview_bytes) const {
    const PictureHeader& read = header();
    const Image preview = as_shown(small_.image(), metadata_);
    write_preview(preview, preview_file, preview_bytes);
    return {
        read.file_format, read.size,
        read.format,      read.file_pixels,
        preview.size(),   lab::sketch_histograms(histograms_, read.format, "Histogram: " + label)};
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
  if (request.before) before.emplace(std::move(request.before), request);
  if (request.after) after.emplace(std::move(request.after), request);
  Survey survey;
  if (before && after && are_comparable(*before, *after)) {
    read_together(*before, *after, request, survey);
  } else {
    if (before) read_alone(*before);
    if (after) read_alone(*after);
  }
  if (before) {
    survey.before =
        before->result(request.before_label, request.before_file, request.previews.bytes);
  }
  if (after) {
    survey.after = after->result(request.after_label, request.after_file, request.previews.bytes);
  }
  return survey;
}

}  // namespace gpufilter::html
