// TIFF files whose pixels are damaged: none is accepted with other pixels.
#include <algorithm>
#include <string>
#include <vector>

#include <zlib.h>

#include "base/error.hpp"
#include "codec/tiff/codec.hpp"
#include "codec/tiff/metadata.hpp"
#include "support/tiff_recipe.hpp"

namespace gpufilter::test {
namespace {

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
  for (const bool tiled : {false, true}) {
    for (const int photometric : {PHOTOMETRIC_RGB, PHOTOMETRIC_YCBCR}) {
      const Bytes file =
          file_of({.photometric = photometric,
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
}

TEST(TiffDamage, RowsOfPackBitsAndFaxThatAreIncompleteAreRefused) {
  for (const int compression : {COMPRESSION_PACKBITS, COMPRESSION_CCITTFAX3, COMPRESSION_LZW}) {
    const bool is_fax = compression == COMPRESSION_CCITTFAX3;
    const Bytes file = file_of({.width = 40,
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
    Bytes file = file_of(recipe);
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
