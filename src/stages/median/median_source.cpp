#include "stages/median/median_source.hpp"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/format.hpp"
#include "stages/median/median_plan.hpp"

namespace gpufilter::median {
namespace {

using std::size_t;

// Writes the steps of a plan as assignments, each to its own variable. A step's results are written
// when another step first needs them, so that few values are live at a time: registers are few.
// Results that no median needs are omitted. Infinite values take no comparison.
class Writer {
 public:
  explicit Writer(const Plan& plan) : plan_(plan), places_(2 * plan.places) {}

  std::string text() {
    for (const Step& step : plan_.steps) {
      made_by_.emplace_back();
      take(step);
    }
    mark_needed();
    for (const Median& median : medians_) {
      write_step(nodes_[number(median.node)].step);
      text_ += formatted("MEDIAN({}, {}, v{}) ", median.x, median.y, median.node);
    }
    return std::move(text_);
  }

 private:
  using Number = std::optional<int>;  // a node; nothing: infinite
  using Numbers = std::vector<Number>;

  struct Node {
    char operation;  // S, L; P: the sample at (a, b)
    int a;
    int b;
    size_t step;
    bool is_needed = false;
  };
  struct Median {
    int x;
    int y;
    int node;
  };

  static size_t number(int node) { return static_cast<size_t>(node); }

  int add(char operation, int a, int b) {
    const auto node = static_cast<int>(nodes_.size());
    nodes_.push_back({operation, a, b, made_by_.size() - 1});
    made_by_.back().push_back(node);
    return node;
  }

  void mark_needed() {
    for (const Median& median : medians_)
      nodes_[number(median.node)].is_needed = true;
    for (size_t i = nodes_.size(); i > 0; --i) {
      const Node& node = nodes_[i - 1];
      if (!node.is_needed || node.operation == 'P') continue;
      nodes_[number(node.a)].is_needed = true;
      nodes_[number(node.b)].is_needed = true;
    }
  }

  void write_step(size_t step) {
    const std::vector<int> made = std::exchange(made_by_[step], {});
    for (const int i : made) {
      const Node& node = nodes_[number(i)];
      if (!node.is_needed || node.operation == 'P') continue;
      for (const int operand : {node.a, node.b}) {
        const size_t other = nodes_[number(operand)].step;
        if (other != step) write_step(other);
      }
    }
    for (const int i : made) {
      const Node& node = nodes_[number(i)];
      if (!node.is_needed) continue;
      text_ +=
          node.operation == 'P'
              ? formatted("const uint v{} = SAMPLE_AT({}, {}); ", i, node.a, node.b)
              : formatted("const uint v{} = {}(v{}, v{}); ", i, node.operation, node.a, node.b);
    }
  }

  Number smaller(Number a, Number b) {
    if (!a || !b) return a ? a : b;
    return add('S', *a, *b);
  }
  Number larger(Number a, Number b) {
    if (!a || !b) return std::nullopt;
    return add('L', *a, *b);
  }
  void compare(Number& a, Number& b) {
    const Number low = smaller(a, b);
    b = larger(a, b);
    a = low;
  }
  Number sample(const Step& step, int i) {
    return add('P', step.x + (step.along_x ? i : 0), step.y + (step.along_x ? 0 : i));
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
        medians_.push_back({step.x, step.y, *smallest_of_merged(step)});
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

  // The values that the step writes.
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
  std::vector<Node> nodes_;
  std::vector<std::vector<int>> made_by_;  // nodes by steps, until they are written
  std::vector<Median> medians_;
  std::string text_;
};

}  // namespace

std::string source_of(const Plan& plan) {
  return Writer(plan).text();
}

}  // namespace gpufilter::median
