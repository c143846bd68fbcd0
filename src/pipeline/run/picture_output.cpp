#include "pipeline/run/picture_output.hpp"

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
#include "pipeline/run/chain_part.hpp"
#include "pipeline/run/run_description.hpp"
#include "stages/colour/color_profile.hpp"

namespace gpufilter {
namespace {

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

std::unique_ptr<RowWriter> create_writer(const OutputReport& report, ByteSink& sink,
                                         PictureHeader header, const WriteOptions& options,
                                         const std::optional<StoredPart>& stored) {
  header.size = report.output_size;
  header.format = report.output_pixel;
  adapt_metadata(header.metadata, {header.size, header.format}, *report.output_format);
  return stored ? stored->picture->create(sink, header, options, stored->placement)
                : create_picture(*report.output_format, sink, header, options);
}

std::optional<EncodingNotes> notes_on_copy(const OutputReport& report, const PictureHeader& header,
                                           const WriteOptions& options,
                                           const std::optional<StoredPart>& stored) {
  if (!stored) return std::nullopt;
  std::vector<std::uint8_t> unused;
  const auto sink = memory_sink(unused, report.output);
  auto notes = create_writer(report, *sink, header, options, stored)->notes();
  notes->text = "copied unchanged";
  return notes;
}

PictureOutput::PictureOutput(OutputReport& report, PictureHeader header, const RunOptions& options,
                             const std::optional<StoredPart>& stored)
    : report_(report), is_stored_(stored) {
  if (report.kept) return;
  std::error_code unknown;
  report_.replaced =
      report_.output != "-" && std::filesystem::is_regular_file(report_.output, unknown);
  sink_ = options.open_output ? options.open_output(report_.output) : open_sink(report_.output);
  if (report_.copied) {
    report_.encoding = notes_on_copy(report_, header, options.write, stored);
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

RunOutputs::RunOutputs(RunReport& report, PictureInput& input, const LoweredChain& chain,
                       const std::vector<ChainOutput>& outputs, const Codec& last_format,
                       const RunOptions& options)
    : report_(report),
      input_(input),
      chain_(chain),
      places_(outputs),
      options_(options),
      stored_(input, chain, outputs, last_format, options) {
  note_unread();
  if (!stored_.are_any() && !stored_.are_copies()) return;
  Span span{.activity = Activity::read_stored, .start = now()};
  stored_.load();
  span.duration = now() - span.start;
  report_.spans.push_back(span);
}

PictureOutput& RunOutputs::open(OutputReport& report) {
  if (files_.empty()) {
    input_.prepare_metadata(*report_.output_format);
    for (const OutputReport& other : report_.others)
      input_.prepare_metadata(*other.output_format);
  }
  PictureHeader header = input_.header();
  header.metadata = input_.leading_metadata(report.is_oriented);
  const std::size_t stages =
      files_.size() == places_.size() ? chain_.size() : places_[files_.size()].stages;
  const LoweredChain part = part_of(chain_, 0, stages);
  if (const auto profile = last_profile(part)) set_profile(header.metadata, *profile);
  header.keeps_positions =
      report.output_size == header.size && keeps_positions(part, {header.size, header.format});
  return files_.emplace_back(report, std::move(header), options_, stored_.part(files_.size()));
}

void RunOutputs::finish(Timeline& timeline, const Span& kind) {
  const ScopedSpan span(timeline, kind);
  note_orientation();
  for (PictureOutput& file : files_)
    file.finish(input_.trailing_metadata());
  stored_.finish();
  note_unread();
  for (std::size_t i = 0; i < files_.size(); ++i) {
    if (stored_.is_copy(i)) files_[i].copy(*input_.open_bytes());
    files_[i].commit();
    if (options_.keep_time && input_.modified()) files_[i].set_time(*input_.modified());
  }
}

// A copy has all of it.
void RunOutputs::note_unread() const {
  if (options_.refuse_unread) refuse_unread(input_);
  report_.unread = stored_.are_copies() ? std::vector<std::string>() : input_.header().unread;
}

void RunOutputs::note_orientation() const {
  report_.exif_orientation = input_.orientation();
  if (report_.exif_orientation == 1 || report_.is_oriented) return;
  log::info(formatted("{}: EXIF orientation {}: carried over, the pixels stay as stored",
                      report_.input, report_.exif_orientation));
}

}  // namespace gpufilter
