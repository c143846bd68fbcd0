#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "base/byte_cursor.hpp"
#include "codec/deflate/deflaters.hpp"
#include "codec/deflate/format.hpp"

namespace gpufilter {
namespace {

struct Match {
  std::size_t length = 0;  // below shortest_match: none
  std::size_t distance = 0;
};

// How many bytes are equal from `here` and from `there` on, at most `longest`; the first `length`
// are known to be.
std::size_t common_length(const std::uint8_t* here, const std::uint8_t* there, std::size_t length,
                          std::size_t longest) {
  for (; length + 8 <= longest; length += 8) {
    const std::uint64_t unequal = load_le64(there + length) ^ load_le64(here + length);
    if (unequal != 0) return length + static_cast<std::size_t>(std::countr_zero(unequal)) / 8;
  }
  while (length < longest && there[length] == here[length])
    ++length;
  return length;
}

// Tries the pixel above, and the last positions whose next 32, 16, 8 or 4 bytes have the same hash.
// Most finders follow a chain of positions with equal short hashes, which takes long in drawings.
// Long hashes lead to long matches directly.
class MatchFinder {
 public:
  // Bytes at the end of the data at which no match is searched.
  static constexpr std::size_t blind_end = 32;

  // `data` is below 4 GiB. `row` is the number of bytes from a pixel to the one below.
  void start(std::span<const std::uint8_t> data, std::size_t row) {
    data_ = data;
    row_ = row;
    tables_ = {};
  }

  // The longest of the matches that are tried for the bytes at `at`. Inserts `at`. Requires
  // at + blind_end <= data.size().
  [[nodiscard]] Match find(std::size_t at) {
    const Places places = places_of(at);
    Search search(data_, at);
    for (const std::uint32_t place : places.of_32)
      search.try_long(at - place);
    for (const std::uint32_t place : places.of_16)
      search.try_long(at - place);
    search.try_long(row_);
    if (search.best().length == 0)
      search.try_short({at - places.of_8, at - places.of_4[0], at - places.of_4[1]});
    places.insert(at);
    return search.best();
  }

  // Makes `at` a position that later calls of find() can return.
  void insert(std::size_t at) { places_of(at).insert(at); }

 private:
  // The last two positions with a hash, latest first.
  using Pair = std::array<std::uint32_t, 2>;

  // The last positions by hash. Unused entries are 0, a valid position: every match is compared
  // anyway.
  struct Tables {
    std::array<Pair, std::size_t{1} << 14U> of_4;
    std::array<std::uint32_t, std::size_t{1} << 13U> of_8;
    std::array<Pair, std::size_t{1} << 13U> of_16;
    std::array<Pair, std::size_t{1} << 13U> of_32;
  };

  // The entries for the hashes of one position.
  struct Places {
    Pair& of_4;
    std::uint32_t& of_8;
    Pair& of_16;
    Pair& of_32;

    void insert(std::size_t at) const {
      const auto place = static_cast<std::uint32_t>(at);
      of_4 = {place, of_4[0]};
      of_8 = place;
      of_16 = {place, of_16[0]};
      of_32 = {place, of_32[0]};
    }
  };

  [[nodiscard]] Places places_of(std::size_t at) {
    // Odd numbers with irregular bits: products spread each bit to the higher ones.
    constexpr std::uint64_t multiplier = 0x9E3779B185EBCA87U;
    constexpr std::uint64_t second_multiplier = 0xC2B2AE3D27D4EB4FU;
    constexpr int half = 29;  // bits, about half of a word
    const std::uint8_t* bytes = data_.data() + at;
    const std::uint64_t word = load_le64(bytes);
    const std::uint64_t hash_8 = word * multiplier;
    const std::uint64_t hash_16 =
        (hash_8 ^ std::rotl(load_le64(bytes + 8) * second_multiplier, half)) * multiplier;
    const std::uint64_t second_half = load_le64(bytes + 16) * second_multiplier ^
                                      std::rotl(load_le64(bytes + 24) * multiplier, half);
    const std::uint64_t hash_32 = (hash_16 ^ std::rotl(second_half, half)) * multiplier;
    return {entry(tables_.of_4, (word << 32U) * multiplier), entry(tables_.of_8, hash_8),
            entry(tables_.of_16, hash_16), entry(tables_.of_32, hash_32)};
  }

  template <typename Entry, std::size_t size>
  static Entry& entry(std::array<Entry, size>& table, std::uint64_t hash) {
    return table[hash >> (65U - std::bit_width(size))];
  }

