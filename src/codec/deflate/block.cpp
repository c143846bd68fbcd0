#include "codec/deflate/block.hpp"

#include <algorithm>
#include <array>

#include "codec/deflate/format.hpp"
#include "codec/deflate/huffman_code.hpp"

namespace gpufilter {
namespace {

using Lengths = std::span<const std::uint8_t>;

// Code lengths are written with a Huffman code of their own, whose alphabet has symbols for
// repetitions (RFC 1951, 3.2.7).
constexpr std::size_t symbol_count = 19;
constexpr unsigned longest_length_code = 7;
constexpr std::array<std::uint8_t, symbol_count> symbol_order{16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                              11, 4,  12, 3, 13, 2, 14, 1, 15};

struct Repetition {
  std::uint8_t symbol;
  std::uint8_t extra_bits;
  std::size_t minimum;  // lengths that the symbol repeats
  std::size_t maximum;
};
constexpr Repetition previous_length{16, 2, 3, 6};
constexpr Repetition short_zeros{17, 3, 3, 10};
constexpr Repetition long_zeros{18, 7, 11, 138};

// Calls on_symbol(symbol, extra, extra_bits) for every symbol of the description of `lengths`.
template <typename OnSymbol>
void describe(Lengths lengths, const OnSymbol& on_symbol) {
  for (std::size_t begin = 0; begin < lengths.size();) {
    const std::uint8_t length = lengths[begin];
    std::size_t count = 1;
    while (begin + count < lengths.size() && lengths[begin + count] == length)
      ++count;
    begin += count;
    if (length > 0) {
      on_symbol(length, 0U, 0U);
      --count;
    }
    while (count >= 3) {
      const Repetition& how = length > 0                    ? previous_length
                              : count >= long_zeros.minimum ? long_zeros
                                                            : short_zeros;
      const std::size_t repeated = std::min(count, how.maximum);
      on_symbol(how.symbol, static_cast<unsigned>(repeated - how.minimum), how.extra_bits);
      count -= repeated;
    }
    for (; count > 0; --count)
      on_symbol(length, 0U, 0U);
  }
}

Lengths without_trailing_zeros(Lengths lengths, std::size_t minimum) {
  while (lengths.size() > minimum && lengths.back() == 0)
    lengths = lengths.first(lengths.size() - 1);
  return lengths;
}

void write_stored_header(BitWriter& writer, std::size_t size, bool final) {
  writer.write(final ? 1 : 0, 3);
  writer.fill_byte();
  writer.write(size | (~size & 0xffffU) << 16U, 32);
}

}  // namespace

void begin_coded_block(BitWriter& writer, Lengths literal_lengths, Lengths distance_lengths,
                       bool final) {
  const Lengths literals = without_trailing_zeros(literal_lengths, first_length_symbol);
  const Lengths distances = without_trailing_zeros(distance_lengths, 1);
  std::array<std::uint32_t, symbol_count> counts{};
  const auto count = [&](std::uint8_t symbol, unsigned, unsigned) { ++counts.at(symbol); };
  describe(literals, count);
  describe(distances, count);
  std::array<std::uint8_t, symbol_count> lengths{};
  make_code_lengths(counts, longest_length_code, lengths);
  std::array<std::uint16_t, symbol_count> codes{};
  make_codes(lengths, codes);
  std::size_t used = symbol_count;
  while (used > 4 && lengths.at(symbol_order.at(used - 1)) == 0)
    --used;

  constexpr unsigned dynamic = 2;
  writer.write(final ? 1 : 0, 1);
  writer.write(dynamic, 2);
  writer.write(literals.size() - first_length_symbol, 5);
  writer.write(distances.size() - 1, 5);
  writer.write(used - 4, 4);
  for (std::size_t i = 0; i < used; ++i)
    writer.write(lengths.at(symbol_order.at(i)), 3);
  const auto write = [&](std::uint8_t symbol, unsigned extra, unsigned extra_bits) {
    writer.write(codes.at(symbol), lengths.at(symbol));
    writer.write(extra, extra_bits);
  };
  describe(literals, write);
  describe(distances, write);
}

void write_stored(BitWriter& writer, std::span<const std::uint8_t> bytes, bool final) {
  constexpr std::size_t longest = 65535;
  do {
    const auto part = bytes.first(std::min(longest, bytes.size()));
    bytes = bytes.subspan(part.size());
    write_stored_header(writer, part.size(), final && bytes.empty());
    writer.append(part);
  } while (!bytes.empty());
}

std::span<const std::uint8_t> end_stream(BitWriter& writer, bool last, const std::uint8_t* begin) {
  if (last) {
    writer.fill_byte();
  } else {
    write_stored(writer, {}, false);
  }
  return {begin, writer.next()};
}

}  // namespace gpufilter
