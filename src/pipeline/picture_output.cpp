#include "pipeline/picture_output.hpp"

#include <filesystem>

#include "image/exif_size.hpp"
#include "pipeline/band_walk.hpp"
#include "pipeline/output_metadata.hpp"

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

PictureOutput::PictureOutput(OutputReport& report, PictureHeader header, const RunOptions& options,
                             const std::optional<StoredPart>& stored)
    : report_(report), is_stored_(stored) {
  if (report.kept) return;
  std::error_code unknown;
  report_.replaced =
      report_.output != "-" && std::filesystem::is_regular_file(report_.output, unknown);
  sink_ = options.open_output ? options.open_output(report_.output) : open_sink(report_.output);
  writer_ = create_writer(report_, *sink_, std::move(header), options.write, stored);
  report_.encoding = writer_->notes();
}

void PictureOutput::write(const ConstRows& rows, Timeline& timeline) {
  if (report_.kept || is_stored_) return;
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
  if (report_.kept) return;
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

}  // namespace gpufilter