  class Search {
   public:
    Search(std::span<const std::uint8_t> data, std::size_t at)
        : here_(data.data() + at),
          next_(load_le64(here_)),
          farthest_(std::min(at, longest_distance)),
          longest_(std::min(longest_match, data.size() - at)) {}

    // Takes the match at this distance if it has at least 16 bytes and is the longest so far.
    void try_long(std::size_t distance) {
      if (distance - 1 >= farthest_ || best_.length == longest_) return;
      const std::uint8_t* there = here_ - distance;
      if (load_le64(there) != next_ || load_le64(there + 8) != load_le64(here_ + 8) ||
          there[best_.length] != here_[best_.length])
        return;
      const std::size_t length = common_length(here_, there, 16, longest_);
      if (length > best_.length) best_ = {length, distance};
    }

    // Takes the longest match at these distances, without branches, which would be unpredictable.
    void try_short(std::array<std::size_t, 3> distances) {
      std::size_t best = 0;  // the length in the upper bits; the lower ones prefer short distances
      for (const std::size_t distance : distances) {
        const bool exists = distance - 1 < farthest_;
        const std::uint64_t unequal = next_ ^ load_le64(here_ - (exists ? distance : 0));
        const auto length = static_cast<std::size_t>(std::countr_zero(unequal)) / 8;
        const std::size_t value = length << 16U | (longest_distance - distance);
        best = std::max(best, exists ? value : 0);
      }
      best_ = {best >> 16U, longest_distance - (best & 0xffffU)};
      if (best_.length == 8)
        best_.length = common_length(here_, here_ - best_.distance, 8, longest_);
    }

    [[nodiscard]] const Match& best() const { return best_; }

   private:
    const std::uint8_t* here_;
    std::uint64_t next_;  // bytes
    std::size_t farthest_;
    std::size_t longest_;
    Match best_;
  };

  std::span<const std::uint8_t> data_;
  std::size_t row_ = 0;
  Tables tables_;
};

// Tries the last position with the same two pixels or, if there is none, with the same single
// pixel.
class PixelFinder {
 public:
  static constexpr std::size_t pixel = MatchDeflater::pixel;

  // Bytes at the end of the data at which no match is searched.
  static constexpr std::size_t blind_end = 8;

  void start(std::span<const std::uint8_t> data) {
    data_ = data;
    of_one_ = {};
    of_two_ = {};
  }

  // A match of whole pixels at `at` that ends at `end` at the latest. Inserts `at`. Requires at <
  // end and at + blind_end <= data.size().
  [[nodiscard]] Match find(std::size_t at, std::size_t end) {
    const std::uint8_t* here = data_.data() + at;
    const std::uint64_t next = load_le64(here);
    const Places places = places_of(next);
    const std::size_t of_two = static_cast<Place>(at - places.of_two);
    const std::size_t of_one = static_cast<Place>(at - places.of_one);
    places.insert(at);
    const std::size_t farthest = std::min(at, longest_distance);
    const bool two = of_two - 1 < farthest && (next ^ load_le64(here - of_two)) << 16U == 0;
    const std::size_t distance = two ? of_two : of_one;
    if (distance - 1 >= farthest) return {};
    const std::uint64_t unequal = next ^ load_le64(here - distance);
    if (unequal << 40U != 0) return {};
    const std::size_t longest = std::min(longest_match, end - at);
    const std::size_t length = unequal != 0
                                   ? static_cast<std::size_t>(std::countr_zero(unequal)) / 8
                                   : common_length(here, here - distance, 8, longest);
    return {std::min(length, longest) / pixel * pixel, distance};
  }

  // Makes `at` a position that later calls of find() can return. Requires at + blind_end <=
  // data.size().
  void insert(std::size_t at) { places_of(load_le64(data_.data() + at)).insert(at); }

 private:
  // A position modulo 64 KiB, twice the distance that a match may have. Positions are compared
  // before use, so outdated and unused ones are harmless.
  using Place = std::uint16_t;

  struct Places {
    Place& of_one;
    Place& of_two;

    void insert(std::size_t at) const {
      of_one = static_cast<Place>(at);
      of_two = static_cast<Place>(at);
    }
  };

  // The entries for a position whose next eight bytes are `next`.
  Places places_of(std::uint64_t next) {
    constexpr std::uint64_t multiplier = 0x9E3779B185EBCA87U;  // odd, with irregular bits
    return {of_one_[(next << 40U) * multiplier >> (65U - std::bit_width(of_one_.size()))],
            of_two_[(next << 16U) * multiplier >> (65U - std::bit_width(of_two_.size()))]};
  }

