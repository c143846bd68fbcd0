// Metadata in TIFF files, and compressions.
#include "codec/tiff/metadata.hpp"

#include <tiffio.h>
#include <zlib.h>

#include "codec/formats.hpp"
#include "image/exif.hpp"
#include "image/tiff.hpp"
#include "support/tiff_recipe.hpp"

namespace gpufilter::test {
namespace {

using Names = std::vector<std::string>;

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
    const Image image = some_image();
    const Bytes output = rewritten(tiff_codec(), input, image);
    EXPECT_EQ(compression_of(output), compression_of(input)) << name;
    EXPECT_TRUE(same_pixels(decode(output).image, image));
  }
}

// Tags of TIFF files that the program does not know.

TiffContent content_of(const Bytes& file) {
  return read_tiff_content(Tiff(ByteSpan(file)));
}

TiffField text_field(std::uint16_t tag, const std::string& text) {
  TiffField field{tag, 2, static_cast<std::uint32_t>(text.size() + 1), {text.begin(), text.end()}};
  field.value.push_back(0);
  return field;
}

// A file with these tags as well.
Bytes with_fields(Bytes file, const TiffFields& fields) {
  const TiffContent before = content_of(file);
  EXPECT_EQ(before.order, ByteOrder::little);
  if (file.size() % 2 == 1) file.push_back(0);
  const Bytes old = file;
  add_fields(
      fields,
      [&](std::uint64_t offset, std::span<std::uint8_t> into) {
        std::copy_n(old.begin() + static_cast<std::ptrdiff_t>(offset), into.size(), into.begin());
        return into.size();
      },
      [&](std::uint64_t offset, std::span<const std::uint8_t> bytes) {
        file.resize(std::max<std::size_t>(file.size(), offset + bytes.size()));
        std::copy(bytes.begin(), bytes.end(), file.begin() + static_cast<std::ptrdiff_t>(offset));
      },
      old.size());
  return file;
}

struct Copy {
  Bytes file;
  Names left_out;
};

Copy copied(const Bytes& file, bool keeps_positions = true, const Bytes& exif = {},
            const WriteOptions& options = {}) {
  const auto reader = open_picture(memory_source(file, "in"));
  Image image(reader->header().size, reader->header().format);
  reader->read(image.rows());
  PictureHeader header = reader->header();
  header.keeps_positions = keeps_positions;
  header.metadata.exif = exif;
  Copy copy;
  const auto sink = memory_sink(copy.file, "out");
  const auto writer = create_picture(tiff_codec(), *sink, header, options);
  writer->write(image.rows());
  writer->finish({});
  copy.left_out = writer->left_out();
  EXPECT_TRUE(same_pixels(decode(copy.file).image, image));
  return copy;
}

Bytes value_in(const Bytes& file, std::uint16_t tag) {
  const TiffContent content = content_of(file);
  const TiffField* field = content.find(tag);
  return field == nullptr ? Bytes() : field->value;
}

const TiffFields& foreign() {
  static const TiffFields fields{text_field(285, "Page seven"),
                                 {33550, 12, 1, {0, 0, 0, 0, 0, 0, 0x24, 0x40}},
                                 {65000, 3, 3, {1, 2, 3, 4, 5, 6}},
                                 {65001, 5, 1, {1, 0, 0, 0, 2, 0, 0, 0}}};
  return fields;
}

TEST(TiffTags, AreKeptWhileThePixelsStayWhereTheyAreAndThatAreNotKeptAreNamed) {
  for (const char* mode : {"wl", "w8l"}) {
    const Bytes file = with_fields(tiff_of({.mode = mode}), foreign());
    const Copy copy = copied(file);
    EXPECT_EQ(copy.left_out, Names());
    for (const TiffField& field : foreign())
      EXPECT_EQ(value_in(copy.file, field.tag), field.value) << field.tag;
  }
  const Bytes file = with_fields(tiff_of({}), foreign());
  const Copy copy = copied(file, false);
  EXPECT_EQ(copy.left_out, (Names{"PageName", "GeoTIFF", "tag 65000", "tag 65001"}));
  EXPECT_EQ(value_in(copy.file, 285), Bytes());
  WriteOptions strip;
  strip.set(strip_option(), "on");
  EXPECT_EQ(copied(file, true, {}, strip).left_out, Names());
}

