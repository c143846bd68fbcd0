#include "compare/file_comparison.hpp"

#include <memory>
#include <utility>

#include "codec/unread.hpp"
#include "compare/difference_picture.hpp"

namespace gpufilter {
namespace {

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

}  // namespace

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

}  // namespace gpufilter
