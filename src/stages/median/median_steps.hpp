// The steps of a plan for medians, on vectors.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>

#include "host/vectors.hpp"
#include "stages/median/median_plan.hpp"

namespace gpufilter::median {

// Executes steps for as many tiles as a Number, a vector, has samples.
template <typename Number>
class Steps {
 public:
  // `places`: the slots that the plan needs.
  explicit Steps(Number* places) : places_(places) {}

  // sample_at(x, y) is where the samples at (x, y) begin, median_at(x, y) where the medians go.
  template <typename SampleAt, typename MedianAt>
  [[gnu::always_inline]] void take(const Plan& plan, const SampleAt& sample_at,
                                   const MedianAt& median_at) {
    using Kind = Step::Kind;
    for (const Step& step : plan.steps) {
      Number* to = places_ + step.to;
      Number* a = places_ + step.a;
      const size_t count = step.count;  // not from memory that vectors may overwrite
      switch (step.kind) {
        case Kind::read:
          read(step, sample_at, to);
          break;
        case Kind::fill:
          for (size_t i = 0; i < count; ++i)
            to[i] = ~Number{};
          break;
        case Kind::compare:
          for (size_t i = 0; i < count; ++i)
            compare(to[i], a[i]);
          break;
        case Kind::mirrored:
          for (size_t i = 0; i < count; ++i)
            compare(to[i], *(a - i));
          break;
        case Kind::minima:
          for (size_t i = 0; i < count; ++i)
            to[i] = minimum(to[i], a[i]);
          break;
        case Kind::sort:
          sort(to, count, step.a);
          break;
        case Kind::insert:
          insert(a, count, sample(step, sample_at, 0), to);
          break;
        case Kind::insert_two:
          insert_two(a, count, sample(step, sample_at, 0), sample(step, sample_at, 1), to);
          break;
        case Kind::merge:
          merge(step, to);
          break;
        case Kind::narrow:
          narrow(step, to);
          break;
        case Kind::join:
          join(step, to);
          break;
        case Kind::median:
          const Number smallest = smallest_of_merged(step);
          std::memcpy(median_at(step.x, step.y), &smallest, sizeof smallest);
      }
    }
  }

 private:
  [[gnu::always_inline]] static void compare(Number& a, Number& b) {
    const Number low = minimum(a, b);
    b = maximum(a, b);
    a = low;
  }

  template <typename SampleAt>
  [[gnu::always_inline]] static Number sample(const Step& step, const SampleAt& sample_at,
                                              size_t i) {
    return load<Number>(step.along_x ? sample_at(step.x + i, step.y)
                                     : sample_at(step.x, step.y + i));
  }

  template <typename SampleAt>
  [[gnu::always_inline]] static void read(const Step& step, const SampleAt& sample_at, Number* to) {
    if (step.count > 4) {
      read_sorted<8>(step, sample_at, to);
    } else if (step.count > 2) {
      read_sorted<4>(step, sample_at, to);
    } else {
      read_sorted<2>(step, sample_at, to);
    }
  }

  template <size_t maximum, typename SampleAt>
  [[gnu::always_inline]] static void read_sorted(const Step& step, const SampleAt& sample_at,
                                                 Number* to) {
    std::array<Number, maximum> numbers;
    const size_t count = step.count;
#pragma GCC unroll 8
    for (size_t i = 0; i < maximum; ++i)
      numbers[i] = i < count ? sample(step, sample_at, i) : ~Number{};
    sort_apart<maximum>(numbers);
#pragma GCC unroll 8
    for (size_t i = 0; i < maximum; ++i)
      to[i] = numbers[i];
  }

  // Odd-even merge of lists of 1, 2, 4, ... values (K. Batcher: Sorting networks and their
  // applications, 1968).
  template <size_t count>
  [[gnu::always_inline]] static void sort_apart(std::array<Number, count>& numbers) {
#pragma GCC unroll 3
    for (size_t size = 1; size < count; size *= 2) {
#pragma GCC unroll 3
      for (size_t distance = size; distance > 0; distance /= 2) {
#pragma GCC unroll 8
        for (size_t k = distance % size; k + distance < count; ++k) {
          const bool is_first = (k - distance % size) % (2 * distance) < distance;
          if (is_first && k / (2 * size) == (k + distance) / (2 * size))
            compare(numbers[k], numbers[k + distance]);
        }
      }
    }
  }