// EXIF decides the byte order of the file.
TEST(TiffTags, GetTheByteOrderOfTheFile) {
  const Bytes exif{'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 0x01, 0x12, 0,
                   3,   0,   0, 0,  1, 0, 6, 0, 0, 0, 0,    0,    0};
  const Copy copy = copied(with_fields(tiff_of({}), foreign()), true, exif);
  EXPECT_EQ(copy.file[0], 'M');
  EXPECT_EQ(value_in(copy.file, 285), foreign()[0].value);
  EXPECT_EQ(value_in(copy.file, 33550), (Bytes{0x40, 0x24, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(value_in(copy.file, 65000), (Bytes{2, 1, 4, 3, 6, 5}));
  EXPECT_EQ(value_in(copy.file, 65001), (Bytes{0, 0, 0, 1, 0, 0, 0, 2}));
}

// Photoshop's layers show the unfiltered picture.
TEST(TiffTags, LayersOfPhotoshopAreUnread) {
  const Bytes file = with_fields(tiff_of({}), {{37724, 7, 6, {'l', 'a', 'y', 'e', 'r', 's'}}});
  EXPECT_EQ(decode(file).header.unread, Names{"layers of Photoshop"});
  EXPECT_EQ(value_in(copied(file).file, 37724), Bytes());
}

// TIFF files whose pixels are damaged: none is accepted with other pixels.

std::string refusal_of_case(const std::string& name) {
  const std::string bytes = read_file(std::string(GPUFILTER_SOURCE) + "/tests/cases/" + name);
  return why_refused({bytes.begin(), bytes.end()});
}

TEST(TiffDamage, WhatLibtiffOnlyWarnsOfIsRefused) {
  const std::string reason = "in: damaged TIFF: Corrupt JPEG data: premature end of data segment";
  EXPECT_EQ(refusal_of_case("hostile-tiff-jpeg-eoi-in-the-middle.tif"), reason);
  EXPECT_EQ(refusal_of_case("hostile-tiff-jpeg-strip-cut-in-half.tif"),
            "in: damaged TIFF: Premature end of JPEG file");
  // libtiff notices it itself if it was built with libdeflate.
  const std::string checksum = refusal_of_case("hostile-tiff-deflate-one-bit-flipped.tif");
  EXPECT_TRUE(checksum == "in: damaged TIFF: the checksum of block 0 is wrong" ||
              checksum == "in: damaged TIFF: Decoding error at scanline 0")
      << checksum;
}

// Where the strips or tiles of a file in this machine's byte order are.
struct StoredTiff {
  std::size_t begin;
  std::size_t end;
};

StoredTiff stored_blocks(const Bytes& file) {
  const TemporaryFolder folder;
  const std::string path = folder / "blocks.tif";
  write_file(path, {file.begin(), file.end()});
  TIFF* tiff = TIFFOpen(path.c_str(), "r");
  StoredTiff stored{file.size(), 0};
  const std::uint32_t count =
      TIFFIsTiled(tiff) != 0 ? TIFFNumberOfTiles(tiff) : TIFFNumberOfStrips(tiff);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::size_t begin = TIFFGetStrileOffset(tiff, i);
    stored.begin = std::min(stored.begin, begin);
    stored.end = std::max(stored.end, begin + TIFFGetStrileByteCount(tiff, i));
  }
  TIFFClose(tiff);
  return stored;
}

TEST(TiffDamage, EachFlippedBitOfDeflateIsNoticed) {
  for (const auto& [tiled, photometric] :
       each_of(std::array{false, true}, std::array{PHOTOMETRIC_RGB, PHOTOMETRIC_YCBCR})) {
    const Bytes file =
        tiff_of({.photometric = photometric,
                 .compression = COMPRESSION_ADOBE_DEFLATE,
                 .tiled = tiled,
                 .more = [](TIFF* tiff) { TIFFSetField(tiff, TIFFTAG_YCBCRSUBSAMPLING, 1, 1); }});
    const Image image = decode(file).image;
    const StoredTiff stored = stored_blocks(file);
    for (std::size_t byte = stored.begin; byte < stored.end; ++byte) {
      Bytes damaged = file;
      damaged[byte] ^= static_cast<std::uint8_t>(1U << byte % 8);
      if (!why_refused(damaged).empty()) continue;
      EXPECT_TRUE(same_pixels(decode(damaged).image, image)) << byte;
    }
  }
}

TEST(TiffDamage, RowsOfPackBitsAndFaxThatAreIncompleteAreRefused) {
  for (const int compression : {COMPRESSION_PACKBITS, COMPRESSION_CCITTFAX3, COMPRESSION_LZW}) {
    const bool is_fax = compression == COMPRESSION_CCITTFAX3;
    const Bytes file = tiff_of({.width = 40,
                                .samples = 1,
                                .bits = is_fax ? 1 : 8,
                                .photometric = PHOTOMETRIC_MINISBLACK,
                                .compression = compression,
                                .rows_per_strip = 11});
    ASSERT_EQ(why_refused(file), "");
    const StoredTiff stored = stored_blocks(file);
    Bytes damaged = file;
    std::fill(damaged.begin() + static_cast<std::ptrdiff_t>((stored.begin + stored.end) / 2),
              damaged.begin() + static_cast<std::ptrdiff_t>(stored.end), 0x81);
    EXPECT_TRUE(why_refused(damaged).starts_with("in: damaged TIFF: ")) << compression;
  }
}

// The entry of a classic little-endian file's first directory with this tag.
std::size_t entry_of(const Bytes& file, unsigned tag) {
  const auto number = [&](std::size_t at, std::size_t size) {
    std::size_t value = 0;
    for (std::size_t i = size; i-- > 0;)
      value = value << 8U | file[at + i];
    return value;
  };
  const std::size_t directory = number(4, 4);
  for (std::size_t i = 0; i < number(directory, 2); ++i) {
    const std::size_t at = directory + 2 + 12 * i;
    if (number(at, 2) == tag) return at;
  }
  ADD_FAILURE() << "no tag " << tag;
  return 0;
}

// libtiff would read what follows.
TEST(TiffDamage, BlocksThatAreTooShortAreRefused) {
  for (const bool planes : {false, true}) {
    TiffRecipe recipe{.width = 16, .height = 16, .samples = 1, .tiled = !planes};
    recipe.photometric = PHOTOMETRIC_MINISBLACK;
    if (planes) {
      recipe = {.width = 16, .height = 16, .samples = 3, .rows_per_strip = 16, .planes = true};
    }
    Bytes file = tiff_of(recipe);
    const std::size_t entry =
        entry_of(file, planes ? TIFFTAG_STRIPBYTECOUNTS : TIFFTAG_TILEBYTECOUNTS);
    const std::size_t value =
        file[entry + 4] == 1 ? entry + 8 : file[entry + 8] | file[entry + 9] << 8U;
    ASSERT_EQ(file[value + 1], 1);  // 256
    file[value] = 250;
    file[value + 1] = 0;
    EXPECT_EQ(why_refused(file), "in: damaged TIFF: block 0 has 250 bytes instead of 256");
  }
}

// Grey of 8 bits in one strip, which is the last part of the file.
Bytes with_strip_last(ImageSize size, std::uint16_t compression, const Bytes& strip) {
  const auto number = [](std::uint16_t tag, std::uint32_t value) {
    Bytes bytes;
    for (unsigned i = 0; i < 4; ++i)
      bytes.push_back(static_cast<std::uint8_t>(value >> 8 * i));
    return TiffField{tag, 4, 1, bytes};
  };
  const auto height = static_cast<std::uint32_t>(size.height);
  TiffFields fields{number(TIFFTAG_IMAGEWIDTH, static_cast<std::uint32_t>(size.width)),
                    number(TIFFTAG_IMAGELENGTH, height),
                    number(TIFFTAG_BITSPERSAMPLE, 8),
                    number(TIFFTAG_COMPRESSION, compression),
                    number(TIFFTAG_PHOTOMETRIC, PHOTOMETRIC_MINISBLACK),
                    number(TIFFTAG_STRIPOFFSETS, 0),
                    number(TIFFTAG_ROWSPERSTRIP, height),
                    number(TIFFTAG_STRIPBYTECOUNTS, static_cast<std::uint32_t>(strip.size()))};
  constexpr std::uint32_t header = 8;
  const std::size_t end = header + directory_bytes(fields, header, ByteOrder::little).size();
  fields[5] = number(TIFFTAG_STRIPOFFSETS, static_cast<std::uint32_t>(end));
  Bytes file{'I', 'I', 42, 0, header, 0, 0, 0};
  for (const Bytes& part : {directory_bytes(fields, header, ByteOrder::little), strip})
    file.insert(file.end(), part.begin(), part.end());
  return file;
}

// The rows of a file that end with the first one that cannot be read; the others cannot either.
std::vector<Bytes> rows_in(const Bytes& file) {
  const auto reader = open_picture(memory_source(file, "in"));
  const auto [width, height] = reader->header().size;
  std::vector<Bytes> rows;
  bool is_at_end = false;
  for (int y = 0; y < height; ++y) {
    Image row({width, 1}, reader->header().format);
    try {
      reader->read(row.rows());
    } catch (const PictureError&) {
      is_at_end = true;
      continue;
    }
    EXPECT_FALSE(is_at_end) << y;
    const std::uint8_t* samples = row.rows().row(0);
    rows.emplace_back(samples, samples + width);
  }
  return rows;
}

TEST(TiffDamage, WhatATruncatedFileHasIsThereBeforeTheRefusal) {
  const Image image = random_image({50, 40}, {1, 8}, 3);
  Bytes plain;
  for (int y = 0; y < 40; ++y)
    plain.insert(plain.end(), image.rows().row(y), image.rows().row(y) + 50);
  uLongf size = compressBound(plain.size());
  Bytes deflated(size);
  ASSERT_EQ(compress(deflated.data(), &size, plain.data(), plain.size()), Z_OK);
  deflated.resize(size);
  for (const bool is_deflated : {false, true}) {
    Bytes file =
        with_strip_last({50, 40}, is_deflated ? COMPRESSION_ADOBE_DEFLATE : COMPRESSION_NONE,
                        is_deflated ? deflated : plain);
    EXPECT_TRUE(same_pixels(decode(file).image, image));
    file.resize(file.size() - 525);  // ten rows and a half, as random samples do not get smaller
    EXPECT_TRUE(why_refused(file).starts_with("in: damaged TIFF: "));
    const std::vector<Bytes> rows = rows_in(file);
    ASSERT_LE(rows.size(), 29U);
    ASSERT_GE(rows.size(), is_deflated ? 20U : 29U);
    for (std::size_t y = 0; y < rows.size(); ++y)
      EXPECT_EQ(rows[y], Bytes(image.rows().row(static_cast<int>(y)),
                               image.rows().row(static_cast<int>(y)) + 50));
  }
}

}  // namespace
}  // namespace gpufilter::test
