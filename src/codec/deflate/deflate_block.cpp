#include "codec/deflate/deflate_block.hpp"

#include <algorithm>
#include <utility>

#include "codec/deflate/huffman_code.hpp"

namespace gpufilter {
namespace {

// Longer blocks save headers, shorter ones follow changes in the picture. zlib has as many.
constexpr std::size_t symbols_a_block = 16384;

constexpr std::size_t end_of_block = 256;
constexpr std::size_t first_length = 257;
constexpr int longest_code = 15;
constexpr int longest_meta_code = 7;  // of code lengths

constexpr std::size_t longest_stored_block = 65535;

// What lengths and distances share a symbol: those from `base` on, told apart by `extra` bits.
struct Group {
  std::uint16_t base;
  std::uint8_t extra;
};

// Each group begins where the one before ends. The first ones have no extra bits, those behind one
// bit more with every `of_a_kind` groups.
template <std::size_t count>
constexpr std::array<Group, count> groups(unsigned first, unsigned of_a_kind) {
  std::array<Group, count> result{};
  unsigned base = first;
  for (unsigned i = 0; i < count; ++i) {
    const unsigned extra = i < 2 * of_a_kind ? 0 : i / of_a_kind - 1;
    result[i] = {static_cast<std::uint16_t>(base), static_cast<std::uint8_t>(extra)};
    base += 1U << extra;
  }
  return result;
}

constexpr std::array<Group, 29> length_groups = [] {
  auto result = groups<29>(3, 4);
  result[28] = {longest_match, 0};  // the longest one has a symbol of its own
  return result;
}();
constexpr std::array<Group, 30> distance_groups = groups<30>(1, 2);

constexpr std::array<std::uint8_t, longest_match + 1> group_of_length = [] {
  std::array<std::uint8_t, longest_match + 1> result{};
  for (std::size_t i = 0; i < length_groups.size(); ++i) {
    for (std::size_t length = length_groups[i].base; length <= longest_match; ++length)
      result[length] = static_cast<std::uint8_t>(i);
  }
  return result;
}();

// Distances less one: the first 256, then in steps of 128.
constexpr std::array<std::uint8_t, 512> groups_of_distances = [] {
  std::array<std::uint8_t, 512> result{};
  for (std::size_t i = 0; i < distance_groups.size(); ++i) {
    const std::size_t base = distance_groups[i].base - 1U;
    for (std::size_t distance = base; distance < 256; ++distance)
      result[distance] = static_cast<std::uint8_t>(i);
    for (std::size_t step = (base + 127) / 128; step < 256; ++step)
      result[256 + step] = static_cast<std::uint8_t>(i);
  }
  return result;
}();

std::size_t group_of_distance(std::size_t distance) {
  return groups_of_distances[distance <= 256 ? distance - 1 : 256 + (distance - 1) / 128];
}

// A code, and how many bits each symbol takes.
template <std::size_t count>
struct Code {
  std::array<std::uint8_t, count> lengths{};
  std::array<std::uint16_t, count> codes{};

  Code(const std::array<std::uint32_t, count>& counts, int longest) {
    huffman_code_lengths(counts, longest, lengths);
    huffman_codes(lengths, codes);
  }
  // Without those of unused symbols at the end; of `least` at least.
  [[nodiscard]] std::span<const std::uint8_t> used_lengths(std::size_t least) const {
    std::size_t size = count;
    while (size > least && lengths[size - 1] == 0)
      --size;
    return std::span(lengths).first(size);
  }
  void put(std::size_t symbol, BitWriter& out) const { out.put(codes[symbol], lengths[symbol]); }
};

// A block's code lengths, as they are told: repetitions shortened, and coded again.
class Header {
 public:
  Header(std::span<const std::uint8_t> literals, std::span<const std::uint8_t> distances)
      : literals_(literals.size()),
        distances_(distances.size()),
        parts_(parts_of(literals, distances)),
        code_(counts(parts_), longest_meta_code) {}

  [[nodiscard]] std::uint64_t bits() const {
    std::uint64_t total = 3 + 5 + 5 + 4 + 3 * told();
    for (const Part& part : parts_)
      total += std::uint64_t(code_.lengths[part.symbol] + part.extra_bits);
    return total;
  }

  void write(bool last, BitWriter& out) const {
    out.put((last ? 1U : 0U) | dynamic_block, 3);
    out.put(literals_ - 257, 5);
    out.put(distances_ - 1, 5);
    out.put(told() - 4, 4);
    for (std::size_t i = 0; i < told(); ++i) {
      out.flush();
      out.put(code_.lengths[order[i]], 3);
    }
    for (const Part& part : parts_) {
      out.flush();
      code_.put(part.symbol, out);
      out.put(part.extra, part.extra_bits);
    }
    out.flush();
  }

 private:
  static constexpr std::size_t symbols = 19;
  static constexpr unsigned dynamic_block = 2U << 1U;
  static constexpr std::array<std::uint8_t, symbols> order{16, 17, 18, 0, 8,  7, 9,  6, 10, 5,
                                                           11, 4,  12, 3, 13, 2, 14, 1, 15};

  // A length, or a repetition of the one before, or of zeros.
  struct Part {
    std::uint8_t symbol;
    std::uint8_t extra;
    std::uint8_t extra_bits;
  };
  using Parts = std::vector<Part>;

