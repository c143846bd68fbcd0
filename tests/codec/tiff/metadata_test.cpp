// Metadata in TIFF files, and compressions.
#include <string>

#include <gtest/gtest.h>
#include <tiffio.h>

#include "codec/tiff/codec.hpp"
#include "image/exif.hpp"
#include "image/tiff.hpp"
#include "support/coding.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"
#include "support/texts.hpp"

namespace gpufilter::test {
namespace {

Image some_image() {
  return random_image({21, 13}, {3, 8}, 1);
}

Metadata through_tiff(const Metadata& metadata, const WriteOptions& options = {}) {
  return decode(encode(tiff_codec(), some_image(), options, metadata).file).header.metadata;
}

// Orientation 6 of a big-endian file.
Bytes turned() {
  return {'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0, 3, 0, 0, 0, 1, 0, 6, 0, 0, 0, 0, 0, 0};
}

// IFD0 has Artist "Ann" and the EXIF directory, which has ISO speed 200 and a maker note.
Bytes little_endian_exif() {
  return {'I',  'I',  42,  0,   8,   0,  0, 0, 2,   0,                        //
          0x3B, 0x01, 2,   0,   4,   0,  0, 0, 'A', 'n', 'n', 0,              //
          0x69, 0x87, 4,   0,   1,   0,  0, 0, 38,  0,   0,   0, 0, 0, 0, 0,  //
          2,    0,                                                            // at 38
          0x27, 0x88, 3,   0,   1,   0,  0, 0, 200, 0,   0,   0,              //
          0x7C, 0x92, 7,   0,   6,   0,  0, 0, 68,  0,   0,   0, 0, 0, 0, 0,  //
          'm',  'a',  'k', 'e', 'r', '!'};
}

TEST(TiffMetadata, OrientationIsATagOfTheFile) {
  Metadata metadata;
  metadata.exif = turned();
  EXPECT_EQ(exif_orientation(through_tiff(metadata).exif), 6);
  EXPECT_EQ(through_tiff(metadata).exif, turned());
}

TEST(TiffMetadata, ExifKeepsItsFieldsAndByteOrder) {
  Metadata metadata;
  metadata.exif = little_endian_exif();
  EXPECT_EQ(through_tiff(metadata).exif, little_endian_exif());
  WriteOptions strip;
  strip.set(strip_option(), "on");
  EXPECT_EQ(through_tiff(metadata, strip).exif, Bytes());
}

TEST(TiffMetadata, BlocksOfBytesAreKept) {
  Metadata metadata;
  metadata.xmp = {'<', 'x', '/', '>', '\n'};
  metadata.image_resources = {'8', 'B', 'I', 'M', 4, 4, 0, 0, 0, 0, 0, 2, 'h', 'i'};
  IccProfile& profile = metadata.icc_profile.emplace();
  profile.data.resize(131, 7);
  const std::string space = "RGB ";
  std::copy(space.begin(), space.end(), profile.data.begin() + 16);
  const Metadata kept = through_tiff(metadata);
  EXPECT_EQ(kept.xmp, metadata.xmp);
  EXPECT_EQ(kept.image_resources, metadata.image_resources);
  ASSERT_TRUE(kept.icc_profile);
  EXPECT_EQ(kept.icc_profile->data, profile.data);
}

TEST(TiffMetadata, DensitiesAreKept) {
  for (const std::uint32_t value : {2835U, 11811U, 1000U, 10001U, 3U}) {
    Metadata metadata;
    metadata.density = Density{Density::Unit::per_metre, value, value + 1};
    const auto kept = through_tiff(metadata).density;
    ASSERT_TRUE(kept);
    EXPECT_EQ(kept->unit, Density::Unit::per_metre);
    EXPECT_EQ(kept->x, value);
    EXPECT_EQ(kept->y, value + 1);
  }
  Metadata metadata;
  metadata.density = Density{Density::Unit::aspect_ratio, 3, 2};
  EXPECT_EQ(through_tiff(metadata).density->unit, Density::Unit::aspect_ratio);
  EXPECT_EQ(through_tiff(metadata).density->x, 3U);
}

TEST(TiffMetadata, TextBecomesTags) {
  Metadata metadata;
  metadata.text = {{"Author", "Ann", "", ""}, {"Disclaimer", "none", "", ""}};
  const Encoded encoded = encode(tiff_codec(), some_image(), {}, metadata);
  EXPECT_EQ(encoded.left_out, std::vector<std::string>{"text \"Disclaimer\""});
  const Bytes exif = decode(encoded.file).header.metadata.exif;
  const std::string text(exif.begin(), exif.end());
  EXPECT_TRUE(contains(text, "Ann"));
}

std::uint16_t compression_of(const Bytes& file) {
  const TemporaryFolder folder;
  const std::string path = folder / "a.tif";
  write_file(path, {file.begin(), file.end()});
  TIFF* tiff = TIFFOpen(path.c_str(), "r");
  std::uint16_t compression = 0;
  TIFFGetField(tiff, TIFFTAG_COMPRESSION, &compression);
  TIFFClose(tiff);
  return compression;
}

TEST(TiffWriter, CompressesAsAskedForOrAsTheInput) {
  const auto written = [](const std::string& name) {
    WriteOptions options;
    options.set(tiff_compression_option(), name);
    return encode(tiff_codec(), some_image(), options).file;
  };
  EXPECT_EQ(compression_of(written("auto")), COMPRESSION_ADOBE_DEFLATE);
  EXPECT_EQ(compression_of(written("none")), COMPRESSION_NONE);
  EXPECT_EQ(compression_of(written("lzw")), COMPRESSION_LZW);
  EXPECT_EQ(compression_of(written("deflate")), COMPRESSION_ADOBE_DEFLATE);
  for (const char* name : {"none", "lzw", "deflate"}) {
    const Bytes input = written(name);
    const auto reader = open_picture(memory_source(input, "in"));
    Bytes output;
    const auto sink = memory_sink(output, "out");
    const auto writer = create_picture(tiff_codec(), *sink, reader->header());
    const Image image = some_image();
    writer->write(image.rows());
    writer->finish({});
    EXPECT_EQ(compression_of(output), compression_of(input)) << name;
    EXPECT_TRUE(same_pixels(decode(output).image, image));
  }
}

}  // namespace
}  // namespace gpufilter::test
