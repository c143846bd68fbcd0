// Vectors: operations for loops beyond the operators of GCC's vector types, for each instruction
// set.
//
// A loop is written once, as a template over the set, and started with run_products_loop()
// (loops.hpp). Its vectors are Vector<Number, set>; +, -, *, <<, >>, &, |, ^, comparisons and ?:
// work on them number by number, and load<Vector>() and store() move them. A function below has one
// branch a set whose compiler does not find the instruction by itself, and plain C++ for all
// others. Rules:
// - Everything is [[gnu::always_inline]] and takes vectors by reference: no function but the loop's
//   entry is compiled for a set. So intrinsics, which are, cannot be called; their builtins can.
// - What happens "in lanes" happens in each 16 bytes of a vector by themselves, as x86 does it.
// - A comparison is the condition of ?: and nothing else: as a vector of its own, GCC 12 computes
//   one of 64 bytes number by number.
// - A loop that differs by set asks for a property (has_fours<set>), not for a name. One that only
//   some sets have asserts it, and run_loop_of_sets() names them.
// - Loops that GCC vectorises well stay plain loops, with run_loop().
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "host/arithmetic.hpp"
#include "host/instruction_set.hpp"
#include "host/loops.hpp"

// Builtins, in contrast to intrinsics, are compiled where they are inlined. Including the
// intrinsics declares them.
#if defined(__x86_64__) && !defined(__clang__)
#define GPUFILTER_X86_VECTORS
#include <immintrin.h>
#elif defined(__aarch64__)
#include <arm_neon.h>
#endif

