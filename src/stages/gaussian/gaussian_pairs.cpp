#include "stages/gaussian/gaussian_pairs.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <type_traits>

#include "host/vectors.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Sums for the numbers of one vector of 16-bit numbers, interleaved.
template <InstructionSet set>
struct PairSums {
  using Ints = Vector<std::int32_t, set>;
  using Shorts = Vector<std::int16_t, set>;
  static constexpr size_t lanes = count_of<Shorts>;

  Ints low;
  Ints high;

  [[gnu::always_inline]] static PairSums of(std::int32_t start) {
    PairSums sums;
    sums.low = everywhere<Ints>(start);
    sums.high = sums.low;
    return sums;
  }
  [[gnu::always_inline]] void add(const Shorts& low_pairs, const Shorts& high_pairs,
                                  std::uint32_t pair) {
    const auto weights = as<std::int16_t>(everywhere<Ints>(static_cast<std::int32_t>(pair)));
    low = plus_pairs<set>(low, low_pairs, weights);
    high = plus_pairs<set>(high, high_pairs, weights);
  }
  // In the order of the numbers. They fit 16 bits.
  [[gnu::always_inline]] [[nodiscard]] Shorts shifted(int bits) const {
    return narrowed<std::int16_t>(static_cast<Ints>(low >> bits), static_cast<Ints>(high >> bits));
  }
  [[gnu::always_inline]] [[nodiscard]] Shorts low_bytes() const {
    return narrowed<std::int16_t>(static_cast<Ints>(low & 0xff), static_cast<Ints>(high & 0xff));
  }
};

// Where the vector after that at `i` begins. The last one ends with the numbers: it computes some
// of them again.
[[gnu::always_inline]] inline size_t next_vector(size_t i, size_t count, size_t numbers) {
  return std::min(i + numbers, count - numbers);
}

// Sums of two neighbours are made of bytes, or of numbers of 16 bits where that takes as many
// instructions for each neighbour as converting all numbers once.
template <InstructionSet set>
class PairRowSums {
 public:
  using Bytes = Vector<std::uint8_t, set>;
  using Sums = PairSums<set>;
  using Shorts = typename Sums::Shorts;
  using Halves = std::array<Shorts, 2>;  // in lanes
  static constexpr bool from_bytes = has_shuffle<set>;

  [[gnu::always_inline]] explicit PairRowSums(const PairsAlongRow& row) : row_(row) {
    if constexpr (!from_bytes) {
      const std::ptrdiff_t reach = row.radius * row.step;
      row.wide->assign(row.in - reach, row.in + static_cast<std::ptrdiff_t>(row.count) + reach);
    }
  }

  // Numbers from i on.
  [[gnu::always_inline]] void fill(size_t i) const {
    Sums sums[2] = {Sums::of(1 << 7), Sums::of(1 << 7)};
    const auto add = [&](const Halves& first, const Halves& second, std::uint32_t pair)
        __attribute__((always_inline)) {
      for (size_t half = 0; half < 2; ++half) {
        sums[half].add(interleaved_low(first[half], second[half]),
                       interleaved_high(first[half], second[half]), pair);
      }
    };
    const int radius = row_.radius;
    const std::uint32_t* pairs = row_.pairs;
    add(middle(i), neighbours(i, 1), *pairs);
    for (int d = 2; d < radius; d += 2)
      add(neighbours(i, d), neighbours(i, d + 1), *++pairs);
    if (radius % 2 == 0) add(neighbours(i, radius), Halves{}, *++pairs);
    if (row_.rest != nullptr) put({sums[0].low_bytes(), sums[1].low_bytes()}, row_.rest + i);
    put({sums[0].shifted(8), sums[1].shifted(8)}, row_.out + i);
  }

 private:
  [[gnu::always_inline]] [[nodiscard]] Halves middle(size_t i) const {
    const auto bytes = load<Bytes>(row_.in + i);
    return {as<std::int16_t>(widened_low<std::uint16_t>(bytes)),
            as<std::int16_t>(widened_high<std::uint16_t>(bytes))};
  }
  [[gnu::always_inline]] [[nodiscard]] Halves neighbours(size_t i, int distance) const {
    const std::ptrdiff_t away = distance * row_.step;
    if constexpr (from_bytes) {
      const std::uint8_t* place = row_.in + i;
      return sums_of_bytes<set>(load_once<Bytes>(place - away), load_once<Bytes>(place + away));
    } else {
      const std::int16_t* place = row_.wide->data() + row_.radius * row_.step + i;
      const auto sum = [&](size_t at) __attribute__((always_inline)) {
        return static_cast<Shorts>(load<Shorts>(place + at - away) +
                                   load<Shorts>(place + at + away));
      };
      return {sum(0), sum(count_of<Shorts>)};
    }
  }
  // In the order of the numbers.
  [[gnu::always_inline]] static void put(const Halves& halves, std::int16_t* out) {
    std::array<std::uint8_t*, sizeof(Shorts) / lane_bytes> lanes;
    for (size_t i = 0; i < lanes.size(); ++i)
      lanes[i] = reinterpret_cast<std::uint8_t*>(out) + 2 * lane_bytes * i;
    store_lanes(halves[0], lanes.data(), 1, 0);
    store_lanes(halves[1], lanes.data(), 1, lane_bytes);
  }

  const PairsAlongRow& row_;
};