  std::span<const std::uint8_t> data_;
  std::array<Place, std::size_t{1} << 12U> of_one_{};
  std::array<Place, std::size_t{1} << 13U> of_two_{};
};

using Byte = std::uint8_t;

// Literals and the match that follows them.
struct Sequence {
  std::uint32_t literals = 0;
  std::uint16_t length = 0;
  std::uint16_t distance = 0;  // minus 1
};

// Estimated bits of symbols by the previous block's code: matches are chosen before the code of
// their own block is known.
class Costs {
 public:
  // For the first block.
  Costs() { literals_.fill(6); }

  void set_literal(std::size_t byte, unsigned bits) {
    literals_.at(byte) = static_cast<std::uint8_t>(bits);
  }
  void set_average_literal(unsigned bits) { average_literal_ = bits; }

  // The cost of these bytes as literals. Only the first are looked up; the others are assumed to be
  // average.
  [[nodiscard]] int of_literals(const Byte* bytes, std::size_t count) const {
    constexpr std::size_t looked_up = 8;
    unsigned bits = 0;
    for (std::size_t i = 0; i < std::min(count, looked_up); ++i)
      bits += literals_[bytes[i]];
    if (count > looked_up) bits += static_cast<unsigned>(count - looked_up) * average_literal_;
    return static_cast<int>(bits);
  }

  // The cost of a match, roughly: symbols for length and distance, and the distance's extra bits.
  static int of_match(const Match& match) {
    constexpr int symbol_bits = 9;
    return symbol_bits + static_cast<int>(std::bit_width(match.distance - 1));
  }

 private:
  std::array<std::uint8_t, 256> literals_{};
  unsigned average_literal_ = 4;
};

// Collects the sequences of a block; then makes their code and writes it.
class Block {
 public:
  // Longer blocks need fewer descriptions of codes, shorter ones adapt to changes in the picture.
  static constexpr std::size_t max_sequences = 16384;
  static constexpr std::size_t max_size = std::size_t{256} << 10U;  // bytes; a match may exceed it

  Block() { sequences_.reserve(max_sequences); }

  [[nodiscard]] bool is_full() const {
    return sequences_.size() >= max_sequences || size_ >= max_size;
  }

  // The match follows `literals` bytes that become literals.
  void add(std::size_t literals, const Match& match) {
    sequences_.push_back({static_cast<std::uint32_t>(literals),
                          static_cast<std::uint16_t>(match.length),
                          static_cast<std::uint16_t>(match.distance - 1)});
    size_ += literals + match.length;
  }

  // Bytes of the descriptions of codes since the last call.
  std::size_t take_described() { return std::exchange(described_, 0); }

  // Writes the block and empties it. `bytes` holds the sequences, then literals. Updates the costs
  // by the block's code.
  void write(BitWriter& writer, std::span<const Byte> bytes, bool final, Costs& costs) {
    const BitWriter before = writer;
    make_code(bytes);
    begin_coded_block(writer, lengths_, distance_lengths_, final);
    described_ += static_cast<std::size_t>(writer.next() - before.next());
    write_symbols(writer, bytes.data(), bytes.data() + bytes.size());
    const auto written = static_cast<std::size_t>(writer.next() - before.next());
    if (written > bytes.size()) {
      writer = before;
      write_stored(writer, bytes, final);
    }
    estimate(costs);
    sequences_.clear();
    size_ = 0;
  }

 private:
  void make_code(std::span<const Byte> bytes) {
    counts_ = {};
    distance_counts_ = {};
    ++counts_[end_of_block];
    const Byte* at = bytes.data();
    for (const Sequence& sequence : sequences_) {
      count_literals(at, sequence.literals);
      at += sequence.literals + sequence.length;
      ++counts_[length_symbols[sequence.length].symbol];
      ++distance_counts_[distance_symbol(sequence.distance + std::size_t{1}).symbol];
    }
    count_literals(at, static_cast<std::size_t>(bytes.data() + bytes.size() - at));
    make_code_lengths(counts_, longest_code, lengths_);
    make_code_lengths(distance_counts_, longest_code, distance_lengths_);
    std::array<std::uint16_t, literal_symbols> codes{};
    make_codes(lengths_, codes);
    for (std::size_t i = 0; i < codes.size(); ++i)
      words_[i] = {codes[i], lengths_[i]};
    std::array<std::uint16_t, distance_symbols> distance_codes{};
    make_codes(distance_lengths_, distance_codes);
    for (std::size_t i = 0; i < distance_codes.size(); ++i)
      distance_words_[i] = {distance_codes[i], distance_lengths_[i]};
  }

