// Each function of host/vectors.hpp with each instruction set, compared with plain numbers.
#include "host/vectors.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include <gtest/gtest.h>

namespace gpufilter {
namespace {

using std::size_t;

constexpr size_t bytes_tested = 64 * 1024;  // a multiple of every vector

// Random numbers of any bits, a quarter of them at the ends of the range.
template <typename Number>
std::vector<Number> numbers_of(unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Number> numbers(bytes_tested / sizeof(Number));
  for (Number& number : numbers) {
    number = static_cast<Number>(random());
    if (random() % 8 == 0) number = std::numeric_limits<Number>::max();
    if (random() % 8 == 0) number = std::numeric_limits<Number>::min();
  }
  return numbers;
}

// out = operation(a, b, c), vector by vector.
template <typename Operation, typename A, typename Out>
struct OperationLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const A* a, const A* b, const Out* c, Out* out) {
    using From = Vector<A, set>;
    using To = Vector<Out, set>;
    for (size_t at = 0; at < bytes_tested; at += sizeof(From)) {
      const size_t i = at / sizeof(A);
      const size_t o = at / sizeof(Out);
      store(out + o,
            Operation::template of<set>(load<From>(a + i), load<From>(b + i), load<To>(c + o)));
    }
  }
};

// Calls expect(a, b, c, out, bytes of a vector) for each instruction set.
template <typename Operation, typename A, typename Out, typename Expect>
void test_operation(const Expect& expect) {
  const std::vector<A> a = numbers_of<A>(1);
  const std::vector<A> b = numbers_of<A>(2);
  const std::vector<Out> c = numbers_of<Out>(3);
  for (const InstructionSet set : available_instruction_sets()) {
    const ::testing::ScopedTrace trace(__FILE__, __LINE__, to_string(set));
    const InstructionSetInUse in_use(set);
    std::vector<Out> out(c.size());
    run_best_loop<OperationLoop<Operation, A, Out>, InstructionSet::neon_dot, InstructionSet::avx2,
                  InstructionSet::avx512, InstructionSet::avx512_vnni, InstructionSet::avx512_vbmi>(
        a.data(), b.data(), c.data(), out.data());
    for (size_t i = 0; i < out.size(); ++i)
      ASSERT_EQ(out[i], expect(a, b, c, i)) << i;
  }
}

// The first of the numbers of the lane that number i of `Number` belongs to.
template <typename Number>
size_t lane_of(size_t i) {
  return i / (lane_bytes / sizeof(Number)) * (lane_bytes / sizeof(Number));
}

#define OPERATION(name, result)                                          \
  struct name {                                                          \
    template <InstructionSet set, typename V, typename C>                \
    [[gnu::always_inline]] static auto of([[maybe_unused]] const V& a,   \
                                          [[maybe_unused]] const V& b,   \
                                          [[maybe_unused]] const C& c) { \
      return result;                                                     \
    }                                                                    \
  }

OPERATION(Minimum, minimum(a, b));
OPERATION(Maximum, maximum(a, b));
OPERATION(Magnitude, magnitude(maximum(a, V{} - 32767)));
TEST(Vectors, MinimaMaximaAndMagnitudes) {
  using Bytes = std::vector<std::uint8_t>;
  test_operation<Minimum, std::uint8_t, std::uint8_t>(
      [](const Bytes& a, const Bytes& b, const Bytes&, size_t i) { return std::min(a[i], b[i]); });
  using Words = std::vector<std::uint16_t>;
  test_operation<Maximum, std::uint16_t, std::uint16_t>(
      [](const Words& a, const Words& b, const Words&, size_t i) { return std::max(a[i], b[i]); });
  using Shorts = std::vector<std::int16_t>;
  test_operation<Magnitude, std::int16_t, std::int16_t>(
      [](const Shorts& a, const Shorts&, const Shorts&, size_t i) {
        return static_cast<std::int16_t>(std::min(std::abs(a[i]), 32767));
      });
}

// The first number of 32 bits of the vector that number i belongs to.
size_t vector_of(size_t i) {
  const size_t vector = instruction_set() >= InstructionSet::avx512 ? 16
                        : instruction_set() == InstructionSet::avx2 ? 8
                                                                    : 4;
  return i / vector * vector;
}

