#include "base/byte_cursor.hpp"

#include <array>

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

constexpr std::array<std::uint8_t, 8> bytes{0x80, 0x01, 'a', 'b', 0, 0xFF, 0x10, 0x20};

TEST(ByteCursor, ReadsNumbersOfBothByteOrders) {
  EXPECT_EQ(number_of(std::span(bytes).first(3)), 0x800161U);
  EXPECT_EQ(number_of(std::span(bytes).first(3), ByteOrder::little), 0x610180U);
  EXPECT_EQ(number_of(bytes, ByteOrder::little), 0x2010FF0062610180U);
  EXPECT_EQ(number_of({}), 0U);
}

TEST(ByteCursor, PutsNumbersAsItReadsThem) {
  for (const ByteOrder order : {ByteOrder::big, ByteOrder::little}) {
    Bytes put;
    put_number(put, 0x1234, 2, order);
    put_number(put, 0x89ABCDEF01, 4, order);  // without the highest byte
    ByteCursor cursor(put, order);
    EXPECT_EQ(cursor.number(2), 0x1234U);
    EXPECT_EQ(cursor.number(4), 0xABCDEF01U);
  }
}

TEST(ByteCursor, EndsWithTheBytes) {
  ByteCursor cursor(bytes);
  EXPECT_EQ(cursor.take(2).size(), 2U);
  EXPECT_EQ(cursor.text(), "ab");
  EXPECT_EQ(cursor.number(8), 0xFF1020U);
  EXPECT_TRUE(cursor.rest().empty());
  EXPECT_EQ(cursor.number(4), 0U);
  EXPECT_EQ(cursor.text(), "");
}

TEST(ByteCursor, HasOnlyWholeParts) {
  const ByteCursor cursor(bytes);
  EXPECT_EQ(cursor.number_at(6, 2), 0x1020U);
  EXPECT_EQ(cursor.part(8, 0)->size(), 0U);
  EXPECT_FALSE(cursor.part(9, 0));
  EXPECT_FALSE(cursor.number_at(7, 2));
  EXPECT_FALSE(cursor.part(1, ~std::uint64_t{0}));
}

}  // namespace
}  // namespace gpufilter
