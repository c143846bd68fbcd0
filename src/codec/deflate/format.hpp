// Deflate (RFC 1951): its alphabets, bits, Huffman codes and blocks.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
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
  if (length == longest_match) return {literal_symbols - 1, 0, 0};  // has its own symbol
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

// A code and its length in one word. The length is in the lowest byte: the processor's shifts use
// only the lowest bits of their count, so a shift by the word is a shift by the length, and the sum
// of words has the sum of the lengths there.
class CodeWord {
 public:
  static constexpr unsigned longest = 24;

  CodeWord() = default;
  CodeWord(std::uint32_t bits, unsigned length) : word_(bits << length_bits | length) {}
  [[nodiscard, gnu::always_inline]] std::uint64_t bits() const { return word_ >> length_bits; }
  [[nodiscard, gnu::always_inline]] unsigned length() const {
    return word_ & ((1U << length_bits) - 1);
  }
  [[nodiscard, gnu::always_inline]] std::uint32_t word() const { return word_; }

 private:
  static constexpr unsigned length_bits = 8;

  std::uint32_t word_ = 0;
};

class BitWriter {
 public:
  static constexpr unsigned longest_write = 56;

  explicit BitWriter(std::uint8_t* out) : next_(out) {}

  // Appends up to longest_write bits. Always stores eight bytes: up to eight bytes after the end
  // are overwritten.
  [[gnu::always_inline]] void write(std::uint64_t bits, unsigned count) {
    bits_ |= bits << count_;
    count_ += count;
    const std::uint64_t stored =
        std::endian::native == std::endian::big ? __builtin_bswap64(bits_) : bits_;
    std::memcpy(next_, &stored, sizeof(stored));
    next_ += count_ / 8;
    bits_ >>= count_ & ~7U;
    count_ &= 7U;
  }
  [[gnu::always_inline]] void write(CodeWord word) { write(word.bits(), word.length()); }
  void fill_byte() { write(0, (8 - count_) % 8); }

  // Only at the beginning of a byte.
  void append(std::span<const std::uint8_t> bytes) {
    std::copy(bytes.begin(), bytes.end(), next_);
    next_ += bytes.size();
  }

  [[nodiscard]] std::uint8_t* next() const { return next_; }

 private:
  std::uint8_t* next_;
  std::uint64_t bits_ = 0;
  unsigned count_ = 0;  // below 8
};

// Deflate's longest code.
constexpr unsigned longest_code = 15;

using SymbolCounts = std::array<std::uint32_t, literal_symbols>;
using CodeLengths = std::array<std::uint8_t, literal_symbols>;

// Sets `lengths` to the code lengths for symbols that occur `counts` times: 0 for a count of 0,
// else from 1 to `longest`. Nearly optimal: codes that Huffman's algorithm makes longer are cut.
// The code is complete if at least two symbols occur. There may be up to literal_symbols symbols,
// but not more than 2^longest.
void make_code_lengths(std::span<const std::uint32_t> counts, unsigned longest,
                       std::span<std::uint8_t> lengths);

// Sets `codes` to the canonical code with these lengths (RFC 1951, 3.2.2). The bit that is written
// first is the lowest.
void make_codes(std::span<const std::uint8_t> lengths, std::span<std::uint16_t> codes);

// Writes the header of a block with codes of these lengths: at most literal_symbols and
// distance_symbols; missing lengths count as 0. `final`: it is the stream's last block.
void begin_coded_block(BitWriter& writer, std::span<const std::uint8_t> literal_lengths,
                       std::span<const std::uint8_t> distance_lengths, bool final);

// The maximum size of such a header in bytes.
constexpr std::size_t max_description = 320;

// Writes `bytes` as stored blocks; one block if there are no bytes.
void write_stored(BitWriter& writer, std::span<const std::uint8_t> bytes, bool final);

// Pads the last byte and returns all bytes since `begin`. Unless `last`, after a final block, an
// empty stored block is added, so that another block can follow.
[[nodiscard]] std::span<const std::uint8_t> end_stream(BitWriter& writer, bool last,
                                                       const std::uint8_t* begin);

// The overhead of stored blocks: bytes for each 65535 bytes of data.
constexpr std::size_t stored_overhead = 6;

}  // namespace gpufilter