OPERATION(Everywhere, everywhere<C>(c[0]));
TEST(Vectors, OneNumberEverywhere) {
  using Ints = std::vector<std::int32_t>;
  test_operation<Everywhere, std::int32_t, std::int32_t>(
      [](const Ints&, const Ints&, const Ints& c, size_t i) { return c[vector_of(i)]; });
}

OPERATION(LoadedBytes, load_bytes<C>(reinterpret_cast<const std::uint8_t*>(&a)));
TEST(Vectors, BytesAsNumbersOf32Bits) {
  using Ints = std::vector<std::int32_t>;
  test_operation<LoadedBytes, std::int32_t, std::int32_t>(
      [](const Ints& a, const Ints&, const Ints&, size_t i) {
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(a.data() + vector_of(i));
        return std::int32_t{bytes[i - vector_of(i)]};
      });
}

OPERATION(Low, interleaved_low(a, b));
OPERATION(High, interleaved_high(a, b));
template <typename Number>
void test_interleaving() {
  using Numbers = std::vector<Number>;
  constexpr size_t half = lane_bytes / sizeof(Number) / 2;
  const auto at = [](const Numbers& a, const Numbers& b, size_t i, size_t first) {
    const size_t lane = lane_of<Number>(i);
    return (i % 2 == 0 ? a : b)[lane + first + (i - lane) / 2];
  };
  test_operation<Low, Number, Number>(
      [&](const Numbers& a, const Numbers& b, const Numbers&, size_t i) { return at(a, b, i, 0); });
  test_operation<High, Number, Number>([&](const Numbers& a, const Numbers& b, const Numbers&,
                                           size_t i) { return at(a, b, i, half); });
}
TEST(Vectors, InterleavingInLanes) {
  test_interleaving<std::uint8_t>();
  test_interleaving<std::int16_t>();
  test_interleaving<std::uint32_t>();
}

template <typename Number>
struct TransposeLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Number* in, Number* out) {
    using V = Vector<Number, set>;
    std::array<V, lane_bytes / sizeof(Number)> square;
    for (V& row : square) {
      row = load<V>(in);
      in += count_of<V>;
    }
    transpose(square);
    for (const V& row : square) {
      store(out, row);
      out += count_of<V>;
    }
  }
};
template <typename Number>
void test_transposition() {
  constexpr size_t side = lane_bytes / sizeof(Number);
  const std::vector<Number> in = numbers_of<Number>(1);
  for (const InstructionSet set : available_instruction_sets()) {
    const InstructionSetInUse in_use(set);
    std::vector<Number> out(in.size());
    run_loop<TransposeLoop<Number>>(in.data(), out.data());
    const size_t bytes = set >= InstructionSet::avx512 ? 64 : set == InstructionSet::avx2 ? 32 : 16;
    const size_t count = bytes / sizeof(Number);
    for (size_t n = 0; n < side; ++n) {
      for (size_t i = 0; i < count; ++i) {
        const size_t lane = lane_of<Number>(i);
        ASSERT_EQ(out[n * count + i], in[(i - lane) * count + lane + n]) << to_string(set);
      }
    }
  }
}
TEST(Vectors, TranspositionInLanes) {
  test_transposition<std::uint8_t>();
  test_transposition<std::int16_t>();
  test_transposition<std::int32_t>();
}

constexpr LanePlaces test_places{15, 0,  no_byte, 3, 3, 9,       no_byte, 1,
                                 8,  12, 4,       7, 0, no_byte, 2,       5};
OPERATION(Shuffled, shuffled<test_places>(a));
OPERATION(Permuted, permuted<set>(a, b));
TEST(Vectors, BytesFromOtherPlaces) {
  using Bytes = std::vector<std::uint8_t>;
  test_operation<Shuffled, std::uint8_t, std::uint8_t>(
      [](const Bytes& a, const Bytes&, const Bytes&, size_t i) {
        const size_t lane = lane_of<std::uint8_t>(i);
        const std::uint8_t place = test_places[i - lane];
        return place == no_byte ? std::uint8_t{0} : a[lane + place];
      });
  test_operation<Permuted, std::uint8_t, std::uint8_t>(
      [](const Bytes& a, const Bytes& b, const Bytes&, size_t i) {
        const size_t bytes = instruction_set() >= InstructionSet::avx512 ? 64
                             : instruction_set() == InstructionSet::avx2 ? 32
                                                                         : 16;
        return a[i / bytes * bytes + b[i] % bytes];
      });
}

