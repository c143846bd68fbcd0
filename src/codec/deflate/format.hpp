// Deflate's alphabets (RFC 1951, 3.2.5).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace gpufilter {

// The first alphabet: bytes, the end of a block, lengths of matches.
constexpr std::size_t literal_symbols = 286;
constexpr std::size_t end_of_block = 256;
constexpr std::size_t first_length_symbol = 257;

constexpr std::size_t distance_symbols = 30;

constexpr std::size_t shortest_match = 3;
constexpr std::size_t longest_match = 258;
constexpr std::size_t longest_distance = std::size_t{32} << 10U;

// A symbol for a range of values, and the extra bits that select one of them.
struct ExtendedSymbol {
  std::uint16_t symbol = 0;
  std::uint8_t extra_bits = 0;
  std::uint16_t extra = 0;
};

namespace detail {

// Deflate's scheme for values from 0: the first 2 * group_size values have a symbol each. After
// them come `group_size` symbols for 2 values each, `group_size` for 4 values each, and so on.
// A power of 2.
constexpr ExtendedSymbol extended_symbol(std::uint32_t value, std::uint32_t group_size) {
  if (value < 2 * group_size) return {static_cast<std::uint16_t>(value), 0, 0};
  const auto extra_bits = static_cast<unsigned>(std::bit_width(value)) -
                          static_cast<unsigned>(std::bit_width(group_size));
  return {static_cast<std::uint16_t>((value >> extra_bits) + group_size * extra_bits),
          static_cast<std::uint8_t>(extra_bits),
          static_cast<std::uint16_t>(value & ((1U << extra_bits) - 1))};
}

constexpr ExtendedSymbol length_symbol(std::size_t length) {
  if (length == longest_match) return {literal_symbols - 1, 0, 0};  // has a symbol of its own
  ExtendedSymbol symbol = extended_symbol(static_cast<std::uint32_t>(length - shortest_match), 4);
  symbol.symbol = static_cast<std::uint16_t>(symbol.symbol + first_length_symbol);
  return symbol;
}

}  // namespace detail

inline constexpr auto length_symbols = [] {
  std::array<ExtendedSymbol, longest_match + 1> symbols{};
  for (std::size_t length = shortest_match; length <= longest_match; ++length)
    symbols[length] = detail::length_symbol(length);
  return symbols;
}();

constexpr ExtendedSymbol distance_symbol(std::size_t distance) {
  return detail::extended_symbol(static_cast<std::uint32_t>(distance - 1), 2);
}

// Uninitialised memory; std::vector would fill it with zeros first.
class ScratchBytes {
 public:
  // Makes room for `size` bytes. The content is lost if the memory has to grow.
  void reserve(std::size_t size) {
    if (size <= size_) return;
    size_ = 0;
    bytes_.reset(new std::uint8_t[size]);
    size_ = size;
  }
  [[nodiscard]] std::uint8_t* data() const { return bytes_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  std::unique_ptr<std::uint8_t[]> bytes_;
  std::size_t size_ = 0;
};

// The maximum size of a piece. ISA-L counts in 32 bits, and a chunk with a single long row may
// exceed them.
constexpr std::size_t longest_piece = std::size_t{4} << 20U;

// Calls deflate_piece(piece, out, is_last) for each piece of `data`, at least once. It writes at
// most `bound` bytes to `out` and returns their number; `is_last` says that the stream ends with
// the piece. Returns all bytes written, which are in `deflated`.
template <typename DeflatePiece>
std::span<const std::uint8_t> deflate_pieces(std::span<const std::uint8_t> data, std::size_t bound,
                                             bool last, ScratchBytes& deflated,
                                             const DeflatePiece& deflate_piece) {
  const std::size_t pieces =
      std::max<std::size_t>((data.size() + longest_piece - 1) / longest_piece, 1);
  deflated.reserve(pieces * bound);
  std::size_t size = 0;
  for (std::size_t i = 0; i < pieces; ++i) {
    const std::size_t begin = i * longest_piece;
    const auto piece = data.subspan(begin, std::min(longest_piece, data.size() - begin));
    size += deflate_piece(piece, deflated.data() + size, last && i + 1 == pieces);
  }
  return {deflated.data(), size};
}

}  // namespace gpufilter
