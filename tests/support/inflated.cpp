#include "support/inflated.hpp"

#include <gtest/gtest.h>
#include <zlib.h>

namespace gpufilter::test {

Inflated inflated(std::span<const std::uint8_t> deflated, std::size_t size) {
  constexpr std::uint8_t poison = 0xA5;
  Inflated result{Bytes(size + 100, poison)};
  z_stream stream{};
  EXPECT_EQ(inflateInit2(&stream, -15), Z_OK);
  stream.next_in = const_cast<Bytef*>(deflated.data());
  stream.avail_in = static_cast<uInt>(deflated.size());
  stream.next_out = result.bytes.data();
  stream.avail_out = static_cast<uInt>(result.bytes.size());
  int status = Z_OK;
  while (status == Z_OK) {
    status = inflate(&stream, Z_BLOCK);
    if (status != Z_OK) break;
    // zlib's flags: no bits left of the last byte, not in the last block, behind a complete block.
    result.joinable = (stream.data_type & 0x1ff) == 0x80;
    result.blocks += (stream.data_type & 128) != 0 ? 1 : 0;
  }
  EXPECT_TRUE(status == Z_BUF_ERROR || status == Z_STREAM_END) << (stream.msg ? stream.msg : "");
  result.complete = status == Z_STREAM_END;
  result.joinable = result.joinable && !result.complete;
  result.rest = stream.avail_in;
  result.bytes.resize(stream.total_out);
  inflateEnd(&stream);
  return result;
}

}  // namespace gpufilter::test