struct TableLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const std::uint8_t* in, const std::uint8_t* entries,
                                         std::uint8_t* out) {
    if constexpr (has_byte_tables<set>) {
      using Bytes = Vector<std::uint8_t, set>;
      const ByteTable<set> table(entries);
      for (size_t i = 0; i < bytes_tested; i += 2 * sizeof(Bytes)) {
        auto bytes = load<std::array<Bytes, 2>>(in + i);
        table.look_up(bytes);
        store(out + i, bytes);
      }
    } else {
      std::transform(in, in + bytes_tested, out, [&](std::uint8_t byte) { return entries[byte]; });
    }
  }
};
TEST(Vectors, EntriesOfATableForEachByte) {
  const std::vector<std::uint8_t> in = numbers_of<std::uint8_t>(1);
  const std::vector<std::uint8_t> entries = numbers_of<std::uint8_t>(2);
  for (const InstructionSet set : available_instruction_sets()) {
    const InstructionSetInUse in_use(set);
    std::vector<std::uint8_t> out(in.size());
    run_best_loop<TableLoop, InstructionSet::avx2, InstructionSet::avx512,
                  InstructionSet::avx512_vbmi>(in.data(), entries.data(), out.data());
    for (size_t i = 0; i < in.size(); ++i)
      ASSERT_EQ(out[i], entries[in[i]]) << to_string(set) << ' ' << i;
  }
}

OPERATION(WidenedLow, widened_low<std::uint16_t>(a));
OPERATION(WidenedHigh, widened_high<std::uint16_t>(a));
TEST(Vectors, HalvesWithTwiceTheBits) {
  using Bytes = std::vector<std::uint8_t>;
  using Words = std::vector<std::uint16_t>;
  test_operation<WidenedLow, std::uint8_t, std::uint16_t>(
      [](const Bytes& a, const Bytes&, const Words&, size_t i) { return a[i / 8 * 16 + i % 8]; });
  test_operation<WidenedHigh, std::uint8_t, std::uint16_t>(
      [](const Bytes& a, const Bytes&, const Words&, size_t i) {
        return a[i / 8 * 16 + 8 + i % 8];
      });
}

OPERATION(WithLowerHalves, with_halves<false>(a, b));
OPERATION(WithUpperHalves, with_halves<true>(a, b));
TEST(Vectors, HalvesFromOtherNumbers) {
  using Ints = std::vector<std::int32_t>;
  constexpr std::uint32_t low = 0xffff;
  test_operation<WithLowerHalves, std::int32_t, std::int32_t>(
      [](const Ints& a, const Ints& b, const Ints&, size_t i) {
        return static_cast<std::int32_t>((static_cast<std::uint32_t>(a[i]) & ~low) |
                                         (static_cast<std::uint32_t>(b[i]) & low));
      });
  test_operation<WithUpperHalves, std::int32_t, std::int32_t>(
      [](const Ints& a, const Ints& b, const Ints&, size_t i) {
        return static_cast<std::int32_t>((static_cast<std::uint32_t>(a[i]) & low) |
                                         static_cast<std::uint32_t>(b[i]) << 16U);
      });
}

template <typename Narrow>
struct Narrowed {
  template <InstructionSet set, typename V, typename C>
  [[gnu::always_inline]] static C of(const V& a, const V& b, const C& /*c*/) {
    return narrowed<Narrow>(a, b);
  }
};
template <typename Wide, typename Narrow>
void test_narrowing() {
  using Wides = std::vector<Wide>;
  test_operation<Narrowed<Narrow>, Wide, Narrow>(
      [](const Wides& a, const Wides& b, const std::vector<Narrow>&, size_t i) {
        const size_t half = lane_bytes / sizeof(Wide);
        const size_t from = i / (2 * half) * half + i % half;
        const Wide number = (i % (2 * half) < half ? a : b)[from];
        return static_cast<Narrow>(std::clamp<Wide>(number, std::numeric_limits<Narrow>::min(),
                                                    std::numeric_limits<Narrow>::max()));
      });
}
TEST(Vectors, NarrowingSaturates) {
  test_narrowing<std::int32_t, std::int16_t>();
  test_narrowing<std::int16_t, std::uint8_t>();
}

