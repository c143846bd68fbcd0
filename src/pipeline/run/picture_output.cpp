#include "pipeline/run/picture_output.hpp"

#include <algorithm>
#include <filesystem>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/lazy_library.hpp"
#include "base/log.hpp"
#include "codec/byte_source.hpp"
#include "image/exif.hpp"
#include "image/image.hpp"
#include "pipeline/run/chain_part.hpp"
#include "pipeline/run/run_description.hpp"
#include "stages/colour/color_profile.hpp"

namespace gpufilter {

namespace {

// The placement of the result of these stages. Returns the first stage that does more than move
// pixels, if there is one.
const LoweredStage* find_placement(const LoweredChain& chain, Placement& placement) {
  for (const LoweredStage& stage : chain) {
    if (!stage.placement) return &stage;
    placement = placement.then(*stage.placement);
  }
  return nullptr;
}

// Colours that no profile can be made for stay as they are, and the writer names them.
void describe_colors(Metadata& metadata, const PixelFormat& format, ColorTags tags) {
  if (tags == ColorTags::none || tags == ColorTags::numbers) return;
  try {
    const auto profile = profile_of_named_colors(metadata, format);
    if (!profile) return;
    if (metadata.coding_points && tags == ColorTags::points) {
      metadata.icc_profile.reset();  // code points count, and readers would prefer it
    } else {
      set_profile(metadata, *profile);
    }
  } catch (const UnusableProfile&) {
  } catch (const RefusedColors&) {
  } catch (const LibraryNotLoaded&) {
  }
}

}  // namespace

void adapt_metadata(Metadata& metadata, const PictureShape& picture, const Codec& codec) {
  set_exif_size(metadata, picture.size);
  describe_colors(metadata, picture.format, codec.color_tags);
}

namespace {

// A writer to `sink` for the output that `report` describes; from `stored`, if it is given. Throws
// PictureError.
std::unique_ptr<RowWriter> create_writer(const OutputReport& report, ByteSink& sink,
                                         PictureHeader header, const WriteOptions& options,
                                         const std::optional<StoredPart>& stored) {
  header.set_shape({report.output_size, report.output_pixel});
  adapt_metadata(header.metadata, header.shape(), *report.output_format);
  return stored ? stored->picture->create(sink, header, options, stored->placement)
                : create_picture(*report.output_format, sink, header, options);
}

}  // namespace

std::optional<EncodingNotes> expected_encoding(const OutputReport& report,
                                               const PictureHeader& header,
                                               const WriteOptions& options,
                                               const std::optional<StoredPart>& stored) {
  if (report.copied && !stored) return std::nullopt;
  std::vector<std::uint8_t> unused;
  const auto sink = memory_sink(unused, report.output);
  auto notes = create_writer(report, *sink, header, options, stored)->notes();
  if (report.copied) notes->text = "copied unchanged";
  return notes;
}

PictureOutput::PictureOutput(OutputReport& report, PictureHeader header, const RunOptions& options,
                             const std::optional<StoredPart>& stored)
    : report_(report), is_stored_(stored) {
  if (report.kept) return;
  report_.replaced = report_.output != "-" && is_regular_file(report_.output);
  sink_ = options.open_output ? options.open_output(report_.output) : open_sink(report_.output);
  if (report_.copied) {
    report_.encoding = expected_encoding(report_, header, options.write, stored);
    return;
  }
  writer_ = create_writer(report_, *sink_, std::move(header), options.write, stored);
  report_.encoding = writer_->notes();
}

void PictureOutput::copy(ByteSource& file) {
  constexpr std::size_t step = std::size_t{1} << 20U;
  if (report_.kept) return;
  std::vector<std::uint8_t> piece(step);
  for (std::size_t got = step; got == step;) {
    got = file.read(piece);
    sink_->write(std::span(piece).first(got));
  }
}

void PictureOutput::write(const ConstRows& rows, Timeline& timeline) {
  if (report_.kept || report_.copied || is_stored_) return;
  const ScopedSpan span(timeline, band_span(Activity::encode, rows));
  writer_->write(rows);
}

void PictureOutput::write_coded(const CodedRows& rows, Timeline& timeline) {
  const ScopedSpan span(timeline, {.activity = Activity::encode,
                                   .bytes = rows.bytes.size(),
                                   .first_row = rows.rows.begin,
                                   .rows = rows.rows.count()});
  writer_->write_coded(rows);
}

void PictureOutput::finish(const Metadata& trailing) {
  if (report_.kept || report_.copied) return;
  Metadata adapted = trailing;
  set_exif_size(adapted, report_.output_size);
  writer_->finish(adapted);
  report_.left_out = writer_->left_out();
  report_.encoding = writer_->notes();  // --max-bytes chooses the quality at the end
  if (const auto& pixels = writer_->file_pixels()) report_.output_file_pixels = *pixels;
}

void PictureOutput::commit() {
  if (report_.kept) return;
  sink_->commit();
  report_.output_bytes = sink_->bytes_written();
}

void PictureOutput::set_time(std::filesystem::file_time_type time) const {
  if (report_.kept || is_stream(report_.output)) return;
  std::error_code error;
  std::filesystem::last_write_time(report_.output, time, error);
  if (error) throw SystemFailure(report_.output, error.value());
}

RunOutputs::RunOutputs(RunReport& report, PictureInput& input, const LoweredTree& chains,
                       const std::vector<ChainOutput>& outputs, const RunOptions& options)
    : report_(report),
      input_(input),
      chains_(chains),
      places_(outputs),
      options_(options),
      mode_(*options.write.get<std::string>(lossless_option())) {
  for (const ChainOutput& output : outputs)
    ways_.push_back(way_to(output));
  if (any_stored() && !are_without_rows() && !input_.is_repeatable())
    encode_all("it is read from a stream, and another output has to be decoded");
  note_unread();
}

RunOutputs::Way RunOutputs::way_to(const ChainOutput& output) {
  if (output.keep) return {.kept = true};
  const Codec& format = *output.format;
  Way way{.may_be_copied = mode_ != "never" && may_copy_to(format)};
  const LoweredChain part = chains_.to(output);
  // The reader has converted ink and the like; a stage for colours means the file's.
  const PictureHeader& header = input_.header();
  if (last_profile(part) && header.file_pixels.color != file_pixels(header.format).color)
    way.may_be_copied = false;
  way.copied = way.may_be_copied && change_nothing(part, input_.shape());
  if (mode_ == "never" || !format.has_stored_pictures) return way;
  std::string objection;
  Placement placement{{}, header.size, {}};
  if (header.file_format != &format) {
    objection = formatted("its format is {}", header.file_format->name);
  } else if (const LoweredStage* stage = find_placement(part, placement)) {
    objection = formatted("--{} computes pixels", stage->title.name);
  } else {
    objection = input_.stored_picture()->objection(placement, options_.write);
    if (objection.empty()) way.placement = placement;
    if (objection.empty() || way.copied) return way;
    log::info(formatted("{}: decoded, because {}", input_.name(), objection));
  }
  if (mode_ == "always" && !way.copied) refuse(objection);
  return way;
}

// False if an option requests other bytes.
bool RunOutputs::may_copy_to(const Codec& format) const {
  const PictureHeader& header = input_.header();
  return header.file_format == &format && input_.is_repeatable() &&
         options_.limits.damaged == Damaged::fail &&
         !(options_.first_page && !header.unread.empty()) &&
         std::ranges::none_of(format.options, [&](const WriteOption* option) {
           return option != &lossless_option() && options_.write.is_given(*option);
         });
}

void RunOutputs::refuse(const std::string& objection) const {
  throw PictureError(input_.name(), formatted("--lossless always: {}; with --lossless auto, it is "
                                              "decoded and encoded again",
                                              objection));
}

void RunOutputs::encode_all(const std::string& objection) {
  if (mode_ == "always") refuse(objection);
  log::info(formatted("{}: decoded, because {}", input_.name(), objection));
  for (Way& way : ways_)
    way.placement.reset();
}

std::vector<bool> RunOutputs::without_rows() const {
  std::vector<bool> all;
  for (const Way& way : ways_)
    all.push_back(way.kept || way.copied || way.placement);
  return all;
}

bool RunOutputs::are_copies() const {
  return std::ranges::all_of(ways_, [](const Way& way) { return way.kept || way.copied; });
}

bool RunOutputs::copy_last() {
  return ways_.back().copied = ways_.back().may_be_copied;
}

bool RunOutputs::are_without_rows() const {
  return std::ranges::all_of(without_rows(), [](bool is_without) { return is_without; });
}

bool RunOutputs::any_stored() const {
  return std::ranges::any_of(ways_, [](const Way& way) { return way.placement.has_value(); });
}

void RunOutputs::load() {
  if (!any_stored() && !are_copies()) return;
  Span span{.activity = Activity::read_stored, .start = now()};
  any_stored() ? load_stored() : read_all();
  span.duration = now() - span.start;
  report_.spans.push_back(span);
}

void RunOutputs::load_stored() {
  reader_ = input_.open();
  const std::string objection = reader_->stored_picture()->load();
  if (objection.empty()) return;
  if (!input_.is_repeatable()) refuse(objection);
  encode_all(objection);
  reader_.reset();
  input_.warn_again();
}

// For copies, whose pixels nobody wants.
void RunOutputs::read_all() {
  constexpr std::size_t step_bytes = std::size_t{256} << 10U;
  reader_ = input_.open();
  const auto& [size, format] = input_.shape();
  const int step =
      std::clamp(static_cast<int>(step_bytes / row_pitch(size.width, format)), 1, size.height);
  for (int y = 0; y < size.height; y += step) {
    Image rows(size.width, {y, std::min(y + step, size.height)}, format);
    reader_->read(rows.rows());
  }
}

std::optional<StoredPart> RunOutputs::stored_part(std::size_t output) const {
  const auto& placement = ways_.at(output).placement;
  if (!placement) return std::nullopt;
  StoredPicture* picture = reader_ ? reader_->stored_picture() : input_.stored_picture();
  return StoredPart{picture, *placement};
}

void RunOutputs::describe() {
  for (std::size_t i = 0; i < ways_.size(); ++i) {
    OutputReport& output = report_.on_output(i);
    if (ways_[i].placement || ways_[i].copied)
      output.output_file_pixels = report_.input_file_pixels;
    if (!ways_[i].copied) continue;
    output.copied = true;
    std::error_code ignored;
    output.kept = std::filesystem::equivalent(report_.input, output.output, ignored);
    if (output.kept) output.output_bytes = bytes_of_file(output.output);
  }
}

std::string RunOutputs::account() const {
  if (are_copies()) return "nothing to change";
  for (const Way& way : ways_) {
    if (way.placement && !way.copied)
      return formatted("{} without decoding", way.placement->verb(input_.header().size));
  }
  return "";
}

PictureOutput& RunOutputs::open() {
  if (files_.empty()) {
    for (const ChainOutput& place : places_)
      input_.prepare_metadata(*place.format);
  }
  const std::size_t next = files_.size();
  OutputReport& report = report_.on_output(next);
  PictureHeader header = input_.header();
  header.metadata = input_.leading_metadata(report.is_oriented);
  const LoweredChain part = chains_.to(places_[next]);
  if (const auto profile = last_profile(part)) set_profile(header.metadata, *profile);
  header.keeps_positions =
      report.output_size == header.size && keeps_positions(part, header.shape());
  return files_.emplace_back(report, std::move(header), options_, stored_part(next));
}

void RunOutputs::finish(Timeline& timeline, const Span& kind) {
  const ScopedSpan span(timeline, kind);
  note_orientation();
  for (PictureOutput& file : files_)
    file.finish(input_.trailing_metadata());
  if (reader_) input_.finish(*reader_);
  note_unread();
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (ways_[i].copied) files_[i].copy(*input_.open_bytes());
    files_[i].commit();
    if (options_.keep_time && input_.modified()) files_[i].set_time(*input_.modified());
  }
}

// A copy has all of it.
void RunOutputs::note_unread() const {
  if (options_.refuse_unread) refuse_unread(input_);
  report_.unread = are_copies() ? std::vector<std::string>() : input_.header().unread;
}

void RunOutputs::note_orientation() const {
  report_.exif_orientation = input_.orientation();
  if (report_.exif_orientation == 1 || report_.is_oriented) return;
  log::info(formatted("{}: EXIF orientation {}: carried over, the pixels stay as stored",
                      report_.input, report_.exif_orientation));
}

}  // namespace gpufilter
