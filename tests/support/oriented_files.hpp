// Picture files with an orientation.
#pragma once

#include "codec/byte_sink.hpp"
#include "codec/codec_table.hpp"
#include "image/exif.hpp"
#include "support/naive_stages.hpp"

namespace gpufilter::test {

// EXIF and XMP that say so.
inline Bytes exif_of_orientation(int orientation) {
  return {'M', 'M',  0, 42, 0, 0, 0, 8, 0, 1,
          1,   0x12, 0, 3,  0, 0, 0, 1, 0, static_cast<std::uint8_t>(orientation),
          0,   0,    0, 0,  0, 0};
}
inline Bytes xmp_of_orientation(int orientation) {
  const std::string text =
      "<x:xmpmeta xmlns:x=\"adobe:ns:meta/\"><rdf:RDF "
      "xmlns:rdf=\"http://www.w3.org/1999/02/22-rdf-syntax-ns#\"><rdf:Description "
      "xmlns:tiff=\"http://ns.adobe.com/tiff/1.0/\" tiff:Orientation=\"" +
      std::to_string(orientation) + "\"/></rdf:RDF></x:xmpmeta>";
  return {text.begin(), text.end()};
}

// Writes a file of `stored`, without loss where its format can.
inline void write_oriented(const Image& stored, const std::string& path, int orientation,
                           const std::optional<IccProfile>& profile = std::nullopt) {
  PictureHeader header;
  header.size = stored.size();
  header.format = stored.format();
  header.metadata.exif = exif_of_orientation(orientation);
  header.metadata.xmp = xmp_of_orientation(orientation);
  header.metadata.icc_profile = profile;
  WriteOptions options;
  for (const WriteOption* option : all_write_options()) {
    if (option->name == "lossless" && !path.ends_with(".jpg")) options.set(*option, "always");
  }
  const auto sink = open_sink(path);
  const auto writer = create_picture(codec_for_output(path), *sink, header, options);
  writer->write(stored.rows());
  writer->finish({});
  sink->commit();
}

// What is shown as `upright` if it has this orientation.
inline Image stored_as(const Image& upright, int orientation) {
  const int back = orientation == 6 ? 8 : orientation == 8 ? 6 : orientation;
  return naive_turn(upright, turn_for_orientation(back));
}

// The metadata of a file, before its pixels and behind them.
inline Metadata metadata_of(const std::string& path) {
  const auto reader = open_picture(open_source(path));
  Metadata metadata = reader->header().metadata;
  Image image(reader->header().size, reader->header().format);
  reader->read(image.rows());
  add_late_metadata(metadata, reader->finish());
  return metadata;
}

}  // namespace gpufilter::test
