#include "pipeline/run/picture_output.hpp"

#include <filesystem>
#include <span>
#include <vector>

#include "base/system_failure.hpp"
#include "codec/repeatable_source.hpp"
#include "image/exif.hpp"
#include "pipeline/execute/band_walk.hpp"
#include "pipeline/run/output_metadata.hpp"

namespace gpufilter {

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

}  // namespace gpufilter
