#include "compute/jpeg_tables.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

namespace gpufilter {
namespace {

// As in the kernels.
constexpr int fast_bits = 10;
constexpr int longest_code = 16;

struct Tables {
  std::array<std::array<std::uint32_t, 1U << fast_bits>, 6> fast{};
  std::array<std::array<std::int32_t, 8>, 6> limits{};
  std::array<std::array<std::int32_t, 8>, 6> offsets{};
  std::array<std::array<std::uint8_t, 256>, 6> symbols{};
  std::array<std::array<std::uint8_t, 64>, 3> divisors{};
  std::array<std::uint8_t, 64> places = jpeg_zigzag;
};
static_assert(sizeof(Tables) == jpeg_table_words * sizeof(std::int32_t));

// As CODE() in the kernels. Those of first coefficients skip none.
std::uint32_t entry_of(int length, std::uint8_t symbol, bool is_first) {
  constexpr std::uint32_t block_ends = 64;
  const std::uint32_t size = symbol & 15U;
  const std::uint32_t run = is_first ? 0U : size == 0 && symbol < 0xF0 ? block_ends : symbol >> 4U;
  const auto bits = static_cast<std::uint32_t>(length);
  return (bits + size) | run << 8U | size << 16U | bits << 24U;
}

void add_codes(Tables& tables, std::size_t index, const JpegHuffmanTable& table) {
  tables.symbols.at(index) = table.symbols;
  std::int32_t code = 0;
  std::size_t symbol = 0;
  for (int length = 1; length <= longest_code; ++length) {
    code *= 2;
    const std::int32_t offset = static_cast<std::int32_t>(symbol) - code;
    for (int i = 0; i < table.counts.at(static_cast<std::size_t>(length)); ++i, ++code, ++symbol) {
      if (length > fast_bits) continue;
      const auto first = tables.fast.at(index).begin() + (code << (fast_bits - length));
      std::fill_n(first, 1 << (fast_bits - length),
                  entry_of(length, table.symbols.at(symbol), index % 2 == 0));
    }
    if (length <= fast_bits) continue;
    const auto place = static_cast<std::size_t>(length - fast_bits - 1);
    tables.limits.at(index).at(place) = code << (longest_code - length);
    tables.offsets.at(index).at(place) = offset;
  }
}

}  // namespace

std::vector<std::int32_t> jpeg_decoding_tables(const JpegScan& scan) {
  Tables tables;
  std::vector<std::int32_t> words(jpeg_table_words);
  for (std::size_t i = 0; i < 3; ++i) {
    const auto& component = scan.components[i < scan.components.size() ? i : 0];
    add_codes(tables, 2 * i, component.first);
    add_codes(tables, 2 * i + 1, component.others);
    for (std::size_t k = 0; k < jpeg_zigzag.size(); ++k)
      tables.divisors.at(i).at(k) = component.divisors.at(jpeg_zigzag.at(k));
    words.insert(words.end(), component.divisors.begin(), component.divisors.end());
  }
  std::memcpy(words.data(), &tables, sizeof(tables));
  return words;
}

}  // namespace gpufilter
