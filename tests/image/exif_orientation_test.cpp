#include "image/exif_orientation.hpp"

#include <array>
#include <cstddef>

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

// A directory at offset 10 with a dummy date, then the orientation.
const Bytes little{'I', 'I', 42, 0, 10,   0, 0, 0, 0xEE, 0xEE, 2, 0, 0x32, 1, 2, 0, 0, 0, 0, 0,
                   0,   0,   0,  0, 0x12, 1, 3, 0, 1,    0,    0, 0, 6,    0, 0, 0, 0, 0, 0, 0};
const Bytes big{'M', 'M', 0, 42, 0, 0, 0, 8, 0, 1, 1, 0x12, 0,
                3,   0,   0, 0,  1, 0, 8, 0, 0, 0, 0, 0,    0};

TEST(ExifOrientation, IsReadInEitherByteOrder) {
  EXPECT_EQ(exif_orientation(little), 6);
  EXPECT_EQ(exif_orientation(big), 8);
}

TEST(ExifOrientation, IsOneWhereThereIsNone) {
  EXPECT_EQ(exif_orientation({}), 1);
  EXPECT_EQ(exif_orientation({'I', 'I', 42, 0, 8, 0, 0, 0, 0, 0}), 1);
}

TEST(ExifOrientation, IsOneWhereItIsNotValid) {
  const auto changed = [](std::size_t index, std::uint8_t value) {
    Bytes exif = little;
    exif.at(index) = value;
    return exif_orientation(exif);
  };
  EXPECT_EQ(changed(0, 'M'), 1) << "the byte order";
  EXPECT_EQ(changed(2, 43), 1) << "the signature";
  EXPECT_EQ(changed(7, 0xFF), 1) << "the directory's offset";
  EXPECT_EQ(changed(26, 4), 1) << "the type";
  EXPECT_EQ(changed(28, 2), 1) << "the count";
  EXPECT_EQ(changed(32, 0), 1);
  EXPECT_EQ(changed(32, 9), 1);
  EXPECT_EQ(changed(33, 1), 1);
}

TEST(ExifOrientation, ReadsNothingPastTheEnd) {
  for (std::size_t size = 0; size < little.size(); ++size) {
    const Bytes cut(little.begin(), little.begin() + static_cast<std::ptrdiff_t>(size));
    EXPECT_EQ(exif_orientation(cut), size < 36 ? 1 : 6) << size;
  }
  Bytes many = little;
  many[10] = many[11] = 0xFF;
  many[24] = 0;  // and no orientation among 65535 entries
  EXPECT_EQ(exif_orientation(many), 1);
}

}  // namespace
}  // namespace gpufilter
