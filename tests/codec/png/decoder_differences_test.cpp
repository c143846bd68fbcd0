// Files on which our decoder of PNG pixels and libpng differ: all that are known.
#include <vector>

#include <gtest/gtest.h>

#include "support/pictures.hpp"
#include "support/png_pieces.hpp"

namespace gpufilter::test {
namespace {

// Bits as deflate packs them.
class BitWriter {
 public:
  void put(unsigned value, int count) {
    for (int i = 0; i < count; ++i, ++used_) {
      if (used_ % 8 == 0) bytes_.push_back(0);
      bytes_.back() = static_cast<std::uint8_t>(bytes_.back() | ((value >> i & 1U) << used_ % 8));
    }
  }
  [[nodiscard]] const Bytes& bytes() const { return bytes_; }

 private:
  Bytes bytes_;
  unsigned used_ = 0;
};

// A known difference: once libpng has all pixels, it looks at one more IDAT chunk for the checksum
// of the pixels and does not check one that is still incomplete then.
TEST(PngDecoders, DifferInChecksumsThatTakeThreeChunks) {
  Bytes data = deflated(filtered_rows());
  data.back() ^= 1U;
  const auto first = data.end() - 2;
  const auto second = data.end() - 1;
  const Bytes in_three = file_of({{data.begin(), first}, {first, second}, {second, data.end()}});
  for (const Bytes& file :
       {file_of({data}), file_of({{data.begin(), second}, {second, data.end()}})}) {
    EXPECT_TRUE(both_agree(file));
    EXPECT_FALSE(is_accepted(file));
  }
  EXPECT_EQ(decode(in_three, PngDecoder::pieces).refusal,
            "in.png: damaged PNG: IDAT: incorrect data check");
  EXPECT_EQ(decode(in_three, PngDecoder::libpng).refusal, "");
  const Bytes too_short = file_of({{data.begin(), first}, {first, second}});
  EXPECT_EQ(decode(too_short, PngDecoder::pieces).refusal,
            "in.png: damaged PNG: Not enough image data");
  EXPECT_EQ(decode(too_short, PngDecoder::libpng).refusal, "");
}

// The other known difference: an incomplete Huffman code, which leaves bit patterns without
// meaning. No encoder makes such a code. zlib refuses it at once, ISA-L only if such a pattern
// occurs.
TEST(PngDecoders, DifferInIncompleteCodes) {
  BitWriter bits;
  bits.put(1, 1);   // the last block
  bits.put(2, 2);   // with codes of its own:
  bits.put(0, 5);   // 257 of literals and lengths,
  bits.put(0, 5);   // one of distances,
  bits.put(14, 4);  // 18 code lengths in the order 16, 17, 18, 0, 8, 7, 9, 6, 10, ..., 2, 14, 1
  for (const unsigned length :
       {0U, 0U, 2U, 2U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 0U, 2U, 0U, 2U}) {
    bits.put(length, 3);
  }
  // Symbols 0, 1, 2 and 18 have the codes 00, 01, 10 and 11, most significant bit first.
  bits.put(2, 2), bits.put(3, 2), bits.put(127, 7);  // 1 bit for byte 0, none for 1 to 138
  bits.put(3, 2), bits.put(106, 7);                  // nor for 139 to 255,
  bits.put(1, 2);                                    // 2 bits for the end of the block,
  bits.put(0, 2);                                    // none for the distance: 11 means nothing
  for (std::size_t i = 0; i < filtered_rows().size(); ++i)
    bits.put(0, 1);
  bits.put(1, 2);  // the end: 10
  Bytes data{0x78, 0x9c};
  data.insert(data.end(), bits.bytes().begin(), bits.bytes().end());
  data.insert(data.end(), {0, 36, 0, 1});
  EXPECT_EQ(decode(file_of({data}), PngDecoder::libpng).refusal,
            "in.png: damaged PNG: IDAT: invalid literal/lengths set");
  const PngOutcome ours = decode(file_of({data}), PngDecoder::automatic);
  ASSERT_TRUE(ours.image) << ours.refusal;
  EXPECT_EQ(sample_at(*ours.image, 4, 5, 0), 0U);
}

}  // namespace
}  // namespace gpufilter::test