  struct Repetition {
    std::uint8_t symbol;
    std::uint8_t bits;
    std::size_t least;
    std::size_t most;
  };
  static constexpr Repetition repeat{16, 2, 3, 6};
  static constexpr Repetition zeros{17, 3, 3, 10};
  static constexpr Repetition many_zeros{18, 7, 11, 138};

  static Parts parts_of(std::span<const std::uint8_t> literals,
                        std::span<const std::uint8_t> distances) {
    std::vector<std::uint8_t> lengths(literals.begin(), literals.end());
    lengths.insert(lengths.end(), distances.begin(), distances.end());
    Parts parts;
    for (std::size_t begin = 0; begin < lengths.size();) {
      std::size_t end = begin + 1;
      while (end < lengths.size() && lengths[end] == lengths[begin])
        ++end;
      add(parts, lengths[begin], end - begin);
      begin = end;
    }
    return parts;
  }

  // `count` times `length`.
  static void add(Parts& parts, std::uint8_t length, std::size_t count) {
    if (length > 0) {
      parts.push_back({length, 0, 0});
      --count;
    }
    while (count >= 3) {
      const Repetition& how = length > 0 ? repeat : count > zeros.most ? many_zeros : zeros;
      const std::size_t repeated = std::min(count, how.most);
      parts.push_back({how.symbol, static_cast<std::uint8_t>(repeated - how.least), how.bits});
      count -= repeated;
    }
    parts.insert(parts.end(), count, {length, 0, 0});
  }

  static std::array<std::uint32_t, symbols> counts(const Parts& parts) {
    std::array<std::uint32_t, symbols> result{};
    for (const Part& part : parts)
      ++result[part.symbol];
    return result;
  }

  // How many of `order` are told: not those at the end that are not used.
  [[nodiscard]] std::size_t told() const {
    std::size_t count = symbols;
    while (count > 4 && code_.lengths[order[count - 1]] == 0)
      --count;
    return count;
  }

  std::size_t literals_;
  std::size_t distances_;
  Parts parts_;
  Code<symbols> code_;
};

}  // namespace

struct DeflateBlock::Codes {
  Code<literals> literal;
  Code<distances> distance;
};

DeflateBlock::DeflateBlock() : symbols_(symbols_a_block) {}

void DeflateBlock::add_match(std::size_t length, std::size_t distance) {
  symbols_[size_++] = static_cast<std::uint32_t>(length << 16U | (distance - 1));
  ++literal_counts_[first_length + group_of_length[length]];
  ++distance_counts_[group_of_distance(distance)];
}

void DeflateBlock::write(std::span<const std::uint8_t> bytes, bool last, BitWriter& out) {
  literal_counts_[end_of_block] = 1;
  const Codes codes{{literal_counts_, longest_code}, {distance_counts_, longest_code}};
  const Header header(codes.literal.used_lengths(first_length), codes.distance.used_lengths(1));
  if ((header.bits() + bits(codes)) / 8 >= bytes.size()) {
    write_stored(bytes, last, out);
  } else {
    header.write(last, out);
    write_symbols(codes, out);
  }
  size_ = 0;
  literal_counts_ = {};
  distance_counts_ = {};
}

// What the symbols take, without the header.
std::uint64_t DeflateBlock::bits(const Codes& codes) const {
  std::uint64_t total = 0;
  for (std::size_t i = 0; i < literals; ++i) {
    const int extra = i < first_length ? 0 : length_groups[i - first_length].extra;
    total += std::uint64_t{literal_counts_[i]} * std::uint64_t(codes.literal.lengths[i] + extra);
  }
  for (std::size_t i = 0; i < distances; ++i) {
    total += std::uint64_t{distance_counts_[i]} *
             std::uint64_t(codes.distance.lengths[i] + distance_groups[i].extra);
  }
  return total;
}

void DeflateBlock::write_symbols(const Codes& codes, BitWriter& out) const {
  for (const std::uint32_t symbol : std::span(symbols_).first(size_)) {
    const std::size_t length = symbol >> 16U;
    if (length == 0) {
      codes.literal.put(symbol, out);
    } else {
      const std::size_t length_group = group_of_length[length];
      const Group& lengths = length_groups[length_group];
      codes.literal.put(first_length + length_group, out);
      out.put(length - lengths.base, lengths.extra);
      const std::size_t distance = (symbol & 0xffffU) + 1;
      const std::size_t distance_group = group_of_distance(distance);
      const Group& distances_alike = distance_groups[distance_group];
      codes.distance.put(distance_group, out);
      out.put(distance - distances_alike.base, distances_alike.extra);
    }
    out.flush();
  }
  codes.literal.put(end_of_block, out);
  out.flush();
}

void write_stored(std::span<const std::uint8_t> bytes, bool last, BitWriter& out) {
  do {
    const std::size_t size = std::min(bytes.size(), longest_stored_block);
    out.put(last && size == bytes.size() ? 1 : 0, 3);
    out.fill_byte();
    out.put(size, 16);
    out.put(size ^ 0xffffU, 16);
    out.flush();
    out.append(bytes.first(size));
    bytes = bytes.subspan(size);
  } while (!bytes.empty());
}

}  // namespace gpufilter
