#include <utility>

#include <gpufilter/filter.hpp>

#include "api/call_options.hpp"
#include "api/filter_state.hpp"
#include "api/library_words.hpp"
#include "api/picture_state.hpp"
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

// The metadata of a picture that stages may use.
Metadata metadata_of(const PictureState& picture) {
  Metadata metadata = picture.header.metadata;
  if (metadata.exif.empty()) metadata.exif = picture.trailing.exif;
  return metadata;
}

// Copies the metadata that the result of a chain carries over from `input`.
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
  refuse_nul({settings.device, settings.orientation});
  if (settings.limits.threads < 0) {
    throw UsageError(
        formatted("{} threads; choose 0 for all cores, or more", settings.limits.threads));
  }
  state_ = std::make_unique<State>(chain_of(stages, read_limits(settings.limits)), settings);
}

PictureFilter::~PictureFilter() = default;
PictureFilter::PictureFilter(PictureFilter&&) noexcept = default;
PictureFilter& PictureFilter::operator=(PictureFilter&&) noexcept = default;

Shape PictureFilter::result_shape(const Shape& input) const {
  return state_->result_shape(checked_shape(input), {});
}

Shape PictureFilter::result_shape(const Picture& input) const {
  const PictureState& from = existing(input);
  return state_->result_shape(from.shape, metadata_of(from));
}

Picture PictureFilter::run(const ConstView& input, const RunControl& control) const {
  std::unique_ptr<PictureState> result;
  static_cast<void>(state_->run(rows_of(input), nullptr, control, result));
  return PictureAccess::make(std::move(result));
}

Picture PictureFilter::run(const Picture& input, const RunControl& control) const {
  const PictureState& from = existing(input);
  std::unique_ptr<PictureState> result;
  const Metadata metadata = metadata_of(from);
  const MemoryResult run = state_->run(rows_of(input.view()), &metadata, control, result);
  carry_over(from, state_->memory(), run.profile.get(), *result);
  return PictureAccess::make(std::move(result));
}

FilterResult PictureFilter::run(const ConstView& input, const View& output,
                                const RunControl& control) const {
  const Nanoseconds start = now();
  const MutableRows target = rows_of(output);
  const MemoryResult run = state_->run_into(rows_of(input), nullptr, target, control);
  return result_of(shape_of(target), run.report, start);
}

FilterResult PictureFilter::run(const Picture& input, const View& output,
                                const RunControl& control) const {
  const Nanoseconds start = now();
  const Metadata metadata = metadata_of(existing(input));
  const MutableRows target = rows_of(output);
  const MemoryResult run = state_->run_into(rows_of(input.view()), &metadata, target, control);
  return result_of(shape_of(target), run.report, start);
}

FilterResult PictureFilter::run(const Picture& input, Picture& output,
                                const RunControl& control) const {
  const Nanoseconds start = now();
  const PictureState& from = existing(input);
  PictureState& result = existing(output);
  const Metadata metadata = metadata_of(from);
  const MemoryResult run =
      state_->run_into(rows_of(input.view()), &metadata, result.rows(), control);
  carry_over(from, state_->memory(), run.profile.get(), result);
  return result_of(result.shape, run.report, start);
}

FilterResult PictureFilter::run(const PathName& input, const PathName& output,
                                const FormatOptions& options, const RunControl& control) const {
  return state_->run_file({input}, {output}, options, control);
}

FilterResult PictureFilter::run(std::span<const std::uint8_t> input,
                                std::vector<std::uint8_t>& output, std::string_view format,
                                const FormatOptions& options, const RunControl& control) const {
  return state_->run_file({picture_in_memory, input}, {formatted("picture.{}", format), &output},
                          options, control);
}

FilterResult PictureFilter::run(std::span<const std::uint8_t> input, const PathName& output,
                                const FormatOptions& options, const RunControl& control) const {
  return state_->run_file({picture_in_memory, input}, {output}, options, control);
}

FilterResult PictureFilter::run(const PathName& input, std::vector<std::uint8_t>& output,
                                std::string_view format, const FormatOptions& options,
                                const RunControl& control) const {
  return state_->run_file({input}, {formatted("picture.{}", format), &output}, options, control);
}

FilterResult PictureFilter::State::run_file(const FileInput& input, const FileOutput& output,
                                            const FormatOptions& options,
                                            const RunControl& control) {
  refuse_nul({input.name, output.name});
  RunOptions run = run_options(options, settings_.limits, control);
  if (input.bytes) {
    run.open_input = [&](const std::string& name) {
      return memory_source({input.bytes->begin(), input.bytes->end()}, name);
    };
  }
  std::vector<std::uint8_t> written;
  if (output.bytes != nullptr) {
    run.open_output = [&](const std::string&) { return memory_sink(written, picture_in_memory); };
  }
  FilterResult result;
  run_limited(settings_.limits, control, input.name, [&] {
    const ChainOutput file{output.name,
                           output.name == "-" ? nullptr : &codec_for_output(output.name)};
    const RunReport report = filter_picture(input.name, file, chain_, dispatcher(), run);
    dispatcher().conclude();
    warn_of_unread(input.name, report.unread);
    result = result_of({report.output_size, report.output_pixel}, report.engine, report.start);
    result.output_bytes = report.output_bytes;
  });
  if (output.bytes != nullptr) *output.bytes = std::move(written);
  return result;
}

}  // namespace gpufilter
