#include "codec/deflate/huffman_deflater.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "codec/clones.hpp"
#include "codec/deflate/huffman_code.hpp"
#include "codec/deflate/pieces.hpp"

namespace gpufilter {
namespace {

using Byte = std::uint8_t;

// Short enough that one code suits all of a block, long enough that its description is nothing.
constexpr std::size_t block_size = std::size_t{512} << 10U;

// What a block may take beyond its bytes: the heads of stored blocks.
constexpr std::size_t block_overhead = 16;

constexpr std::ptrdiff_t group = 8;  // bytes that are looked at together
constexpr std::size_t longest_match = 258;
constexpr std::size_t shortest_match = 3;

// The first byte lowest.
std::uint64_t load_group(const Byte* bytes) {
  std::uint64_t group_bytes = 0;
  std::memcpy(&group_bytes, bytes, group);
  return std::endian::native == std::endian::big ? __builtin_bswap64(group_bytes) : group_bytes;
}

// How many bytes from `begin` on equal the one before it.
std::size_t run_length(const Byte* begin, const Byte* end) {
  const Byte* at = begin;
  for (; end - at >= group; at += group) {
    const std::uint64_t unequal = load_group(at) ^ load_group(at - 1);
    if (unequal != 0) {
      at += std::countr_zero(unequal) / 8;
      return static_cast<std::size_t>(at - begin);
    }
  }
  while (at < end && *at == at[-1])
    ++at;
  return static_cast<std::size_t>(at - begin);
}

// Calls on_match(length) for each of the matches that make up a run of `run` bytes, at least
// `group` of them.
template <typename OnMatch>
void split_run(std::size_t run, const OnMatch& on_match) {
  while (run > 0) {
    std::size_t length = std::min(run, longest_match);
    if (run > length && run - length < shortest_match) length -= shortest_match;
    on_match(length);
    run -= length;
  }
}

// Calls on_group(bytes) for eight literals, on_literal(byte) for one and on_match(length) for bytes
// that equal the one before them, in the order of `block`. `has_before`: block[-1] may be used.
template <typename OnGroup, typename OnLiteral, typename OnMatch>
void walk(std::span<const Byte> block, bool has_before, const OnGroup& on_group,
          const OnLiteral& on_literal, const OnMatch& on_match) {
  const Byte* at = block.data();
  const Byte* const end = at + block.size();
  if (!has_before && at < end) on_literal(*at++);
  while (end - at >= group) {
    if (load_group(at) != load_group(at - 1)) [[likely]] {
      on_group(at);
      at += group;
      continue;
    }
    const std::size_t run = run_length(at, end);
    split_run(run, on_match);
    at += run;
  }
  while (at < end)
    on_literal(*at++);
}

// Deflate's lengths (RFC 1951, 3.2.5).
struct LengthSymbol {
  std::uint16_t symbol;
  std::uint8_t extra_bits;
  std::uint8_t extra;
};

constexpr LengthSymbol length_symbol(std::size_t length) {
  if (length == longest_match) return {deflate_symbols - 1, 0, 0};
  const auto above = static_cast<std::uint32_t>(length - shortest_match);
  if (above < 8) return {static_cast<std::uint16_t>(first_length_symbol + above), 0, 0};
  const auto extra_bits = static_cast<unsigned>(std::bit_width(above)) - 3;
  const unsigned place = (above >> extra_bits) + 4 * extra_bits;
  return {static_cast<std::uint16_t>(first_length_symbol + place),
          static_cast<std::uint8_t>(extra_bits),
          static_cast<std::uint8_t>(above & ((1U << extra_bits) - 1))};
}

constexpr auto length_symbols = [] {
  std::array<LengthSymbol, longest_match + 1> symbols{};
  for (std::size_t length = shortest_match; length <= longest_match; ++length)
    symbols[length] = length_symbol(length);
  return symbols;
}();

// How often symbols occur in a quarter of the block: a code made from that is hardly longer.
SymbolCounts sample_symbols(std::span<const Byte> block) {
  constexpr std::size_t piece = 512;
  constexpr std::size_t stride = 8 * piece;
  // Neighbours are often equal: counting them in one place would wait for itself.
  std::array<std::array<std::uint32_t, 256>, 4> literals{};
  SymbolCounts counts{};
  for (std::size_t begin = 0; begin < block.size(); begin += stride) {
    walk(
        block.subspan(begin, std::min(piece, block.size() - begin)), begin > 0,
        [&](const Byte* bytes) {
          std::uint64_t rest = load_group(bytes);
          for (int i = 0; i < group; ++i, rest >>= 8U)
            ++literals[static_cast<std::size_t>(i % 4)][rest & 0xffU];
        },
        [&](Byte byte) { ++counts[byte]; },
        [&](std::size_t length) { ++counts[length_symbols[length].symbol]; });
  }
  for (const auto& part : literals) {
    for (std::size_t i = 0; i < part.size(); ++i)
      counts[i] += part[i];
  }
  ++counts[end_of_block];
  return counts;
}

// A code and its length, in one word: the length lowest, so that a shift by the word is one by the
// length, and words can be added for the sum of their lengths.
class CodeWord {
 public:
  static constexpr unsigned longest = 24;

