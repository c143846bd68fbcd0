#include "codec/png/read/piece_index.hpp"

#include "codec/png/read/chunk.hpp"

namespace gpufilter {
namespace {

constexpr std::uint8_t version = 1;

}  // namespace

Bytes make_png_index(std::uint32_t rows_a_piece) {
  Bytes data{version};
  put_u32(data, rows_a_piece);
  return data;
}

std::optional<std::uint32_t> parse_png_index(std::span<const std::uint8_t> data) {
  if (data.size() != png_index_size || data[0] != version) return std::nullopt;
  const std::uint32_t rows = get_u32(data.subspan(1));
  if (rows == 0) return std::nullopt;
  return rows;
}

}  // namespace gpufilter