  // Handles several distances at once, while the values are in registers.
  [[gnu::always_inline]] static void sort(Number* list, size_t size, unsigned exponent) {
    constexpr unsigned at_once = sizeof(Number) == 64 ? 4 : 3;  // 32 registers, or 16
    while (exponent > 0) {
      const unsigned rounds = (exponent + at_once - 1) / at_once;
      const unsigned distances = (exponent + rounds - 1) / rounds;
      if (distances == 1) {
        compare_at_distances<1>(list, size, exponent);
      } else if (distances == 2) {
        compare_at_distances<2>(list, size, exponent);
      } else if (distances == 3) {
        compare_at_distances<3>(list, size, exponent);
      } else if constexpr (at_once == 4) {
        compare_at_distances<4>(list, size, exponent);
      }
      exponent -= distances;
    }
  }
  template <unsigned distances>
  [[gnu::always_inline]] static void compare_at_distances(Number* list, size_t size,
                                                          unsigned exponent) {
    constexpr size_t together = size_t{1} << distances;
    const size_t step = size_t{1} << (exponent - distances);
    for (size_t begin = 0; begin < size; begin += step * together) {
      for (size_t i = begin; i < begin + step; ++i) {
        std::array<Number, together> numbers;
#pragma GCC unroll 16
        for (size_t k = 0; k < together; ++k)
          numbers[k] = list[i + k * step];
#pragma GCC unroll 4
        for (size_t distance = together / 2; distance > 0; distance /= 2) {
#pragma GCC unroll 16
          for (size_t k = 0; k < together; ++k) {
            if ((k & distance) == 0) compare(numbers[k], numbers[k + distance]);
          }
        }
#pragma GCC unroll 16
        for (size_t k = 0; k < together; ++k)
          list[i + k * step] = numbers[k];
      }
    }
  }

  // The moves are independent: a value moves up if the one before it is larger than `more`.
  [[gnu::always_inline]] static void insert(const Number* list, size_t count, const Number& more,
                                            Number* to) {
    Number before = list[0];
    to[0] = minimum(before, more);
    for (size_t i = 1; i < count; ++i) {
      const Number next = list[i];
      to[i] = maximum(before, minimum(next, more));
      before = next;
    }
    to[count] = maximum(before, more);
  }
  [[gnu::always_inline]] static void insert_two(const Number* list, size_t count,
                                                const Number& first, const Number& second,
                                                Number* to) {
    Number before = list[0];
    Number merged = minimum(before, first);
    to[0] = minimum(merged, second);
    for (size_t i = 1; i < count; ++i) {
      const Number next = list[i];
      const Number next_merged = maximum(before, minimum(next, first));
      to[i] = maximum(merged, minimum(next_merged, second));
      before = next;
      merged = next_merged;
    }
    const Number last = maximum(before, first);
    to[count] = maximum(merged, minimum(last, second));
    to[count + 1] = maximum(last, second);
  }

  [[gnu::always_inline]] void merge(const Step& step, Number* to) const {
    const Step::Merge lists = step.merge;
    const Number* a = places_ + step.a;
    const Number* b = places_ + step.b + lists.end_b;
    for (size_t i = lists.falling; i > 0; --i)
      *to++ = b[i - 1];
    for (size_t i = 0; i < lists.pairs; ++i)
      *to++ = maximum(*a++, *--b);
    for (size_t i = 0; i < lists.rising; ++i)
      *to++ = *a++;
  }

  [[gnu::always_inline]] void narrow(const Step& step, Number* to) const {
    const Number* a = places_ + step.a;
    const Number* b = places_ + step.b + step.merge.end_b - 1;
    const size_t count = step.count;
    const size_t pairs = step.merge.pairs;
    const size_t both = std::min(pairs, pairs + step.merge.rising - count);
    size_t i = 0;
    for (; i < both; ++i)
      to[i] = minimum(maximum(a[i], *(b - i)), a[i + count]);
    for (; i < pairs; ++i)
      to[i] = maximum(a[i], *(b - i));
    for (; i < count; ++i)  // not larger than those after them
      to[i] = a[i];
  }

  [[gnu::always_inline]] void join(const Step& step, Number* to) const {
    const size_t falling = step.merge.falling;
    const size_t all = falling + step.merge.rising;
    const size_t count = step.count;
    const Number* a = places_ + step.a;
    const Number* b = places_ + step.b + falling - 1;
    const size_t both = std::min(falling, all - count);
    size_t i = 0;
    for (; i < both; ++i) {
      const Number& other = a[i + count - falling];
      to[i] = minimum(*(b - i), other);
      to[i + count] = maximum(*(b - i), other);
    }
    for (; i < falling; ++i)
      to[i] = *(b - i);
    for (; i < count; ++i)  // not larger than those after them
      to[i] = a[i - falling];
    for (i = count + both; i < all; ++i)
      to[i] = a[i - falling];
  }

  // The smallest of the falling numbers is the last, and of the rising ones the first.
  [[gnu::always_inline]] Number smallest_of_merged(const Step& step) const {
    const Step::Merge lists = step.merge;
    const Number* a = places_ + step.a;
    const Number* b = places_ + step.b + lists.end_b;
    Number result = ~Number{};
    if (lists.falling > 0) result = *b;
    if (lists.rising > 0) result = minimum(result, a[lists.pairs]);
    for (size_t i = 0; i < lists.pairs; ++i)
      result = minimum(result, maximum(*a++, *--b));
    return result;
  }

  Number* places_;
};

}  // namespace gpufilter::median