  CodeWord() = default;
  constexpr CodeWord(std::uint32_t bits, unsigned length) : word_(bits << length_bits | length) {}
  [[nodiscard]] std::uint64_t bits() const { return word_ >> length_bits; }
  [[nodiscard]] unsigned length() const { return word_ & ((1U << length_bits) - 1); }
  [[nodiscard]] std::uint32_t word() const { return word_; }

 private:
  static constexpr unsigned length_bits = 8;

  std::uint32_t word_ = 0;
};

// The codes of two bytes, at the first + 256 times the second: half as many are looked up. Where
// they are longer than a word holds, the length is too_long.
using PairCodes = std::array<CodeWord, 65536>;
constexpr unsigned too_long = 63;

class BitWriter {
 public:
  static constexpr unsigned longest_write = 56;

  explicit BitWriter(Byte* out) : next_(out) {}

  // At most longest_write bits; writes eight bytes, of which the complete ones stay.
  void write(std::uint64_t bits, unsigned count) {
    bits_ |= bits << count_;
    count_ += count;
    const std::uint64_t stored =
        std::endian::native == std::endian::big ? __builtin_bswap64(bits_) : bits_;
    std::memcpy(next_, &stored, sizeof(stored));
    next_ += count_ / 8;
    bits_ >>= count_ & ~7U;
    count_ &= 7U;
  }
  void write(CodeWord word) { write(word.bits(), word.length()); }
  void fill_byte() { write(0, (8 - count_) % 8); }

  [[nodiscard]] Byte* next() const { return next_; }

