#include <algorithm>
#include <bit>

#include "base/byte_cursor.hpp"
#include "codec/deflate/deflaters.hpp"
#include "codec/deflate/format.hpp"
#include "host/loops.hpp"

namespace gpufilter {
namespace {

using Byte = std::uint8_t;

// Short enough that one code suits the whole block, long enough that the size of its description
// does not matter.
constexpr std::size_t block_size = std::size_t{512} << 10U;

constexpr std::ptrdiff_t group = 8;  // bytes that are processed together

// The number of bytes from `begin` on that equal the byte before it.
[[gnu::always_inline]] inline std::size_t run_length(const Byte* begin, const Byte* end) {
  const Byte* at = begin;
  for (; end - at >= group; at += group) {
    const std::uint64_t unequal = load_le64(at) ^ load_le64(at - 1);
    if (unequal != 0) {
      at += std::countr_zero(unequal) / 8;
      return static_cast<std::size_t>(at - begin);
    }
  }
  while (at < end && *at == at[-1])
    ++at;
  return static_cast<std::size_t>(at - begin);
}

// Calls on_match(length) for each match that a run of `run` bytes is written as. A run has at least
// `group` bytes.
template <typename OnMatch>
[[gnu::always_inline]] inline void split_run(std::size_t run, const OnMatch& on_match) {
  while (run > 0) {
    std::size_t length = std::min(run, longest_match);
    if (run > length && run - length < shortest_match) length -= shortest_match;
    on_match(length);
    run -= length;
  }
}

// Splits `block` into literals and runs, in its order: calls on_group(bytes) for eight literals,
// on_literal(byte) for one, and on_match(length) for bytes that equal the one before them.
// `has_before`: block[-1] belongs to the same stream, so that a run can begin with the first byte.
template <typename OnGroup, typename OnLiteral, typename OnMatch>
[[gnu::always_inline]] inline void split_block(std::span<const Byte> block, bool has_before,
                                               const OnGroup& on_group, const OnLiteral& on_literal,
                                               const OnMatch& on_match) {
  const Byte* at = block.data();
  const Byte* const end = at + block.size();
  if (!has_before && at < end) on_literal(*at++);
  while (end - at >= group) {
    if (load_le64(at) != load_le64(at - 1)) [[likely]] {
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

// Counts the symbols for the first `part` bytes of every `interval` bytes.
[[gnu::always_inline]] inline SymbolCounts count_symbols(std::span<const Byte> block,
                                                         std::size_t part, std::size_t interval) {
  // Neighbours are often equal. Four tables keep increments of one counter from waiting for each
  // other.
  std::array<std::array<std::uint32_t, 256>, 4> literals{};
  SymbolCounts counts{};
  for (std::size_t begin = 0; begin < block.size(); begin += interval) {
    split_block(
        block.subspan(begin, std::min(part, block.size() - begin)), begin > 0,
        [&](const Byte* bytes) __attribute__((always_inline)) {
          std::uint64_t rest = load_le64(bytes);
          for (int i = 0; i < group; ++i, rest >>= 8U)
            ++literals[static_cast<std::size_t>(i % 4)][rest & 0xffU];
        },
        [&](Byte byte) __attribute__((always_inline)) { ++counts[byte]; },
        [&](std::size_t length)
            __attribute__((always_inline)) { ++counts[length_symbols[length].symbol]; });
  }
  for (const auto& table : literals) {
    for (std::size_t i = 0; i < table.size(); ++i)
      counts[i] += table[i];
  }
  ++counts[end_of_block];
  return counts;
}

// A code for the block, made from an eighth of it: hardly less efficient than one made from all.
// Symbols that do not occur in that part get codes as well, since they may occur elsewhere.
[[gnu::always_inline]] inline CodeLengths sampled_code(std::span<const Byte> block) {
  constexpr std::size_t part = 512;
  constexpr std::size_t interval = 8 * part;
  constexpr std::uint32_t scale = 4;  // weight of an occurrence; every symbol has 1 in addition
  SymbolCounts counts = count_symbols(block, part, interval);
  for (std::uint32_t& count : counts)
    count = count * scale + 1;
  CodeLengths lengths{};
  make_code_lengths(counts, longest_code, lengths);
  return lengths;
}

// Runs have the distance 1 only. Its code is the single bit 0.
constexpr unsigned distance_bits = 1;

// The codes of two successive bytes together, which halves the number of look-ups. The index is the
// first byte + 256 * the second one. If both codes do not fit into a word, the length is too_long.
using PairCodes = std::array<CodeWord, 65536>;
constexpr unsigned too_long = 63;

struct BlockCode {
  std::array<CodeWord, 256> literals;
  std::array<CodeWord, longest_match + 1> matches;  // length and distance
  CodeWord end;
};

[[gnu::always_inline]] inline BlockCode block_code(const CodeLengths& lengths) {
  std::array<std::uint16_t, literal_symbols> codes{};
  make_codes(lengths, codes);
  BlockCode result;
  for (std::size_t i = 0; i < 256; ++i)
    result.literals[i] = {codes[i], lengths[i]};
  for (std::size_t length = shortest_match; length <= longest_match; ++length) {
    const ExtendedSymbol& symbol = length_symbols[length];
    const unsigned bits = lengths[symbol.symbol];
    result.matches[length] = {codes[symbol.symbol] | std::uint32_t{symbol.extra} << bits,
                              bits + symbol.extra_bits + distance_bits};
  }
  result.end = {codes[end_of_block], lengths[end_of_block]};
  return result;
}

// The number of bits after each symbol: a length's extra bits and the distance.
constexpr auto following_bits = [] {
  std::array<std::uint8_t, literal_symbols> bits{};
  for (std::size_t length = shortest_match; length <= longest_match; ++length) {
    const ExtendedSymbol& symbol = length_symbols[length];
    bits[symbol.symbol] = static_cast<std::uint8_t>(symbol.extra_bits + distance_bits);
  }
  return bits;
}();

[[gnu::always_inline]] inline void fill_pairs(const std::array<CodeWord, 256>& code,
                                              PairCodes& pairs) {
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

[[gnu::always_inline]] inline void write_group(BitWriter& writer, const PairCodes& pairs,
                                               const BlockCode& code, const Byte* bytes) {
  const std::uint64_t all = load_le64(bytes);
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

struct WriteCoded {
  template <InstructionSet>
  [[gnu::always_inline]] static void run(BitWriter* shared_writer, PairCodes* pairs,
                                         std::span<const Byte> block, bool has_before, bool final) {
    const CodeLengths lengths = sampled_code(block);
    const BlockCode code = block_code(lengths);
    fill_pairs(code.literals, *pairs);
    constexpr std::array<std::uint8_t, 1> distance_lengths{1};
    begin_coded_block(*shared_writer, lengths, distance_lengths, final);
    BitWriter writer = *shared_writer;  // in registers
    split_block(
        block, has_before,
        [&](const Byte* bytes)
            __attribute__((always_inline)) { write_group(writer, *pairs, code, bytes); },
        [&](Byte byte) __attribute__((always_inline)) { writer.write(code.literals[byte]); },
        [&](std::size_t length)
            __attribute__((always_inline)) { writer.write(code.matches[length]); });
    writer.write(code.end);
    *shared_writer = writer;
  }
};

// Stores the block unchanged if the code makes it longer, as can happen if the sampled part is
// unlike the rest.
void write_block(BitWriter& writer, PairCodes& pairs, std::span<const Byte> block, bool has_before,
                 bool final) {
  const BitWriter before = writer;
  run_loop<WriteCoded>(&writer, &pairs, block, has_before, final);
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
  // A block may take almost twice its size before it is stored instead.
  state_->deflated.reserve(data.size() + blocks * (block_size / 65535 + 2) * stored_overhead +
                           2 * block_size + max_description);
  BitWriter writer(state_->deflated.data());
  for (std::size_t i = 0; i < blocks; ++i) {
    const std::size_t begin = i * block_size;
    const auto block = data.subspan(begin, std::min(block_size, data.size() - begin));
    write_block(writer, state_->pairs, block, begin > 0, last && i + 1 == blocks);
  }
  return end_stream(writer, last, state_->deflated.data());
}

std::size_t HuffmanDeflater::estimated_size(std::span<const Byte> data) {
  const SymbolCounts counts =
      count_symbols(data, data.size(), std::max<std::size_t>(data.size(), 1));
  CodeLengths lengths{};
  make_code_lengths(counts, longest_code, lengths);
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < counts.size(); ++i)
    bits += std::uint64_t{counts[i]} * (lengths[i] + following_bits[i]);
  return bits / 8;
}

}  // namespace gpufilter
