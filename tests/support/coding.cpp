#include "support/coding.hpp"

namespace gpufilter::test {
namespace {

// Calls `step` with the rows from top to bottom.
template <typename Rows, typename Step>
void in_steps(const Rows& rows, int rows_a_time, Step step) {
  for (int y = 0; y < rows.rows.end; y += std::min(rows_a_time, rows.rows.end - y))
    step(rows.part({y, std::min(y + rows_a_time, rows.rows.end)}));
}

}  // namespace

Encoded encode(const Codec& codec, const Image& image, const WriteOptions& options,
               const Metadata& metadata, int rows_a_time) {
  Encoded result;
  const auto sink = memory_sink(result.file, "out");
  PictureHeader header = header_of(image);
  header.metadata = metadata;
  const auto writer = create_picture(codec, *sink, header, options);
  in_steps(image.rows(), rows_a_time, [&](const ConstRows& rows) { writer->write(rows); });
  writer->finish({});
  sink->commit();
  result.left_out = writer->left_out();
  return result;
}

Bytes rewritten(const Codec& codec, const Bytes& input, const Image& image,
                const WriteOptions& options) {
  const auto reader = open_picture(memory_source(input, "in"));
  Bytes output;
  const auto sink = memory_sink(output, "out");
  const auto writer = create_picture(codec, *sink, reader->header(), options);
  writer->write(image.rows());
  writer->finish({});
  return output;
}

Decoded decode(const Bytes& file, const ReadLimits& limits, int rows_a_time) {
  const auto reader = open_picture(memory_source(file, "in"), limits);
  Decoded result{reader->header(), poisoned_image(reader->header().size, reader->header().format)};
  in_steps(result.image.rows(), rows_a_time, [&](const MutableRows& rows) { reader->read(rows); });
  static_cast<void>(reader->finish());
  return result;
}

Metadata metadata_of_every_kind(std::uint8_t orientation) {
  Metadata metadata;
  metadata.exif = {'M', 'M', 0, 42, 0, 0, 0,           8, 0, 1, 0x01, 0x12, 0,
                   3,   0,   0, 0,  1, 0, orientation, 0, 0, 0, 0,    0,    0};
  metadata.xmp = {'<', 'x', '/', '>'};
  metadata.image_resources = {'8', 'B', 'I', 'M'};
  metadata.density = Density{Density::Unit::per_metre, 2835, 2835};
  IccProfile& profile = metadata.icc_profile.emplace();
  profile.data.resize(131, 7);
  const std::string space = "RGB ";
  std::copy(space.begin(), space.end(), profile.data.begin() + 16);
  return metadata;
}

std::string why_refused(const Bytes& file, const ReadLimits& limits) {
  return objection_to<PictureError>([&] { return decode(file, limits); }, "");
}

}  // namespace gpufilter::test