OPERATION(SumsOfFirstHalf, sums_of_bytes<set>(a, b)[0]);
OPERATION(SumsOfSecondHalf, sums_of_bytes<set>(a, b)[1]);
TEST(Vectors, SumsOfTwoBytes) {
  using Bytes = std::vector<std::uint8_t>;
  using Shorts = std::vector<std::int16_t>;
  const auto sum = [](const Bytes& a, const Bytes& b, size_t i) {
    return static_cast<std::int16_t>(a[i] + b[i]);
  };
  test_operation<SumsOfFirstHalf, std::uint8_t, std::int16_t>(
      [&](const Bytes& a, const Bytes& b, const Shorts&, size_t i) {
        return sum(a, b, i / 8 * 16 + i % 8);
      });
  test_operation<SumsOfSecondHalf, std::uint8_t, std::int16_t>(
      [&](const Bytes& a, const Bytes& b, const Shorts&, size_t i) {
        return sum(a, b, i / 8 * 16 + 8 + i % 8);
      });
}

OPERATION(HighHalves, multiplied_high(a, b));
TEST(Vectors, UpperHalvesOfProducts) {
  using Words = std::vector<std::uint16_t>;
  test_operation<HighHalves, std::uint16_t, std::uint16_t>(
      [](const Words& a, const Words& b, const Words&, size_t i) {
        return static_cast<std::uint16_t>(std::uint32_t{a[i]} * b[i] >> 16U);
      });
}

// Sums of products modulo 2^32.
template <typename A, typename B>
std::int32_t sum_of(std::int32_t start, const A* a, const B* b, size_t count) {
  auto sum = static_cast<std::uint32_t>(start);
  for (size_t i = 0; i < count; ++i)
    sum += static_cast<std::uint32_t>(std::int32_t{a[i]} * std::int32_t{b[i]});
  return static_cast<std::int32_t>(sum);
}

OPERATION(PlusPairs, plus_pairs<set>(c, a, (b < -32767 ? V{} - 32767 : b)));
TEST(Vectors, SumsOfProductsOfPairs) {
  using Shorts = std::vector<std::int16_t>;
  test_operation<PlusPairs, std::int16_t, std::int32_t>(
      [](const Shorts& a, const Shorts& b, const std::vector<std::int32_t>& c, size_t i) {
        const std::array<std::int16_t, 2> weights{std::max<std::int16_t>(b[2 * i], -32767),
                                                  std::max<std::int16_t>(b[2 * i + 1], -32767)};
        return sum_of(c[i], &a[2 * i], weights.data(), 2);
      });
}

OPERATION(PlusFours, plus_fours<set>(c, as<std::int32_t>(a), as<std::int32_t>(b)));
TEST(Vectors, SumsOfProductsOfFours) {
  using Bytes = std::vector<std::uint8_t>;
  test_operation<PlusFours, std::uint8_t, std::int32_t>(
      [](const Bytes& a, const Bytes& b, const std::vector<std::int32_t>& c, size_t i) {
        return sum_of(c[i], &a[4 * i], reinterpret_cast<const std::int8_t*>(&b[4 * i]), 4);
      });
}

struct FloatsLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const float* a, size_t count, std::int32_t* whole,
                                         float* sums) {
    using Floats = Vector<float, set>;
    for (size_t i = 0; i < count; i += count_of<Floats>) {
      const auto x = load<Floats>(a + i);
      store(whole + i, rounded(minimum(everywhere<Floats>(255), x)));
      store(sums + i, fused_multiply_add<set>(x, everywhere<Floats>(1.1F), x * 0.3F));
    }
  }
};
TEST(Vectors, FloatsAreRoundedOnce) {
  std::vector<float> a{0.5F, 1.5F, 2.5F, -0.5F, 254.5F, 255.5F, 1e10F, -3.5F};
  std::mt19937 random(5);
  while (a.size() < 4096)
    a.push_back(std::uniform_real_distribution<float>(-1000, 1000)(random));
  for (const InstructionSet set : available_instruction_sets()) {
    const InstructionSetInUse in_use(set);
    std::vector<std::int32_t> whole(a.size());
    std::vector<float> sums(a.size());
    run_loop<FloatsLoop>(a.data(), a.size(), whole.data(), sums.data());
    for (size_t i = 0; i < a.size(); ++i) {
      ASSERT_EQ(whole[i], static_cast<std::int32_t>(std::nearbyint(std::min(a[i], 255.0F))));
      ASSERT_EQ(sums[i], std::fma(a[i], 1.1F, a[i] * 0.3F)) << a[i];
    }
  }
}

}  // namespace
}  // namespace gpufilter