namespace gpufilter {

template <InstructionSet set>
inline constexpr std::size_t vector_bytes = set >= InstructionSet::avx512 ? 64
                                            : set == InstructionSet::avx2 ? 32
                                                                          : 16;
inline constexpr std::size_t lane_bytes = 16;

template <typename Number, std::size_t bytes>
struct VectorOf {
  using type [[gnu::vector_size(bytes)]] = Number;
};
template <typename Number, InstructionSet set>
using Vector = typename VectorOf<Number, vector_bytes<set>>::type;

// The first element of a vector; a scalar is its own first element.
template <typename V>
constexpr auto first_number(const V& v) {
  if constexpr (std::is_arithmetic_v<V>)
    return v;
  else
    return v[0];
}
template <typename V>
using NumberOf = decltype(first_number(std::declval<V>()));
template <typename V>
inline constexpr std::size_t count_of = sizeof(V) / sizeof(NumberOf<V>);
// A vector of the same size with elements of another type.
template <typename V, typename Number>
using VectorLike = typename VectorOf<Number, sizeof(V)>::type;

// Whether there are instructions that multiply four bytes by four weights (plus_fours), and one
// that takes bytes from anywhere in a vector (permuted).
template <InstructionSet set>
inline constexpr bool has_fours =
    set >= InstructionSet::avx512_vnni || set == InstructionSet::neon_dot;
template <InstructionSet set>
inline constexpr bool has_permutation = set >= InstructionSet::avx512_vbmi;

// Whether there is one that takes bytes from anywhere in a lane (shuffled).
template <InstructionSet set>
#if defined(__x86_64__) && !defined(__SSSE3__)
inline constexpr bool has_shuffle = set != InstructionSet::baseline;
#else
inline constexpr bool has_shuffle = true;
#endif

// The bits of a vector, read as numbers of another type.
template <typename Number, typename V>
[[gnu::always_inline]] inline VectorLike<V, Number> as(const V& v) {
  return reinterpret_cast<VectorLike<V, Number>>(v);
}

// Lane i has the bytes at from[i * stride] + at.
template <typename V>
[[gnu::always_inline]] inline V load_lanes(const std::uint8_t* const* from,
                                           [[maybe_unused]] std::size_t stride, std::size_t at) {
  using Lane = typename VectorOf<std::int32_t, lane_bytes>::type;
  const auto first = load<Lane>(from[0] + at);
  if constexpr (sizeof(V) == lane_bytes) {
    return as<NumberOf<V>>(first);
  }
#ifdef GPUFILTER_X86_VECTORS
  if constexpr (sizeof(V) == 32) {
    return as<NumberOf<V>>(__builtin_ia32_vinsertf128_si256(__builtin_ia32_si256_si(first),
                                                            load<Lane>(from[stride] + at), 1));
  }
  if constexpr (sizeof(V) == 64) {
    auto all = __builtin_ia32_si512_si(first);
    all = __builtin_ia32_inserti32x4_mask(all, load<Lane>(from[stride] + at), 1, all, -1);
    all = __builtin_ia32_inserti32x4_mask(all, load<Lane>(from[2 * stride] + at), 2, all, -1);
    all = __builtin_ia32_inserti32x4_mask(all, load<Lane>(from[3 * stride] + at), 3, all, -1);
    return as<NumberOf<V>>(all);
  }
#endif
}
// Lane i becomes the bytes at to[i * stride] + at.
template <typename V>
[[gnu::always_inline]] inline void store_lanes(const V& v, std::uint8_t* const* to,
                                               [[maybe_unused]] std::size_t stride,
                                               std::size_t at) {
  if constexpr (sizeof(V) == lane_bytes) store(to[0] + at, v);
#ifdef GPUFILTER_X86_VECTORS
  if constexpr (sizeof(V) == 32) {
    store(to[0] + at, __builtin_ia32_extract128i256(as<long long>(v), 0));
    store(to[stride] + at, __builtin_ia32_extract128i256(as<long long>(v), 1));
  }
  if constexpr (sizeof(V) == 64) {
    using Lane = typename VectorOf<std::int32_t, lane_bytes>::type;
    const auto put = [&]<int lane>(std::integral_constant<int, lane>)
        __attribute__((always_inline)) {
      store(to[lane * stride] + at,
            __builtin_ia32_extracti32x4_mask(as<std::int32_t>(v), lane, Lane{}, -1));
    };
    put(std::integral_constant<int, 0>());
    put(std::integral_constant<int, 1>());
    put(std::integral_constant<int, 2>());
    put(std::integral_constant<int, 3>());
  }
#endif
}

// Loads a vector that several instructions use, where GCC 12 would load it for each of them: a load
// that crosses a line of the cache takes as long as two products.
template <typename V>
[[gnu::always_inline]] inline V load_once(const void* from) {
  V v = load<V>(from);
#if defined(GPUFILTER_X86_VECTORS)
  asm("" : "+v"(v));
#elif defined(__aarch64__)
  asm("" : "+w"(v));
#endif
  return v;
}

// A vector of one number. Use it for numbers that are not constants: where GCC 12 makes a vector of
// a number (V{} + number) in a function that is not compiled for the set, it inserts one by one.
template <typename V>
[[gnu::always_inline]] inline V everywhere(NumberOf<V> number) {
#ifdef GPUFILTER_X86_VECTORS
  if constexpr (sizeof(V) > 16 && sizeof(number) == 4) {
    using Four = typename VectorOf<std::int32_t, 16>::type;
    const Four four{std::bit_cast<std::int32_t>(number), 0, 0, 0};
    if constexpr (sizeof(V) == 32) return as<NumberOf<V>>(__builtin_ia32_pbroadcastd256(four));
    if constexpr (sizeof(V) == 64) {
      return as<NumberOf<V>>(
          __builtin_ia32_pbroadcastd512(four, typename VectorOf<std::int32_t, 64>::type{}, -1));
    }
  }
#endif
  return number - V{};
}

// `b` if one of them is a NaN.
template <typename V>
[[gnu::always_inline]] inline V minimum(const V& a, const V& b) {
#ifdef GPUFILTER_X86_VECTORS
  if constexpr (std::is_same_v<NumberOf<V>, float> && sizeof(V) == 16)
    return __builtin_ia32_minps(a, b);
  if constexpr (std::is_same_v<NumberOf<V>, float> && sizeof(V) == 32)
    return __builtin_ia32_minps256(a, b);
  if constexpr (std::is_same_v<NumberOf<V>, float> && sizeof(V) == 64)
    return __builtin_ia32_minps512_mask(a, b, V{}, -1, _MM_FROUND_CUR_DIRECTION);
#endif
  return a < b ? a : b;
}
// `a` if one of them is a NaN.
template <typename V>
[[gnu::always_inline]] inline V maximum(const V& a, const V& b) {
#ifdef GPUFILTER_X86_VECTORS
  if constexpr (std::is_same_v<NumberOf<V>, float> && sizeof(V) == 64)
    return __builtin_ia32_maxps512_mask(b, a, V{}, -1, _MM_FROUND_CUR_DIRECTION);
#endif
  return a < b ? b : a;
}
// Of any integers but the smallest one, which has no negative.
template <typename V>
[[gnu::always_inline]] inline V magnitude(const V& v) {
  return v < 0 ? -v : v;
}

// --- Places -------------------------------------------------------------------------------------

template <std::size_t part, typename V, int... i>
[[gnu::always_inline]] inline V interleaved(const V& a, const V& b,
                                            std::integer_sequence<int, i...>) {
  constexpr int count = sizeof...(i);
  constexpr int lane = lane_bytes / sizeof(NumberOf<V>);
  return __builtin_shufflevector(
      a, b, (i / lane * lane + i % lane / 2 + int{part} * lane / 2 + i % 2 * count)...);
}
// Interleaves in lanes: a0 b0 a1 b1 ... of the first or of the second halves.
template <typename V>
[[gnu::always_inline]] inline V interleaved_low(const V& a, const V& b) {
  return interleaved<0>(a, b, std::make_integer_sequence<int, count_of<V>>());
}
template <typename V>
[[gnu::always_inline]] inline V interleaved_high(const V& a, const V& b) {
  return interleaved<1>(a, b, std::make_integer_sequence<int, count_of<V>>());
}

// Interleaves, in lanes, the first half with the second.
template <typename Number, typename V>
[[gnu::always_inline]] inline V halves_interleaved(const V& v) {
  const auto both = as<std::uint64_t>(v);
  return as<NumberOf<V>>(interleaved_low(as<Number>(v), as<Number>(interleaved_high(both, both))));
}

// In lanes: number i of vector n becomes number n of vector i.
template <typename V>
[[gnu::always_inline]] inline void transpose(
    std::array<V, lane_bytes / sizeof(NumberOf<V>)>& square) {
  constexpr std::size_t side = lane_bytes / sizeof(NumberOf<V>);
#pragma GCC unroll 4
  for (std::size_t round = 1; round < side; round *= 2) {
    const auto from = square;
#pragma GCC unroll 8
    for (std::size_t n = 0; n < side / 2; ++n) {
      square[2 * n] = interleaved_low(from[n], from[n + side / 2]);
      square[2 * n + 1] = interleaved_high(from[n], from[n + side / 2]);
    }
  }
}

// Byte positions in a lane; `no_byte` gives 0.
using LanePlaces = std::array<std::uint8_t, lane_bytes>;
inline constexpr std::uint8_t no_byte = 0xFF;

#ifdef GPUFILTER_X86_VECTORS
// The bytes that are moved by `distance` and by those above it.
template <LanePlaces places, int distance, typename V>
[[gnu::always_inline]] inline V shuffled_by_distance(const V& v) {
  if constexpr (distance < int{lane_bytes}) {
    constexpr auto moved = [] {
      std::array<std::uint8_t, lane_bytes> bytes{};
      for (int i = 0; i < int{lane_bytes}; ++i)
        bytes[i] = places[i] != no_byte && i - places[i] == distance ? 0xFF : 0;
      return bytes;
    }();
    const V others = shuffled_by_distance<places, distance + 1>(v);
    if constexpr (moved == decltype(moved){}) return others;
    const auto longs = as<long long>(v);
    const V all = as<NumberOf<V>>(distance < 0 ? __builtin_ia32_psrldqi128(longs, -8 * distance)
                                               : __builtin_ia32_pslldqi128(longs, 8 * distance));
    return others | (all & load<V>(moved.data()));
  } else {
    return V{};
  }
}
#endif

template <LanePlaces places, typename V, int... i>
[[gnu::always_inline]] inline V shuffled(const V& v, std::integer_sequence<int, i...>) {
  constexpr int lane = lane_bytes;
  return as<NumberOf<V>>(__builtin_shufflevector(
      as<std::uint8_t>(v), VectorLike<V, std::uint8_t>{},
      (places[i % lane] == no_byte ? int{sizeof...(i)} + i
                                   : i / lane * lane + places[i % lane])...));
}
#ifdef GPUFILTER_X86_VECTORS
// Shuffles in lanes: byte i comes from places[i] modulo 16, or is 0 if places[i] is negative.
template <typename Bytes>
[[gnu::always_inline]] inline Bytes shuffled(const Bytes& v, const Bytes& places) {
  using Chars = VectorLike<Bytes, char>;
  const auto bytes = as<char>(v);
  const auto from = as<char>(places);
  if constexpr (sizeof(v) == 16) return as<NumberOf<Bytes>>(__builtin_ia32_pshufb128(bytes, from));
  if constexpr (sizeof(v) == 32) return as<NumberOf<Bytes>>(__builtin_ia32_pshufb256(bytes, from));
  if constexpr (sizeof(v) == 64)
    return as<NumberOf<Bytes>>(__builtin_ia32_pshufb512_mask(bytes, from, Chars{}, -1));
}
#endif
// Shuffles in lanes: byte i comes from places[i]. Without has_shuffle, this takes some instructions
// for each distance by which bytes move.
template <LanePlaces places, typename V>
[[gnu::always_inline]] inline V shuffled(const V& v) {
#ifdef GPUFILTER_X86_VECTORS
  if constexpr (sizeof(V) > lane_bytes) {
    constexpr auto in_each_lane = [] {
      std::array<std::uint8_t, sizeof(V)> bytes{};
      for (std::size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = places[i % lane_bytes];
      return bytes;
    }();
    return as<NumberOf<V>>(
        shuffled(as<std::uint8_t>(v), load<VectorLike<V, std::uint8_t>>(in_each_lane.data())));
  }
#ifndef __SSSE3__
  if constexpr (sizeof(V) == lane_bytes) return shuffled_by_distance<places, -15>(v);
#endif
#endif
  return shuffled<places>(v, std::make_integer_sequence<int, sizeof(V)>());
}

// Byte i is the one at places[i], in any lane. Fast only if has_permutation.
template <InstructionSet set, typename Bytes>
[[gnu::always_inline]] inline Bytes permuted(const Bytes& bytes, const Bytes& places) {
#ifdef GPUFILTER_X86_VECTORS
  if constexpr (has_permutation<set>) {  // GCC 12 takes an instruction of two vectors by itself
    using Chars = VectorLike<Bytes, char>;
    return as<NumberOf<Bytes>>(
        __builtin_ia32_permvarqi512_mask(as<char>(bytes), as<char>(places), Chars{}, -1));
  }
#endif
#ifdef __clang__
  Bytes result;
  for (std::size_t i = 0; i < sizeof(Bytes); ++i)
    result[i] = bytes[places[i] % sizeof(Bytes)];
  return result;
#else
  return __builtin_shuffle(bytes, places);
#endif
}

// 32-bit values whose upper, or else lower, halves are the lower halves of `halves`' values.
template <bool upper, typename Ints>
[[gnu::always_inline]] inline Ints with_halves(const Ints& v, const Ints& halves) {
#ifdef GPUFILTER_X86_VECTORS
  if constexpr (sizeof(Ints) == 64 && !upper) {
    return as<std::int32_t>(__builtin_ia32_movdquhi512_mask(as<std::int16_t>(halves),
                                                            as<std::int16_t>(v), 0x55555555U));
  }
  if constexpr (sizeof(Ints) == 64 && upper) {
    // Avoids a shift, because 512-bit vectors are shifted by one port only.
    using Chars = VectorLike<Ints, char>;
    constexpr auto twice = [] {
      std::array<std::uint8_t, sizeof(Ints)> places{};
      for (std::size_t i = 0; i < places.size(); ++i)
        places[i] = static_cast<std::uint8_t>(i % lane_bytes / 4 * 4 + i % 2);
      return places;
    }();
    return as<std::int32_t>(__builtin_ia32_pshufb512_mask(
        as<char>(halves), load<Chars>(twice.data()), as<char>(v), 0xccccccccccccccccU));
  }
#endif
  return upper ? (v & 0xffff) | halves << 16 : v ^ ((v ^ halves) & 0xffff);
}

// Whether there are instructions that look bytes up in tables.
template <InstructionSet set>
#if defined(GPUFILTER_X86_VECTORS) || defined(__aarch64__)
inline constexpr bool has_byte_tables = has_shuffle<set>;
#else
inline constexpr bool has_byte_tables = false;
#endif

// An entry for every byte. Only if has_byte_tables.
template <InstructionSet set>
class ByteTable {
 public:
  using Bytes = Vector<std::uint8_t, set>;

  [[gnu::always_inline]] explicit ByteTable(const std::uint8_t* entries) {
    using Lane = typename VectorOf<std::uint8_t, lane_bytes>::type;
    for (std::size_t part = 0; part < parts_.size(); ++part) {
      if constexpr (has_permutation<set>) {
        parts_[part] = load<Bytes>(entries + part * sizeof(Bytes));
      } else {
        auto lane = load<Lane>(entries + part * lane_bytes);
#ifdef GPUFILTER_X86_VECTORS
        // Cancels the previous part, which is set wherever this one is.
        if (part % 8 != 0) lane ^= load<Lane>(entries + (part - 1) * lane_bytes);
#endif
        auto* to = reinterpret_cast<char*>(&parts_[part]);
        for (std::size_t i = 0; i < sizeof(Bytes); i += lane_bytes)
          store(to + i, lane);
      }
    }
  }

  // Replaces all bytes by their entries: parts of the table are loaded once for some vectors.
  template <std::size_t count>
  [[gnu::always_inline]] void look_up(std::array<Bytes, count>& bytes) const {
    if constexpr (has_permutation<set>) {
      for (Bytes& each : bytes) {
        const Bytes low = __builtin_shuffle(parts_[0], parts_[1], each);
        const Bytes high = __builtin_shuffle(parts_[2], parts_[3], each);
        each = each > 127 ? high : low;
      }
    } else {
      std::array<Bytes, count> found{};
#ifdef __aarch64__
      for (std::size_t part = 0; part < parts_.size(); part += 4) {
        const auto of = [&](std::size_t i) {
          return reinterpret_cast<uint8x16_t>(parts_[part + i]);
        };
        const uint8x16x4_t four{{of(0), of(1), of(2), of(3)}};
        for (std::size_t n = 0; n < count; ++n) {
          const auto places =
              reinterpret_cast<uint8x16_t>(bytes[n] - static_cast<std::uint8_t>(part * lane_bytes));
          found[n] |= reinterpret_cast<Bytes>(vqtbl4q_u8(four, places));
        }
      }
#elif defined(GPUFILTER_X86_VECTORS)
      for (const std::size_t first : {0, 8}) {
        std::array<Bytes, count> places;
        // Negative, and for all parts, if in the other half.
#pragma GCC unroll 4
        for (std::size_t n = 0; n < count; ++n) {
          const auto place = as<std::int8_t>(bytes[n] ^ static_cast<std::uint8_t>(16 * first));
          places[n] = as<std::uint8_t>(place < -16 ? VectorLike<Bytes, std::int8_t>{} - 16 : place);
        }
#pragma GCC unroll 1  // otherwise GCC 12 keeps more than fits the registers
        for (std::size_t part = first; part < first + 8; ++part) {
#pragma GCC unroll 4
          for (std::size_t n = 0; n < count; ++n) {
            found[n] ^= shuffled(parts_[part], places[n]);
            places[n] -= 16;
          }
        }
      }
#endif
      bytes = found;
    }
  }

 private:
  std::array<Bytes, has_permutation<set> ? 4 : 16> parts_;
};

// --- Conversions --------------------------------------------------------------------------------

// Widens, in lanes, the unsigned values of the first or of the second half to twice the bits.
template <typename Wide, typename V>
[[gnu::always_inline]] inline VectorLike<V, Wide> widened_low(const V& v) {
  return as<Wide>(interleaved_low(v, V{}));
}
template <typename Wide, typename V>
[[gnu::always_inline]] inline VectorLike<V, Wide> widened_high(const V& v) {
  return as<Wide>(interleaved_high(v, V{}));
}

// Narrows to half the bits with saturation; in lanes, `a`'s values, then `b`'s.
template <typename Narrow, typename V>
[[gnu::always_inline]] inline VectorLike<V, Narrow> narrowed(const V& a, const V& b) {
  using Result = VectorLike<V, Narrow>;
#ifdef GPUFILTER_X86_VECTORS
  if constexpr (std::is_same_v<Narrow, std::int16_t>) {
    if constexpr (sizeof(V) == 16) return __builtin_ia32_packssdw128(a, b);
    if constexpr (sizeof(V) == 32) return __builtin_ia32_packssdw256(a, b);
    if constexpr (sizeof(V) == 64) return __builtin_ia32_packssdw512_mask(a, b, Result{}, -1);
  } else {
    using Chars = VectorLike<V, char>;
    if constexpr (sizeof(V) == 16) return as<Narrow>(__builtin_ia32_packuswb128(a, b));
    if constexpr (sizeof(V) == 32) return as<Narrow>(__builtin_ia32_packuswb256(a, b));
    if constexpr (sizeof(V) == 64)
      return as<Narrow>(__builtin_ia32_packuswb512_mask(a, b, Chars{}, -1));
  }
#elif defined(__aarch64__)
  if constexpr (std::is_same_v<Narrow, std::int16_t>) {
    return reinterpret_cast<Result>(vqmovn_high_s32(vqmovn_s32(reinterpret_cast<int32x4_t>(a)),
                                                    reinterpret_cast<int32x4_t>(b)));
  } else {
    return reinterpret_cast<Result>(vqmovun_high_s16(vqmovun_s16(reinterpret_cast<int16x8_t>(a)),
                                                     reinterpret_cast<int16x8_t>(b)));
  }
#else
  using Wide = NumberOf<V>;
  constexpr Wide low = std::numeric_limits<Narrow>::min();
  constexpr Wide high = std::numeric_limits<Narrow>::max();
  constexpr std::size_t half = lane_bytes / sizeof(Wide);
  Result result;
  for (std::size_t i = 0; i < count_of<V>; ++i) {
    const std::size_t to = i / half * 2 * half + i % half;
    result[to] = static_cast<Narrow>(a[i] < low ? low : a[i] > high ? high : a[i]);
    result[to + half] = static_cast<Narrow>(b[i] < low ? low : b[i] > high ? high : b[i]);
  }
  return result;
#endif
}

// The nearest integers, half to even. NaNs and values beyond int32 give a number not above 0;
// values above the range may give the largest instead.
template <typename Floats>
[[gnu::always_inline]] inline VectorLike<Floats, std::int32_t> rounded(const Floats& floats) {
#ifdef GPUFILTER_X86_VECTORS
  if constexpr (sizeof(Floats) == 16) return __builtin_ia32_cvtps2dq(floats);
  if constexpr (sizeof(Floats) == 32) return __builtin_ia32_cvtps2dq256(floats);
  if constexpr (sizeof(Floats) == 64) {
    return __builtin_ia32_cvtps2dq512_mask(floats, VectorLike<Floats, std::int32_t>{}, -1,
                                           _MM_FROUND_CUR_DIRECTION);
  }
#elif defined(__aarch64__)
  return reinterpret_cast<VectorLike<Floats, std::int32_t>>(
      vcvtnq_s32_f32(reinterpret_cast<float32x4_t>(floats)));
#else
  VectorLike<Floats, std::int32_t> result;
  for (std::size_t i = 0; i < count_of<Floats>; ++i) {
    const bool fits = floats[i] >= -0x1p31F && floats[i] < 0x1p31F;
    result[i] = fits ? static_cast<std::int32_t>(std::nearbyint(floats[i]))
                     : std::numeric_limits<std::int32_t>::min();
  }
  return result;
#endif
}

// a + b for bytes, in 16 bits; in lanes, of the first half and of the second.
template <InstructionSet set, typename Bytes>
[[gnu::always_inline]] inline std::array<VectorLike<Bytes, std::int16_t>, 2> sums_of_bytes(
    const Bytes& a, const Bytes& b) {
#if defined(__aarch64__)
  using Shorts = VectorLike<Bytes, std::int16_t>;
  const auto x = reinterpret_cast<uint8x16_t>(a);
  const auto y = reinterpret_cast<uint8x16_t>(b);
  return {reinterpret_cast<Shorts>(vaddl_u8(vget_low_u8(x), vget_low_u8(y))),
          reinterpret_cast<Shorts>(vaddl_high_u8(x, y))};
#elif defined(GPUFILTER_X86_VECTORS)
  if constexpr (has_shuffle<set>) {  // and products of bytes
    const auto sums = [](const Bytes& pairs) __attribute__((always_inline)) {
      const auto numbers = as<char>(pairs);
      const auto ones = VectorLike<Bytes, char>{} + static_cast<char>(1);
      if constexpr (sizeof(Bytes) == 16) return __builtin_ia32_pmaddubsw128(numbers, ones);
      if constexpr (sizeof(Bytes) == 32) return __builtin_ia32_pmaddubsw256(numbers, ones);
      if constexpr (sizeof(Bytes) == 64) {
        return __builtin_ia32_pmaddubsw512_mask(numbers, ones, VectorLike<Bytes, std::int16_t>{},
                                                -1);
      }
    };
    return {sums(interleaved_low(a, b)), sums(interleaved_high(a, b))};
  }
#endif
  return {as<std::int16_t>(widened_low<std::uint16_t>(a) + widened_low<std::uint16_t>(b)),
          as<std::int16_t>(widened_high<std::uint16_t>(a) + widened_high<std::uint16_t>(b))};
}

// Bytes as numbers of 32 bits.
template <typename Ints>
[[gnu::always_inline]] inline Ints load_bytes(const std::uint8_t* from) {
#ifdef GPUFILTER_X86_VECTORS
  if constexpr (sizeof(Ints) == 64) {
    const auto bytes = load<typename VectorOf<char, 16>::type>(from);
    return __builtin_ia32_pmovzxbd512_mask(bytes, Ints{}, -1);
  }
  if constexpr (sizeof(Ints) == 32) {  // GCC 12 takes them one by one
    const VectorOf<long long, 16>::type bytes{load<long long>(from), 0};
    return __builtin_ia32_pmovzxbd256(as<char>(bytes));
  }
#endif
  return __builtin_convertvector(load<typename VectorOf<std::uint8_t, count_of<Ints>>::type>(from),
                                 Ints);
}

// Converts four integers to doubles, and doubles to integers by truncation.
using FourInts = VectorOf<std::int32_t, 16>::type;
using FourDoubles = VectorOf<double, 32>::type;
template <InstructionSet set>
[[gnu::always_inline]] inline FourDoubles to_doubles(const FourInts& numbers) {
#ifdef GPUFILTER_X86_VECTORS
  if constexpr (set >= InstructionSet::avx2) return __builtin_ia32_cvtdq2pd256(numbers);
#endif
  return __builtin_convertvector(numbers, FourDoubles);
}
template <InstructionSet set>
[[gnu::always_inline]] inline FourInts truncated(const FourDoubles& numbers) {
#ifdef GPUFILTER_X86_VECTORS
  if constexpr (set >= InstructionSet::avx2) return __builtin_ia32_cvttpd2dq256(numbers);
#endif
  return __builtin_convertvector(numbers, FourInts);
}

// --- Products -----------------------------------------------------------------------------------

// a * b + c, rounded once.
template <InstructionSet set, typename Floats>
[[gnu::always_inline]] inline Floats fused_multiply_add(const Floats& a, const Floats& b,
                                                        const Floats& c) {
#ifdef GPUFILTER_X86_VECTORS
  if constexpr (sizeof(Floats) == 16 && set >= InstructionSet::avx2)
    return __builtin_ia32_vfmaddps(a, b, c);
  if constexpr (sizeof(Floats) == 32) return __builtin_ia32_vfmaddps256(a, b, c);
  if constexpr (sizeof(Floats) == 64)
    return __builtin_ia32_vfmaddps512_mask(a, b, c, -1, _MM_FROUND_CUR_DIRECTION);
#elif defined(__aarch64__)
  return reinterpret_cast<Floats>(vfmaq_f32(reinterpret_cast<float32x4_t>(c),
                                            reinterpret_cast<float32x4_t>(a),
                                            reinterpret_cast<float32x4_t>(b)));
#endif
  // GCC 12 vectorises this only with arrays.
  using Numbers = std::array<float, count_of<Floats>>;
  const auto x = std::bit_cast<Numbers>(a);
  const auto y = std::bit_cast<Numbers>(b);
  const auto z = std::bit_cast<Numbers>(c);
  Numbers result;
  for (std::size_t i = 0; i < result.size(); ++i)
    result[i] = fused_multiply_add<set>(x[i], y[i], z[i]);
  return std::bit_cast<Floats>(result);
}

// The upper halves of products of 16-bit values.
template <typename Words>
[[gnu::always_inline]] inline Words multiplied_high(const Words& a, const Words& b) {
  static_assert(std::is_same_v<NumberOf<Words>, std::uint16_t>);
#ifdef GPUFILTER_X86_VECTORS
  using Shorts = VectorLike<Words, std::int16_t>;
  const auto x = as<std::int16_t>(a);
  const auto y = as<std::int16_t>(b);
  if constexpr (sizeof(Words) == 16) return as<std::uint16_t>(__builtin_ia32_pmulhuw128(x, y));
  if constexpr (sizeof(Words) == 32) return as<std::uint16_t>(__builtin_ia32_pmulhuw256(x, y));
  if constexpr (sizeof(Words) == 64)
    return as<std::uint16_t>(__builtin_ia32_pmulhuw512_mask(x, y, Shorts{}, -1));
#elif defined(__aarch64__)
  const auto x = reinterpret_cast<uint16x8_t>(a);
  const auto y = reinterpret_cast<uint16x8_t>(b);
  const uint32x4_t low = vmull_u16(vget_low_u16(x), vget_low_u16(y));
  return reinterpret_cast<Words>(
      vuzp2q_u16(vreinterpretq_u16_u32(low), vreinterpretq_u16_u32(vmull_high_u16(x, y))));
#else
  Words result;
  for (std::size_t i = 0; i < count_of<Words>; ++i)
    result[i] = static_cast<std::uint16_t>(std::uint32_t{a[i]} * b[i] >> 16U);
  return result;
#endif
}

// sums[i] + a[2 i] * b[2 i] + a[2 i + 1] * b[2 i + 1], modulo 2^32. Not all four may be -2^15.
template <InstructionSet set, typename Ints, typename Shorts>
[[gnu::always_inline]] inline Ints plus_pairs(const Ints& sums, const Shorts& a, const Shorts& b) {
  const auto plus = [&](const auto& products) __attribute__((always_inline)) {
    return as<std::int32_t>(as<std::uint32_t>(sums) + as<std::uint32_t>(products));
  };
#ifdef GPUFILTER_X86_VECTORS
  if constexpr (set >= InstructionSet::avx512_vnni)
    return __builtin_ia32_vpdpwssd_v16si(sums, as<std::int32_t>(a), as<std::int32_t>(b));
  else if constexpr (sizeof(Ints) == 64)
    return plus(__builtin_ia32_pmaddwd512_mask(a, b, Ints{}, -1));
  else if constexpr (sizeof(Ints) == 32)
    return plus(__builtin_ia32_pmaddwd256(a, b));
  else
    return plus(__builtin_ia32_pmaddwd128(a, b));
#elif defined(__aarch64__)
  const auto x = reinterpret_cast<int16x8_t>(a);
  const auto y = reinterpret_cast<int16x8_t>(b);
  return plus(reinterpret_cast<Ints>(
      vpaddq_s32(vmull_s16(vget_low_s16(x), vget_low_s16(y)), vmull_high_s16(x, y))));
#else
  Ints products;
  for (std::size_t i = 0; i < count_of<Ints>; ++i) {
    products[i] =
        static_cast<std::int32_t>(static_cast<std::uint32_t>(a[2 * i] * b[2 * i]) +
                                  static_cast<std::uint32_t>(a[2 * i + 1] * b[2 * i + 1]));
  }
  return plus(products);
#endif
}

// sums[i] + the sum of bytes[4 i + k] * weights[4 i + k] for k = 0 ... 3, modulo 2^32; bytes are
// from 0 to 255, weights from -128 to 127. One instruction if has_fours on x86.
template <InstructionSet set, typename Ints>
[[gnu::always_inline]] inline Ints plus_fours(const Ints& sums, const Ints& bytes,
                                              const Ints& weights) {
#ifdef GPUFILTER_X86_VECTORS
  if constexpr (set >= InstructionSet::avx512_vnni)
    return __builtin_ia32_vpdpbusd_v16si(sums, bytes, weights);
#elif defined(__aarch64__)
  if constexpr (set == InstructionSet::neon_dot) {
    // Signed times signed: bytes less 128, and 128 times the weights.
    const auto w = reinterpret_cast<int8x16_t>(weights);
    const int8x16_t half = vdupq_n_s8(64);
    const auto shifted = reinterpret_cast<int8x16_t>(bytes ^ static_cast<std::int32_t>(0x80808080));
    // The intrinsic vdotq_s32() would not be inlined here.
    const auto dot = [](int32x4_t to, int8x16_t x, int8x16_t y) __attribute__((always_inline)) {
      return __builtin_aarch64_sdot_prodv16qi(x, y, to);
    };
    const int32x4_t sum =
        dot(dot(dot(reinterpret_cast<int32x4_t>(sums), shifted, w), half, w), half, w);
    return reinterpret_cast<Ints>(sum);
  }
#endif
  const auto even = as<std::int16_t>(bytes & 0x00ff00ff);
  const auto odd = as<std::int16_t>(as<std::int32_t>(as<std::uint32_t>(bytes) >> 8U) & 0x00ff00ff);
  const auto shorts = as<std::int16_t>(weights);
  const Ints sum = plus_pairs<set>(sums, even, static_cast<decltype(shorts)>(shorts << 8 >> 8));
  return plus_pairs<set>(sum, odd, static_cast<decltype(shorts)>(shorts >> 8));
}

}  // namespace gpufilter
