#include "support/png_in_memory.hpp"

namespace gpufilter::test {

ReadPng read_png(Bytes file, const ReadLimits& limits) {
  const auto reader = open_picture(memory_source(std::move(file), "in.png"), limits);
  ReadPng result;
  result.header = reader->header();
  result.image = poisoned_image(result.header.size, result.header.format);
  reader->read(result.image.rows());
  result.trailing = reader->finish();
  return result;
}

std::string refusal(Bytes file, const ReadLimits& limits) {
  return objection_to<PictureError>([&] { return read_png(std::move(file), limits); }, "");
}

Bytes encode_png(const Image& image, const PngSettings& settings) {
  PictureHeader header = header_of(image);
  header.metadata = settings.metadata;
  header.file_pixels = settings.file_pixels;
  Bytes file;
  const auto sink = memory_sink(file, "out.png");
  const auto writer = create_picture(png_codec(), *sink, header, settings.options);
  const int height = header.size.height;
  const int step = settings.rows_a_time == 0 ? height : settings.rows_a_time;
  for (int y = 0; y < height; y += step)
    writer->write(image.rows().part({y, std::min(y + step, height)}));
  writer->finish(settings.trailing);
  sink->commit();
  return file;
}

}  // namespace gpufilter::test