  void count_literals(const Byte* bytes, std::size_t count) {
    for (std::size_t i = 0; i < count; ++i)
      ++counts_[bytes[i]];
  }

  void write_symbols(BitWriter& shared_writer, const Byte* at, const Byte* end) const {
    BitWriter writer = shared_writer;  // in registers
    for (const Sequence& sequence : sequences_) {
      write_literals(writer, at, sequence.literals);
      at += sequence.literals + sequence.length;
      const ExtendedSymbol& length = length_symbols[sequence.length];
      const CodeWord length_word = words_[length.symbol];
      std::uint64_t bits = length_word.bits();
      unsigned count = length_word.length();
      bits |= std::uint64_t{length.extra} << count;
      count += length.extra_bits;
      const ExtendedSymbol distance = distance_symbol(sequence.distance + std::size_t{1});
      const CodeWord distance_word = distance_words_[distance.symbol];
      bits |= distance_word.bits() << count;
      count += distance_word.length();
      bits |= std::uint64_t{distance.extra} << count;
      writer.write(bits, count + distance.extra_bits);
    }
    write_literals(writer, at, static_cast<std::size_t>(end - at));
    writer.write(words_[end_of_block]);
    shared_writer = writer;
  }

  void write_literals(BitWriter& writer, const Byte* bytes, std::size_t count) const {
    for (; count >= 3; count -= 3, bytes += 3) {
      const CodeWord a = words_[bytes[0]];
      const CodeWord b = words_[bytes[1]];
      const CodeWord c = words_[bytes[2]];
      const unsigned ab_length = a.length() + b.length();
      writer.write(a.bits() | b.bits() << a.length() | c.bits() << ab_length,
                   ab_length + c.length());
    }
    for (; count > 0; --count)
      writer.write(words_[*bytes++]);
  }

  void estimate(Costs& costs) const {
    constexpr unsigned unseen_bits = 12;  // of a byte that was not a literal in this block
    std::uint64_t total = 0;
    std::uint64_t count = 1;
    for (std::size_t i = 0; i < 256; ++i) {
      costs.set_literal(i, lengths_[i] > 0 ? lengths_[i] : unseen_bits);
      total += std::uint64_t{counts_[i]} * lengths_[i];
      count += counts_[i];
    }
    costs.set_average_literal(static_cast<unsigned>(total / count));
  }

  std::vector<Sequence> sequences_;
  std::size_t size_ = 0;       // bytes
  std::size_t described_ = 0;  // bytes of descriptions
  SymbolCounts counts_{};
  CodeLengths lengths_{};
  std::array<CodeWord, literal_symbols> words_;
  std::array<std::uint32_t, distance_symbols> distance_counts_{};
  std::array<std::uint8_t, distance_symbols> distance_lengths_{};
  std::array<CodeWord, distance_symbols> distance_words_;
};

// The number of positions at the beginning and at the end of a match that later searches can find.
// Positions between them seldom lead to better matches.
constexpr std::size_t inserted_at_begin = 32;
constexpr std::size_t inserted_at_end = 8;

// After this many successive positions without a match, only every second position is searched;
// after twice as many, every third one, and so on.
constexpr std::size_t patience = 64;

// Adds sequences to a block, and writes the block whenever it is full.
class BlockStream {
 public:
  BlockStream(Block& block, Costs& costs, std::span<const Byte> data, Byte* out)
      : block_(block), costs_(costs), data_(data), writer_(out) {}

  [[nodiscard]] const Byte* bytes_at(std::size_t position) const { return data_.data() + position; }
  [[nodiscard]] bool saves_something(std::size_t at, const Match& match) const {
    return costs_.of_literals(bytes_at(at), match.length) > Costs::of_match(match);
  }
  // Adds a match at `at`. The bytes between the last match and `at` become literals.
  void add(std::size_t at, const Match& match) {
    block_.add(at - literals_begin_, match);
    literals_begin_ = at + match.length;
    if (block_.is_full()) write_block(literals_begin_, false);
  }
  // Says that no match begins before `at`.
  void skip_to(std::size_t at) {
    if (at - literals_begin_ >= Block::max_size) write_block(at, false);
  }
  BitWriter& finish(bool last) {
    write_block(data_.size(), last);
    return writer_;
  }