struct AlongPairRow {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const PairsAlongRow* row, size_t* done) {
    constexpr size_t numbers = vector_bytes<set>;
    const size_t count = row->count;
    *done = count < numbers ? 0 : count;
    if (*done == 0) return;
    const PairRowSums<set> sums(*row);
    for (size_t i = 0;; i = next_vector(i, count, numbers)) {
      sums.fill(i);
      if (i + numbers == count) return;
    }
  }
};

template <InstructionSet set, int lines, typename Out>
[[gnu::always_inline]] inline void fill_lines(const PairsAlongColumns<std::int16_t, Out>& job,
                                              size_t i) {
  using Sums = PairSums<set>;
  using Shorts = typename Sums::Shorts;
  using Bytes = typename VectorOf<std::uint8_t, sizeof(Shorts) / 2>::type;
  constexpr int bits = sizeof(Out) == 1 ? 22 : 15;
  Sums sums[lines];
  for (Sums& of_line : sums)
    of_line = Sums::of(1 << (bits - 1));
  for (size_t pair = 0; pair < job.pair_count; ++pair) {
    const auto first = load<Shorts>(job.rows[2 * pair] + i);
    const auto second = load<Shorts>(job.rows[2 * pair + 1] + i);
    const Shorts low = interleaved_low(first, second);
    const Shorts high = interleaved_high(first, second);
    for (int line = 0; line < lines; ++line)
      sums[line].add(low, high, job.pairs[pair * lines + static_cast<size_t>(line)]);
  }
  for (int line = 0; line < lines; ++line) {
    const Shorts result = sums[line].shifted(bits);
    if constexpr (sizeof(Out) == 2)
      store(job.out[line] + i, result);
    else
      store(job.out[line] + i, __builtin_convertvector(result, Bytes));
  }
}

// high * 2^16 + low
template <InstructionSet set>
[[gnu::always_inline]] inline void store_doubles(const PairSums<set>& sums, double* out) {
  for (size_t at = 0; at < sizeof sums.low; at += sizeof(FourInts), out += count_of<FourInts>) {
    const auto low = load<FourInts>(reinterpret_cast<const char*>(&sums.low) + at);
    const auto high = load<FourInts>(reinterpret_cast<const char*>(&sums.high) + at);
    store(out, to_doubles<set>(high) * 65536.0 + to_doubles<set>(low));
  }
}

// Sums of the low 16 bits, less 2^15 to be signed, and of the high ones. Both fit 32 bits.
template <InstructionSet set, int lines>
[[gnu::always_inline]] inline void fill_lines(const PairsAlongColumns<std::int32_t, double>& job,
                                              size_t i) {
  using Sums = PairSums<set>;
  using Words = Vector<std::uint32_t, set>;
  Sums sums[lines];
  for (Sums& of_line : sums) {
    of_line = Sums::of(0);
    of_line.low += 1 << 30;
  }
  for (size_t pair = 0; pair < job.pair_count; ++pair) {
    const auto first = load<Words>(job.rows[2 * pair] + i);
    const auto second = load<Words>(job.rows[2 * pair + 1] + i);
    const Words low = ((first & 0xffffU) | second << 16) ^ 0x80008000U;
    const Words high = first >> 16 | (second & 0xffff0000U);
    for (int line = 0; line < lines; ++line) {
      sums[line].add(as<std::int16_t>(low), as<std::int16_t>(high),
                     job.pairs[pair * lines + static_cast<size_t>(line)]);
    }
  }
  for (int line = 0; line < lines; ++line)
    store_doubles<set>(sums[line], job.out[line] + i);
}

template <typename In, typename Out, int lines>
struct AlongPairColumns {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const PairsAlongColumns<In, Out>* job, size_t* done) {
    constexpr size_t numbers = vector_bytes<set> / sizeof(In);
    *done = job->count < numbers ? 0 : job->count;
    if (*done == 0) return;
    for (size_t i = 0;; i = next_vector(i, job->count, numbers)) {
      fill_lines<set, lines>(*job, i);
      if (i + numbers == job->count) return;
    }
  }
};

template <typename In, typename Out>
size_t along_columns(const PairsAlongColumns<In, Out>& job) {
  static_assert(pair_lines == 4);
  size_t done = 0;
  switch (job.lines) {
    case 1:
      run_products_loop<AlongPairColumns<In, Out, 1>>(&job, &done);
      break;
    case 2:
      run_products_loop<AlongPairColumns<In, Out, 2>>(&job, &done);
      break;
    case 3:
      run_products_loop<AlongPairColumns<In, Out, 3>>(&job, &done);
      break;
    default:
      run_products_loop<AlongPairColumns<In, Out, 4>>(&job, &done);
  }
  return done;
}

}  // namespace

size_t gaussian_pairs_along_row(const PairsAlongRow& row) {
  size_t done = 0;
  run_products_loop<AlongPairRow>(&row, &done);
  return done;
}

size_t gaussian_pairs_along_columns(const PairsAlongColumns<std::int16_t, std::uint8_t>& job) {
  return along_columns(job);
}
size_t gaussian_pairs_along_columns(const PairsAlongColumns<std::int16_t, std::int16_t>& job) {
  return along_columns(job);
}
size_t gaussian_pairs_along_columns(const PairsAlongColumns<std::int32_t, double>& job) {
  return along_columns(job);
}

}  // namespace gpufilter
