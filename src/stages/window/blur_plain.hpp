// Plain means of nine samples, the same for all channels, vectorised.
#pragma once

#include "host/loops.hpp"
#include "stages/window/blur_source.hpp"

namespace gpufilter::blur {

// Two neighbouring samples in a word of twice their size. Its halves are summed and divided
// separately, which avoids the shuffles for widening samples.
template <typename Sample>
struct PairOf;
template <>
struct PairOf<std::uint8_t> {
  using Word = std::uint16_t;
};
template <>
struct PairOf<std::uint16_t> {
  using Word = std::uint32_t;
};

// s / 9 for s <= 9 * 255 + 4.
[[gnu::always_inline]] inline std::uint16_t ninth(std::uint16_t s) {
  return static_cast<std::uint16_t>((std::uint32_t{s} * 7282U) >> 16U);
}

// s / 9 for s <= 9 * 65535 + 4. The float nearest to 1 / 9 lies above it, by too little to carry
// 8 / 9 to the next integer.
[[gnu::always_inline]] inline std::uint32_t ninth(std::uint32_t s) {
  const auto quotient = static_cast<float>(static_cast<std::int32_t>(s)) * (1.0F / 9.0F);
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(quotient));
}

// Sums of three neighbours in a row, for the first and for the second samples of pairs.
template <typename Sample>
struct RowSums {
  using Word = typename PairOf<Sample>::Word;
  alignas(64) std::array<Word, tile_samples / 2> first;
  alignas(64) std::array<Word, tile_samples / 2> second;
};

template <typename Sample>
[[gnu::always_inline]] inline void sum_row(const Sample* in, size_t channels, size_t pairs,
                                           RowSums<Sample>& sums) {
  using Word = typename PairOf<Sample>::Word;
  constexpr auto bits = std::numeric_limits<Sample>::digits;
  constexpr Word low = std::numeric_limits<Sample>::max();
  for (size_t i = 0; i < pairs; ++i) {
    const auto left = load<Word>(in + 2 * i - channels);
    const auto middle = load<Word>(in + 2 * i);
    const auto right = load<Word>(in + 2 * i + channels);
    sums.first[i] = static_cast<Word>((left & low) + (middle & low) + (right & low));
    sums.second[i] = static_cast<Word>((left >> bits) + (middle >> bits) + (right >> bits));
  }
}

template <typename Sample>
[[gnu::always_inline]] inline void mean_row(const RowSums<Sample>& above,
                                            const RowSums<Sample>& here,
                                            const RowSums<Sample>& below, size_t pairs,
                                            Sample* out) {
  using Word = typename PairOf<Sample>::Word;
  constexpr auto bits = std::numeric_limits<Sample>::digits;
  for (size_t i = 0; i < pairs; ++i) {
    const Word first =
        ninth(static_cast<Word>(above.first[i] + here.first[i] + below.first[i] + 4U));
    const Word second =
        ninth(static_cast<Word>(above.second[i] + here.second[i] + below.second[i] + 4U));
    store(out + 2 * i, static_cast<Word>(first | (second << bits)));
  }
}

// Prefetches the data of the next row. A tile's rows are too short for the hardware prefetcher.
template <typename Sample>
[[gnu::always_inline]] inline void prefetch(const Sample* in, const Sample* out, size_t samples) {
  constexpr size_t line = 64 / sizeof(Sample);
  for (size_t i = 0; i < samples; i += line) {
    __builtin_prefetch(in + i);
    __builtin_prefetch(out + i, 1);
  }
}

// Fills `samples` samples of each row of `target`, an even number, from sample `offset` on. There
// has to be a pixel on either side of them. Calls visit(samples from `offset` on) for each row that
// it reads.
template <typename Sample, typename Visit>
[[gnu::always_inline]] inline void mean_tile(const Source<Sample>& source,
                                             const MutableRows& target, size_t offset,
                                             size_t samples, const Visit& visit) {
  const size_t channels = source.channels();
  const size_t pairs = samples / 2;
  std::array<RowSums<Sample>, 3> sums;
  RowSums<Sample>* above = &sums[0];
  RowSums<Sample>* here = &sums[1];
  RowSums<Sample>* below = &sums[2];
  const auto out = [&](int y) __attribute__((always_inline)) {
    return reinterpret_cast<Sample*>(target.row(y)) + offset;
  };
  // The first two rows are only summed. All are summed by the same code, which is compiled into
  // each loop for each instruction set.
  for (int y = target.rows.begin - 1; y <= target.rows.end; ++y) {
    const bool is_last_of_three = y > target.rows.begin;
    if (is_last_of_three && y < target.rows.end)
      prefetch<Sample>(source.at(y + 1, offset), out(y), samples);
    const Sample* in = source.at(y, offset);
    sum_row(in, channels, pairs, *below);
    visit(in);
    if (is_last_of_three) mean_row(*above, *here, *below, pairs, out(y - 1));
    RowSums<Sample>* const next = above;
    above = here;
    here = below;
    below = next;
  }
}

// Fills sample `offset` of each row of `target`, as above.
template <typename Sample>
[[gnu::always_inline]] inline void mean_sample(const Source<Sample>& source,
                                               const MutableRows& target, size_t offset) {
  const auto sum = [&](int y) __attribute__((always_inline)) {
    const Sample* in = source.at(y, offset);
    return std::uint32_t{*(in - source.channels())} + *in + *(in + source.channels());
  };
  std::uint32_t above = sum(target.rows.begin - 1);
  std::uint32_t here = sum(target.rows.begin);
  for (int y = target.rows.begin; y < target.rows.end; ++y) {
    const std::uint32_t below = sum(y + 1);
    reinterpret_cast<Sample*>(target.row(y))[offset] =
        static_cast<Sample>((above + here + below + 4) / 9);
    above = here;
    here = below;
  }
}

}  // namespace gpufilter::blur
