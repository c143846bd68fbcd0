#include <utility>

#include <gpufilter/filter.hpp>

#include "api/call_options.hpp"
#include "api/filter_state.hpp"
#include "api/picture_state.hpp"
#include "api/views.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "codec/unread.hpp"
#include "image/exif.hpp"
#include "image/image.hpp"

namespace gpufilter {
namespace {

FilterResult result_of(const PictureShape& shape, const EngineReport& engine, Nanoseconds start) {
  return {.width = shape.size.width,
          .height = shape.size.height,
          .device = engine.device,
          .reason = engine.reason,
          .seconds = seconds_since(start),
          .channels = shape.format.channels,
          .depth = shape.format.depth};
}

// A copy where writing the output would change what is still to be read.
Image separated(const ConstRows& input, const ConstRows& output) {
  if (!overlap(input, output)) return {};
  Image copy(shape_of(input).size, input.format);
  copy_pixels(input, copy.rows());
  return copy;
}

// What the result of a chain carries over from `input`.
void carry_over(const PictureState& input, const MemoryFilter& filter, const IccProfile* profile,
                PictureState& result) {
  PictureHeader header = input.header;
  header.keeps_positions = header.keeps_positions && header.size == result.shape.size &&
                           filter.keeps_positions(header.size);
  header.size = result.shape.size;
  header.format = result.shape.format;
  result.header = std::move(header);
  result.trailing = input.trailing;
  if (profile != nullptr) set_profile(result.header.metadata, *profile);
  if (!filter.is_oriented()) return;
  add_late_metadata(result.header.metadata, std::move(result.trailing));
  result.trailing = {};
  set_orientation(result.header.metadata, 1);
}

}  // namespace

PictureFilter::PictureFilter(const std::vector<StageUse>& stages, const FilterSettings& settings) {
  enter_library();
  if (settings.limits.threads < 0) {
    throw UsageError(
        formatted("{} threads; choose 0 for all cores, or more", settings.limits.threads));
  }
  state_ = std::make_unique<State>(chain_of(stages, read_limits(settings.limits)), settings);
}

PictureFilter::PictureFilter(const std::vector<StageUse>& stages, const std::string& device)
    : PictureFilter(stages, FilterSettings{.device = device}) {}

PictureFilter::~PictureFilter() = default;
PictureFilter::PictureFilter(PictureFilter&&) noexcept = default;
PictureFilter& PictureFilter::operator=(PictureFilter&&) noexcept = default;

Shape PictureFilter::result_shape(const Shape& input) const {
  return public_shape(state_->memory().result_shape(checked_shape(input)));
}

Picture PictureFilter::run(const ConstView& input, const RunControl& control) const {
  std::unique_ptr<PictureState> result;
  static_cast<void>(state_->run(rows_of(input), nullptr, control, result));
  return PictureAccess::make(std::move(result));
}

Picture PictureFilter::run(const Picture& input, const RunControl& control) const {
  const PictureState* from = PictureAccess::state(input);
  if (from == nullptr) throw UsageError("a picture without pixels");
  std::unique_ptr<PictureState> result;
  Metadata metadata = from->header.metadata;
  if (metadata.exif.empty()) metadata.exif = from->trailing.exif;
  const MemoryResult run = state_->run(rows_of(input.view()), &metadata, control, result);
  carry_over(*from, state_->memory(), run.profile.get(), *result);
  return PictureAccess::make(std::move(result));
}

FilterResult PictureFilter::run(const ConstView& input, const View& output,
                                const RunControl& control) const {
  const Nanoseconds start = now();
  const ConstRows source = rows_of(input);
  const MutableRows target = rows_of(output);
  const Image copy = separated(source, target);
  const ConstRows from = copy.row_range().count() > 0 ? copy.rows() : source;
  MemoryCall call(state_->settings().limits, control);
  const auto target_of = [&](const PictureShape& shape) {
    if (shape_of(target) == shape) return target;
    throw UsageError(formatted("the result is {}; there is memory for {}", text_of(shape),
                               text_of(shape_of(target))));
  };
  const MemoryResult run = state_->memory().run(from, nullptr, target_of, call);
  return result_of(shape_of(target), run.report, start);
}

FilterResult PictureFilter::run(const std::string& input, const std::string& output,
                                const FormatOptions& options, const RunControl& control) const {
  const RunOptions run = run_options(options, state_->settings().limits, control);
  const Codec* format = output == "-" ? nullptr : &codec_for_output(output);
  FilterResult result;
  run_limited(state_->settings().limits, control, input, [&] {
    Dispatcher& dispatcher = state_->dispatcher();
    const RunReport report =
        filter_picture(input, output, format, state_->chain(), dispatcher, run);
    dispatcher.conclude();
    warn_of_unread(input, report.unread);
    result = result_of({report.output_size, report.output_pixel}, report.engine, report.start);
    result.output_bytes = report.output_bytes;
  });
  return result;
}

}  // namespace gpufilter