 private:
  Byte* next_;
  std::uint64_t bits_ = 0;
  unsigned count_ = 0;  // below 8
};

struct BlockCode {
  std::array<CodeWord, 256> literals;
  std::array<CodeWord, longest_match + 1> matches;  // with the distance
  CodeWord end;
};

BlockCode block_code(const CodeLengths& lengths) {
  const auto code = canonical_code(lengths);
  BlockCode result;
  for (std::size_t i = 0; i < 256; ++i)
    result.literals[i] = {code[i], lengths[i]};
  for (std::size_t length = shortest_match; length <= longest_match; ++length) {
    const LengthSymbol& symbol = length_symbols[length];
    const unsigned bits = lengths[symbol.symbol];
    constexpr unsigned distance_bits = 1;  // of the only one, whose code is 0
    result.matches[length] = {code[symbol.symbol] | static_cast<std::uint32_t>(symbol.extra)
                                                        << bits,
                              bits + symbol.extra_bits + distance_bits};
  }
  result.end = {code[end_of_block], lengths[end_of_block]};
  return result;
}

std::uint64_t reversed_nibble(unsigned nibble) {
  return (nibble & 1U) << 3U | (nibble & 2U) << 1U | (nibble & 4U) >> 1U | (nibble & 8U) >> 3U;
}

// RFC 1951, 3.2.7. Each length is written as four bits: no code for lengths would save more than
// a hundred bytes.
void write_description(BitWriter& writer, const CodeLengths& lengths, bool final) {
  constexpr unsigned dynamic = 2;
  constexpr unsigned length_codes = 19;
  writer.write(final ? 1 : 0, 1);
  writer.write(dynamic, 2);
  writer.write(deflate_symbols - 257, 5);
  writer.write(0, 5);  // one distance
  writer.write(length_codes - 4, 4);
  for (unsigned i = 0; i < length_codes; ++i)
    writer.write(i < 3 ? 0 : 4, 3);  // the first three are for repetitions
  for (const std::uint8_t length : lengths)
    writer.write(reversed_nibble(length), 4);
  writer.write(reversed_nibble(1), 4);
}

void fill_pairs(const std::array<CodeWord, 256>& code, PairCodes& pairs) {
  for (std::size_t second = 0; second < code.size(); ++second) {
    const CodeWord next = code[second];
    CodeWord* row = &pairs[second * code.size()];
    for (std::size_t first = 0; first < code.size(); ++first) {
      const unsigned first_length = code[first].length();
      const unsigned length = first_length + next.length();
      const auto bits =
          static_cast<std::uint32_t>(code[first].bits() | next.bits() << first_length);
      row[first] = length <= CodeWord::longest ? CodeWord(bits, length) : CodeWord(0, too_long);
    }
  }
}

void write_group(BitWriter& writer, const PairCodes& pairs, const BlockCode& code,
                 const Byte* bytes) {
  const std::uint64_t all = load_group(bytes);
  const CodeWord a = pairs[all & 0xffffU];
  const CodeWord b = pairs[all >> 16U & 0xffffU];
  const CodeWord c = pairs[all >> 32U & 0xffffU];
  const CodeWord d = pairs[all >> 48U];
  const std::uint32_t ab_lengths = a.word() + b.word();
  const unsigned length = (ab_lengths + c.word() + d.word()) & 255U;
  if (length <= BitWriter::longest_write) [[likely]] {
    const std::uint64_t ab = a.bits() | b.bits() << (a.word() & 63U);
    const std::uint64_t cd = c.bits() | d.bits() << (c.word() & 63U);
    writer.write(ab | cd << (ab_lengths & 63U), length);
  } else {
    for (int i = 0; i < group; ++i)
      writer.write(code.literals[bytes[i]]);
  }
}

GPUFILTER_CLONES
void write_coded(BitWriter& shared_writer, PairCodes& pairs, std::span<const Byte> block,
                 bool has_before, bool final) {
  const CodeLengths lengths = code_lengths(sample_symbols(block));
  const BlockCode code = block_code(lengths);
  fill_pairs(code.literals, pairs);
  BitWriter writer = shared_writer;  // in registers
  write_description(writer, lengths, final);
  walk(
      block, has_before, [&](const Byte* bytes) { write_group(writer, pairs, code, bytes); },
      [&](Byte byte) { writer.write(code.literals[byte]); },
      [&](std::size_t length) { writer.write(code.matches[length]); });
  writer.write(code.end);
  shared_writer = writer;
}

void write_stored_head(BitWriter& writer, std::size_t size, bool final) {
  writer.write(final ? 1 : 0, 3);
  writer.fill_byte();
  writer.write(size | (~size & 0xffffU) << 16U, 32);
}

void write_stored(BitWriter& writer, std::span<const Byte> block, bool final) {
  constexpr std::size_t longest = 65535;
  do {
    const auto part = block.first(std::min(longest, block.size()));
    block = block.subspan(part.size());
    write_stored_head(writer, part.size(), final && block.empty());
    for (const Byte byte : part)
      writer.write(byte, 8);
  } while (!block.empty());
}

// A block is stored where its code makes it longer, as one can that was made from a part unlike the
// rest.
void write_block(BitWriter& writer, PairCodes& pairs, std::span<const Byte> block, bool has_before,
                 bool final) {
  const BitWriter before = writer;
  write_coded(writer, pairs, block, has_before, final);
  const auto size = static_cast<std::size_t>(writer.next() - before.next());
  if (size <= block.size()) return;
  writer = before;
  write_stored(writer, block, final);
}

}  // namespace

struct HuffmanDeflater::State {
  PairCodes pairs;
  ScratchBytes deflated;
};

HuffmanDeflater::HuffmanDeflater() : state_(std::make_unique<State>()) {}
HuffmanDeflater::~HuffmanDeflater() = default;

std::span<const Byte> HuffmanDeflater::deflate(std::span<const Byte> data, bool last) {
  const std::size_t blocks = std::max<std::size_t>((data.size() + block_size - 1) / block_size, 1);
  // The block at work may take almost twice its size, with its description, before it is stored.
  state_->deflated.reserve(data.size() + blocks * block_overhead + 2 * block_size + 256);
  BitWriter writer(state_->deflated.data());
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t begin = i * block_size;
    const auto block = data.subspan(begin, std::min(block_size, data.size() - begin));
    write_block(writer, state_->pairs, block, begin > 0, last && i + 1 == blocks);
  }
  if (last) {
    writer.fill_byte();
  } else {
    write_stored_head(writer, 0, false);
  }
  return {state_->deflated.data(), static_cast<std::size_t>(writer.next() - state_->deflated.data())};
}

}  // namespace gpufilter
