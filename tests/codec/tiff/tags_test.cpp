// Tags of TIFF files that the program does not know.
#include <algorithm>
#include <string>
#include <vector>

#include "codec/tiff/codec.hpp"
#include "codec/tiff/metadata.hpp"
#include "support/tiff_recipe.hpp"

namespace gpufilter::test {
namespace {

using Names = std::vector<std::string>;

TiffContent content_of(const Bytes& file) {
  return read_tiff_content([&](std::uint64_t offset, std::span<std::uint8_t> into) -> std::size_t {
    if (offset >= file.size()) return 0;
    const std::size_t count = std::min(into.size(), file.size() - static_cast<std::size_t>(offset));
    std::copy_n(file.begin() + static_cast<std::ptrdiff_t>(offset), count, into.begin());
    return count;
  });
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

TEST(TiffTags, AreKeptWhileThePixelsStayWhereTheyAre) {
  for (const char* mode : {"wl", "w8l"}) {
    const Bytes file = with_fields(file_of({.mode = mode}), foreign());
    const Copy copy = copied(file);
    EXPECT_EQ(copy.left_out, Names());
    for (const TiffField& field : foreign())
      EXPECT_EQ(value_in(copy.file, field.tag), field.value) << field.tag;
  }
}

TEST(TiffTags, ThatAreNotKeptAreNamed) {
  const Bytes file = with_fields(file_of({}), foreign());
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
  const Copy copy = copied(with_fields(file_of({}), foreign()), true, exif);
  EXPECT_EQ(copy.file[0], 'M');
  EXPECT_EQ(value_in(copy.file, 285), foreign()[0].value);
  EXPECT_EQ(value_in(copy.file, 33550), (Bytes{0x40, 0x24, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(value_in(copy.file, 65000), (Bytes{2, 1, 4, 3, 6, 5}));
  EXPECT_EQ(value_in(copy.file, 65001), (Bytes{0, 0, 0, 1, 0, 0, 0, 2}));
}

// They show the picture as it was.
TEST(TiffTags, LayersOfPhotoshopAreUnread) {
  const Bytes file = with_fields(file_of({}), {{37724, 7, 6, {'l', 'a', 'y', 'e', 'r', 's'}}});
  EXPECT_EQ(decode(file).header.unread, Names{"layers of Photoshop"});
  EXPECT_EQ(value_in(copied(file).file, 37724), Bytes());
}

}  // namespace
}  // namespace gpufilter::test
