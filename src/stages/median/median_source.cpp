#include "stages/median/median_source.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "base/format.hpp"
#include "stages/median/median_plan.hpp"

namespace gpufilter::median {
namespace {

using std::size_t;

// Writes the steps of a plan as assignments. A number that no one needs any more keeps its name:
// compilers see for how long each lives. Infinite numbers take no comparison.
class Writer {
 public:
  explicit Writer(const Plan& plan) : plan_(plan), places_(2 * plan.places) {}

  std::string text() {
    for (const Step& step : plan_.steps)
      take(step);
    return std::move(text_);
  }

 private:
  using Number = std::optional<int>;  // of a variable; nothing: infinite
  using Numbers = std::vector<Number>;

  Number assign(char operation, Number a, Number b) {
    text_ += formatted("const uint v{} = {}(v{}, v{}); ", next_, operation, *a, *b);
    return next_++;
  }
  Number smaller(Number a, Number b) {
    if (!a || !b) return a ? a : b;
    return assign('S', a, b);
  }
  Number larger(Number a, Number b) {
    if (!a || !b) return std::nullopt;
    return assign('L', a, b);
  }
  void compare(Number& a, Number& b) {
    const Number low = smaller(a, b);
    b = larger(a, b);
    a = low;
  }
  Number sample(const Step& step, int i) {
    text_ += formatted("const uint v{} = SAMPLE({}, {}); ", next_, step.x + (step.along_x ? i : 0),
                       step.y + (step.along_x ? 0 : i));
    return next_++;
  }

  void take(const Step& step) {
    using Kind = Step::Kind;
    const auto to = places_.begin() + step.to;
    const auto a = places_.begin() + step.a;
    switch (step.kind) {
      case Kind::read:
        std::ranges::copy(sorted_samples(step), to);
        break;
      case Kind::fill:
        std::fill_n(to, step.count, std::nullopt);
        break;
      case Kind::compare:
        for (int i = 0; i < step.count; ++i)
          compare(to[i], a[i]);
        break;
      case Kind::mirrored:
        for (int i = 0; i < step.count; ++i)
          compare(to[i], *(a - i));
        break;
      case Kind::minima:
        for (int i = 0; i < step.count; ++i)
          to[i] = smaller(to[i], a[i]);
        break;
      case Kind::sort:
        for (int distance = 1 << step.a >> 1; distance > 0; distance /= 2) {
          for (int i = 0; i < step.count; ++i) {
            if ((i & distance) == 0) compare(to[i], to[i + distance]);
          }
        }
        break;
      case Kind::insert:
      case Kind::insert_two:
        insert(step);
        break;
      case Kind::merge:
      case Kind::narrow:
      case Kind::join:
        std::ranges::copy(merged(step), to);
        break;
      case Kind::median:
        text_ += formatted("MEDIAN({}, {}, v{}) ", step.x, step.y, *smallest_of_merged(step));
    }
  }

  // By Batcher's merges, up to a power of two.
  Numbers sorted_samples(const Step& step) {
    const int size = step.count > 4 ? 8 : step.count > 2 ? 4 : 2;
    Numbers numbers;
    for (int i = 0; i < step.count; ++i)
      numbers.push_back(sample(step, i));
    numbers.resize(static_cast<size_t>(size));
    for (int part = 1; part < size; part *= 2) {
      for (int distance = part; distance > 0; distance /= 2) {
        for (int k = distance % part; k + distance < size; ++k) {
          const bool is_first = (k - distance % part) % (2 * distance) < distance;
          if (is_first && k / (2 * part) == (k + distance) / (2 * part))
            compare(numbers[static_cast<size_t>(k)], numbers[static_cast<size_t>(k + distance)]);
        }
      }
    }
    return numbers;
  }

  void insert(const Step& step) {
    const auto a = places_.begin() + step.a;
    Numbers list(a, a + step.count);
    for (int i = 0; i < (step.kind == Step::Kind::insert ? 1 : 2); ++i) {
      const Number more = sample(step, i);
      Numbers longer{smaller(list.front(), more)};
      for (size_t k = 1; k < list.size(); ++k)
        longer.push_back(larger(list[k - 1], smaller(list[k], more)));
      longer.push_back(larger(list.back(), more));
      list = std::move(longer);
    }
    std::ranges::copy(list, places_.begin() + step.to);
  }

  // The numbers that the step writes.
  Numbers merged(const Step& step) {
    Numbers numbers = fallen_and_risen(step);
    if (step.kind == Step::Kind::merge) return numbers;
    const auto count = static_cast<size_t>(step.count);
    for (size_t i = 0; i + count < numbers.size() && i < count; ++i) {
      if (step.kind == Step::Kind::join) {
        compare(numbers[i], numbers[i + count]);
      } else {
        numbers[i] = smaller(numbers[i], numbers[i + count]);
      }
    }
    if (step.kind == Step::Kind::narrow) numbers.resize(std::min(count, numbers.size()));
    return numbers;
  }
  Numbers fallen_and_risen(const Step& step) {
    const Step::Merge lists = step.merge;
    auto a = places_.begin() + step.a;
    auto b = places_.begin() + step.b + lists.end_b;
    Numbers numbers;
    for (int i = lists.falling; i > 0; --i)
      numbers.push_back(b[i - 1]);
    for (int i = 0; i < lists.pairs; ++i)
      numbers.push_back(larger(*a++, *--b));
    numbers.insert(numbers.end(), a, a + lists.rising);
    return numbers;
  }

  // The smallest of the falling numbers is the last, and of the rising ones the first. Neighbouring
  // minima are one instruction on some devices.
  Number smallest_of_merged(const Step& step) {
    const Step::Merge lists = step.merge;
    auto a = places_.begin() + step.a;
    auto b = places_.begin() + step.b + lists.end_b;
    Number result;
    if (lists.falling > 0) result = *b;
    if (lists.rising > 0) result = smaller(result, a[lists.pairs]);
    for (int i = 0; i < lists.pairs; ++i)
      result = smaller(result, larger(*a++, *--b));
    return result;
  }

  const Plan& plan_;
  Numbers places_;
  std::string text_;
  int next_ = 0;
};

}  // namespace

std::string source_of(const Plan& plan) {
  return Writer(plan).text();
}

}  // namespace gpufilter::median
