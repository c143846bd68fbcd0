#include "codec/png/read/chunk.hpp"

#include <array>
#include <new>

#define ZLIB_CONST  // zlib's input is const
#include <zlib.h>

#include "base/byte_cursor.hpp"

namespace gpufilter {
namespace {

// A z_stream that is always ended.
class Inflater {
 public:
  explicit Inflater(std::span<const std::uint8_t> input) {
    stream_.next_in = input.data();
    stream_.avail_in = static_cast<uInt>(input.size());
    if (inflateInit(&stream_) != Z_OK) throw std::bad_alloc();
  }
  ~Inflater() { inflateEnd(&stream_); }
  Inflater(const Inflater&) = delete;
  Inflater& operator=(const Inflater&) = delete;

  // Writes the next bytes to `output` and returns their number; nothing if the data is damaged.
  std::optional<std::size_t> next(std::span<std::uint8_t> output) {
    stream_.next_out = output.data();
    stream_.avail_out = static_cast<uInt>(output.size());
    const int result = inflate(&stream_, Z_NO_FLUSH);
    ended_ = result == Z_STREAM_END;
    if (result != Z_OK && !ended_) return std::nullopt;
    return output.size() - stream_.avail_out;
  }
  [[nodiscard]] bool ended() const { return ended_; }

 private:
  z_stream stream_{};
  bool ended_ = false;
};

}  // namespace

std::optional<Bytes> zlib_inflate(std::span<const std::uint8_t> compressed, std::size_t& budget) {
  Inflater inflater(compressed);
  std::array<std::uint8_t, 16384> piece{};
  Bytes plain;
  while (!inflater.ended()) {
    const auto count = inflater.next(piece);
    if (!count || *count > budget) return std::nullopt;
    budget -= *count;
    plain.insert(plain.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(*count));
  }
  return plain;
}

Bytes zlib_deflate(std::span<const std::uint8_t> plain) {
  uLongf size = compressBound(plain.size());
  Bytes compressed(size);
  if (compress2(compressed.data(), &size, plain.data(), plain.size(), Z_BEST_COMPRESSION) != Z_OK) {
    throw std::bad_alloc();
  }
  compressed.resize(size);
  return compressed;
}

namespace {

constexpr std::uint8_t version = 1;

}  // namespace

Bytes make_png_index(std::uint32_t rows_a_piece) {
  Bytes data{version};
  put_number(data, rows_a_piece, 4);
  return data;
}

std::optional<std::uint32_t> parse_png_index(std::span<const std::uint8_t> data) {
  if (data.size() != png_index_size || data[0] != version) return std::nullopt;
  const std::uint32_t rows = get_u32(data.subspan(1));
  if (rows == 0) return std::nullopt;
  return rows;
}

}  // namespace gpufilter