 private:
  void write_block(std::size_t end, bool final) {
    block_.write(writer_, data_.subspan(block_begin_, end - block_begin_), final, costs_);
    block_begin_ = end;
    literals_begin_ = end;
  }

  Block& block_;
  Costs& costs_;
  std::span<const Byte> data_;
  BitWriter writer_;
  std::size_t literals_begin_ = 0;  // those since the last match
  std::size_t block_begin_ = 0;
};

// Adds the matches of any bytes that the finder finds. Returns the number of positions searched.
std::size_t find_matches(MatchFinder& finder, std::size_t size, BlockStream& stream) {
  const std::size_t searchable = size - std::min(size, MatchFinder::blind_end);
  std::size_t searches = 0;
  std::size_t misses = 0;
  for (std::size_t at = 0; at < searchable;) {
    ++searches;
    const Match match = finder.find(at);
    if (match.length < shortest_match || !stream.saves_something(at, match)) {
      at = std::min(at + 1 + misses++ / patience, size);
      stream.skip_to(at);
      continue;
    }
    misses = 0;
    stream.add(at, match);
    std::size_t next = at + 1;  // find() has inserted the first position
    at += match.length;
    const std::size_t end = std::min(at, searchable);
    for (const std::size_t begin = next; next < std::min(end, begin + inserted_at_begin); ++next)
      finder.insert(next);
    for (next = std::max(next, end - std::min(end, inserted_at_end)); next < end; ++next)
      finder.insert(next);
  }
  return searches;
}

// Adds matches of whole pixels in rows of `row` bytes, each of which begins with the filter's
// number. Returns the number of positions searched.
std::size_t find_pixels(PixelFinder& finder, std::size_t size, std::size_t row,
                        BlockStream& stream) {
  constexpr std::size_t pixel = PixelFinder::pixel;
  const std::size_t searchable = size - std::min(size, PixelFinder::blind_end);
  std::size_t searches = 0;
  for (std::size_t row_begin = 0; row_begin < size; row_begin += row) {
    const std::size_t row_end = std::min(row_begin + row, size);
    const std::size_t end = std::min(row_end, searchable);
    for (std::size_t at = row_begin + 1; at < end;) {
      ++searches;
      const Match match = finder.find(at, row_end);
      if (match.length == 0 || !stream.saves_something(at, match)) {
        at += pixel;
        stream.skip_to(std::min(at, row_end));
        continue;
      }
      stream.add(at, match);
      const std::size_t inserted = std::min(end, at + std::min(match.length, inserted_at_begin));
      for (std::size_t next = at + pixel; next < inserted; next += pixel)
        finder.insert(next);
      at += match.length;
    }
  }
  return searches;
}

}  // namespace

struct MatchDeflater::State {
  MatchFinder finder;
  PixelFinder pixel_finder;
  Block block;
  Costs costs;
  ScratchBytes deflated;
  Statistics statistics;

  // find(stream) adds matches to the stream and returns the number of positions searched.
  template <typename Find>
  std::span<const Byte> deflate(std::span<const Byte> data, bool last, const Find& find) {
    deflated.reserve(2 * data.size() + max_description + stored_overhead);
    costs = {};
    BlockStream stream(block, costs, data, deflated.data());
    statistics.positions = find(stream);
    BitWriter& writer = stream.finish(last);
    statistics.described = block.take_described();
    return end_stream(writer, last, deflated.data());
  }
};

MatchDeflater::MatchDeflater() : state_(std::make_unique<State>()) {}
MatchDeflater::~MatchDeflater() = default;

const MatchDeflater::Statistics& MatchDeflater::statistics() const {
  return state_->statistics;
}

std::span<const Byte> MatchDeflater::deflate(std::span<const Byte> data, std::size_t row,
                                             bool last) {
  State& state = *state_;
  state.finder.start(data, row);
  return state.deflate(data, last, [&](BlockStream& stream) {
    return find_matches(state.finder, data.size(), stream);
  });
}

std::span<const Byte> MatchDeflater::deflate_pixels(std::span<const Byte> data, std::size_t row,
                                                    bool last) {
  State& state = *state_;
  state.pixel_finder.start(data);
  return state.deflate(data, last, [&](BlockStream& stream) {
    return find_pixels(state.pixel_finder, data.size(), row, stream);
  });
}

}  // namespace gpufilter
