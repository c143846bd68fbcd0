#include "codec/deflate/huffman_code.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

namespace gpufilter {
namespace {

constexpr std::size_t most_symbols = 288;
constexpr std::size_t longest_code = 15;

struct Node {
  std::uint32_t count = 0;
  std::uint16_t symbol = 0;  // of a leaf
  std::uint16_t parent = 0;
};

// A Huffman tree: the leaves from the rarest to the commonest, then what joins two nodes, in the
// order in which they were joined, which is that of their counts. The last one is the root.
class Tree {
 public:
  explicit Tree(std::span<const std::uint32_t> counts) {
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] > 0) add_leaf(i, counts[i]);
    }
    for (std::size_t i = 0; leaves_ < 2; ++i) {
      if (counts[i] == 0) add_leaf(i, 1);
    }
    std::sort(nodes_.begin(), nodes_.begin() + leaves_, [](const Node& a, const Node& b) {
      return a.count != b.count ? a.count < b.count : a.symbol < b.symbol;
    });
    join();
  }

  [[nodiscard]] std::span<const Node> leaves() const {
    return std::span(nodes_).first(static_cast<std::size_t>(leaves_));
  }

  // How many leaves lie how deep; those below `longest` are counted there.
  [[nodiscard]] std::array<std::uint32_t, longest_code + 1> leaves_by_depth(int longest) const {
    std::array<std::uint16_t, 2 * most_symbols> depths{};
    std::array<std::uint32_t, longest_code + 1> count{};
    for (int i = 2 * leaves_ - 3; i >= 0; --i) {
      const auto node = static_cast<std::size_t>(i);
      depths[node] = static_cast<std::uint16_t>(depths[nodes_[node].parent] + 1);
      if (i < leaves_) ++count[std::min<std::size_t>(depths[node], std::size_t(longest))];
    }
    return count;
  }

 private:
  void add_leaf(std::size_t symbol, std::uint32_t count) {
    nodes_[static_cast<std::size_t>(leaves_++)] = {count, static_cast<std::uint16_t>(symbol), 0};
  }

  // Joins the two rarest nodes again and again; they are the first of the leaves or of the joined.
  void join() {
    const auto leaves = static_cast<std::size_t>(leaves_);
    std::size_t leaf = 0;
    std::size_t joined = leaves;
    for (std::size_t next = leaves; next < 2 * leaves - 1; ++next) {
      for (int child = 0; child < 2; ++child) {
        const bool take_leaf =
            leaf < leaves && (joined == next || nodes_[leaf].count <= nodes_[joined].count);
        Node& rarest = nodes_[take_leaf ? leaf++ : joined++];
        rarest.parent = static_cast<std::uint16_t>(next);
        nodes_[next].count += rarest.count;
      }
    }
  }

  std::array<Node, 2 * most_symbols> nodes_{};
  int leaves_ = 0;
};

std::uint16_t reversed(std::uint32_t code, int length) {
  std::uint32_t result = 0;
  for (int i = 0; i < length; ++i)
    result |= (code >> i & 1U) << (length - 1 - i);
  return static_cast<std::uint16_t>(result);
}

}  // namespace

void huffman_code_lengths(std::span<const std::uint32_t> counts, int longest,
                          std::span<std::uint8_t> lengths) {
  const Tree tree(counts);
  auto leaves_by_depth = tree.leaves_by_depth(longest);
  // Leaves that were lifted to the longest length need room: each step lengthens a shorter code by
  // one bit, whose second half takes one of the longest.
  std::uint64_t used = 0;
  for (int length = 1; length <= longest; ++length)
    used += std::uint64_t{leaves_by_depth[std::size_t(length)]} << (longest - length);
  for (; used > std::uint64_t{1} << longest; --used) {
    auto shorter = static_cast<std::size_t>(longest) - 1;
    while (leaves_by_depth[shorter] == 0)
      --shorter;
    --leaves_by_depth[shorter];
    leaves_by_depth[shorter + 1] += 2;
    --leaves_by_depth[static_cast<std::size_t>(longest)];
  }
  std::fill(lengths.begin(), lengths.end(), std::uint8_t{0});
  auto leaf = tree.leaves().begin();
  for (int length = longest; length > 0; --length) {
    for (std::uint32_t i = 0; i < leaves_by_depth[std::size_t(length)]; ++i, ++leaf)
      lengths[leaf->symbol] = static_cast<std::uint8_t>(length);
  }
}

void huffman_codes(std::span<const std::uint8_t> lengths, std::span<std::uint16_t> codes) {
  std::array<std::uint32_t, longest_code + 1> count{};
  for (const std::uint8_t length : lengths)
    ++count[length];
  count[0] = 0;
  std::array<std::uint32_t, longest_code + 1> next{};
  for (std::size_t length = 1; length <= longest_code; ++length)
    next[length] = (next[length - 1] + count[length - 1]) << 1U;
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const std::uint8_t length = lengths[i];
    codes[i] = length == 0 ? std::uint16_t{0} : reversed(next[length]++, length);
  }
}

}  // namespace gpufilter
