#include "codec/deflate/format.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t max_nodes = 2 * literal_symbols - 1;

// How many codes have each length.
using LengthCounts = std::array<std::uint32_t, longest_code + 1>;

// The symbols that occur, the rarest first. A key is a count followed by a symbol, so all keys
// differ and the order is always the same.
class Leaves {
 public:
  explicit Leaves(std::span<const std::uint32_t> counts) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] > 0) keys_[size_++] = std::uint64_t{counts[i]} << symbol_bits | i;
    }
    std::sort(keys_.begin(), keys_.begin() + static_cast<std::ptrdiff_t>(size_));
  }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] std::size_t symbol(std::size_t leaf) const {
    return keys_[leaf] & ((1U << symbol_bits) - 1);
  }
  [[nodiscard]] std::uint64_t count(std::size_t leaf) const { return keys_[leaf] >> symbol_bits; }

 private:
  static constexpr unsigned symbol_bits = 9;

  std::array<std::uint64_t, literal_symbols> keys_{};
  std::size_t size_ = 0;
};

// Huffman's algorithm with two queues: the leaves, and the nodes that were made of two others. Both
// are ordered by weight, since new nodes are never lighter than earlier ones. Longer codes are
// counted as `longest`.
LengthCounts count_lengths(const Leaves& leaves, unsigned longest) {
  const std::size_t count = leaves.size();
  std::array<std::uint64_t, max_nodes> weights{};
  std::array<std::uint16_t, max_nodes> parents{};
  for (std::size_t i = 0; i < count; ++i)
    weights[i] = leaves.count(i);
  const std::size_t nodes = 2 * count - 1;
  std::size_t leaf = 0;
  std::size_t inner = count;
  for (std::size_t made = count; made < nodes; ++made) {
    for (int child = 0; child < 2; ++child) {
      const bool take_leaf = leaf < count && (inner == made || weights[leaf] <= weights[inner]);
      const std::size_t taken = take_leaf ? leaf++ : inner++;
      weights[made] += weights[taken];
      parents[taken] = static_cast<std::uint16_t>(made);
    }
  }
  std::array<std::uint16_t, max_nodes> depths{};
  LengthCounts lengths{};
  for (std::size_t node = nodes - 1; node-- > 0;) {
    depths[node] = static_cast<std::uint16_t>(depths[parents[node]] + 1);
    if (node < count) ++lengths.at(std::min<unsigned>(depths[node], longest));
  }
  return lengths;
}

// After codes were cut to `longest`, the lengths take more than the available code space. Until
// they fit, a shorter code and one of the longest are replaced by two codes that are a bit longer
// than the shorter one.
void make_complete(LengthCounts& lengths, unsigned longest) {
  const std::uint32_t space = 1U << longest;
  std::uint32_t taken = 0;
  for (unsigned length = 1; length <= longest; ++length)
    taken += lengths.at(length) << (longest - length);
  for (; taken > space; --taken) {
    unsigned length = longest - 1;
    while (lengths.at(length) == 0)
      --length;
    --lengths.at(length);
    lengths.at(length + 1) += 2;
    --lengths.at(longest);
  }
}

using Lengths = std::span<const std::uint8_t>;

// Code lengths are written with a separate Huffman code, whose alphabet has symbols for repetitions
// (RFC 1951, 3.2.7).
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

void make_code_lengths(std::span<const std::uint32_t> counts, unsigned longest,
                       std::span<std::uint8_t> lengths) {
  std::ranges::fill(lengths, std::uint8_t{0});
  const Leaves leaves(counts);
  if (leaves.size() == 0) return;
  if (leaves.size() == 1) {
    lengths[leaves.symbol(0)] = 1;
    return;
  }
  LengthCounts of_length = count_lengths(leaves, longest);
  make_complete(of_length, longest);
  std::size_t leaf = 0;
  for (unsigned length = longest; length > 0; --length) {
    for (std::uint32_t i = 0; i < of_length.at(length); ++i)
      lengths[leaves.symbol(leaf++)] = static_cast<std::uint8_t>(length);
  }
}

void make_codes(std::span<const std::uint8_t> lengths, std::span<std::uint16_t> codes) {
  std::array<std::uint32_t, longest_code + 2> next{};
  for (const std::uint8_t length : lengths) {
    if (length > 0) ++next.at(length + 1U);
  }
  for (unsigned length = 1; length < next.size(); ++length)
    next.at(length) = (next.at(length) + next.at(length - 1)) << 1U;
  // Now next[length] is the first code of that length.
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    std::uint32_t value = next.at(lengths[i])++;
    std::uint32_t code = 0;
    for (unsigned bit = 0; bit < lengths[i]; ++bit, value >>= 1U)
      code = code << 1U | (value & 1U);
    codes[i] = static_cast<std::uint16_t>(code);
  }
}

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
