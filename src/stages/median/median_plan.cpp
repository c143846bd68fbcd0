#include "stages/median/median_plan.hpp"

#include <algorithm>
#include <bit>
#include <map>

namespace gpufilter::median {
namespace {

using std::size_t;
using Kind = Step::Kind;

std::uint16_t u16(int number) {
  return static_cast<std::uint16_t>(number);
}

// Values in consecutive slots.
struct List {
  int first = 0;
  int count = 0;
};

// Windows of neighbouring pixels. The core holds the samples that all windows contain and that can
// still be a median, sorted. The columns and rows beside the core, which only some windows contain,
// are sorted too.
struct Tile {
  int x = 0;
  int y = 0;
  int width = 1;
  int height = 1;
  int middle = 0;  // where the median would be in the core if it were the whole window
  List core = {};
  std::map<int, List> columns = {};
  std::map<int, List> rows = {};
};

class Planner {
 public:
  Planner(int radius, int width, int height) : side_(2 * radius + 1) {
    plan_.side = side_;
    plan_.width = width;
    plan_.height = height;
  }

  Plan make() {
    Tile root{.width = plan_.width, .height = plan_.height, .middle = side_ * side_ / 2};
    const int begin_x = plan_.width - 1;
    const int begin_y = plan_.height - 1;
    for (int i = 0; i < begin_x; ++i) {
      for (const int at : {i, i + side_})
        root.columns[at] = read(false, at, begin_y, side_ - begin_y);
    }
    for (int i = 0; i < begin_y; ++i) {
      for (const int at : {i, i + side_})
        root.rows[at] = read(true, begin_x, at, side_ - begin_x);
    }
    const int count = side_ - begin_y;
    root.core =
        merged(begin_x, side_, count, [&](int x) { return read(false, x, begin_y, count); });
    divide(root);
    return std::move(plan_);
  }

 private:
  // Halves a tile until the medians of single pixels are known.
  void divide(const Tile& tile) {
    const bool along_x = tile.width >= tile.height;
    const int length = along_x ? tile.width : tile.height;
    const int half = length / 2;
    for (const int part : {0, half}) {
      const int used = used_;
      Tile child{.x = tile.x,
                 .y = tile.y,
                 .width = tile.width,
                 .height = tile.height,
                 .middle = tile.middle};
      (along_x ? child.width : child.height) = half;
      int& begin = along_x ? child.x : child.y;
      begin += part;
      // Lines that become a part of the core.
      const int first = part == 0 ? begin + half - 1 : begin - half + side_;
      const auto& lines = along_x ? tile.columns : tile.rows;
      const int count = lines.at(first).count;
      const auto make_more = [&] {
        return merged(first, first + half, count, [&](int i) { return lines.at(i); });
      };
      if (child.width == 1 && child.height == 1) {
        select(tile.core, make_more(), child);
      } else {
        child.core = cut(tile.core, half * count, make_more, child);
        auto& kept = along_x ? child.columns : child.rows;
        for (int i = begin; i < begin + half - 1; ++i) {
          kept[i] = lines.at(i);
          kept[i + side_] = lines.at(i + side_);
        }
        extend(along_x ? tile.rows : tile.columns, along_x, first, half,
               along_x ? child.rows : child.columns);
        divide(child);
      }
      used_ = used;
    }
  }

  // Lines across: they become longer by `more` samples from `first` on.
  void extend(const std::map<int, List>& lines, bool along_x, int first, int more,
              std::map<int, List>& to) {
    for (const auto& [at, line] : lines) {
      const int x = along_x ? first : at;
      const int y = along_x ? at : first;
      to[at] = allocate(line.count + more);
      if (more > 2) {
        merge_into(
            to[at], line, [&] { return read(along_x, x, y, more); }, 0);
        continue;
      }
      plan_.steps.push_back({.kind = more == 1 ? Kind::insert : Kind::insert_two,
                             .along_x = along_x,
                             .to = u16(to[at].first),
                             .a = u16(line.first),
                             .count = u16(line.count),
                             .x = u16(x),
                             .y = u16(y)});
    }
  }

  // Merges a list with another of `count` values into the child's core: the values that can be a
  // median.
  template <typename Make>
  List cut(const List& list, int count, const Make& make_other, Tile& child) {
    const int inside = (side_ - child.width + 1) * (side_ - child.height + 1);
    const int outside = side_ * side_ - inside;
    const int begin = std::max(0, child.middle - outside);
    const int end = std::min(list.count + count, child.middle + 1);
    child.middle -= begin;
    const List to = allocate(list.count + count - begin);
    merge_into({to.first, end - begin}, list, make_other, begin);
    return {to.first, end - begin};
  }

  void select(const List& a, const List& b, const Tile& child) {
    const List all{0, a.count + b.count};
    Step step = merge(a, b, child.middle, all);
    step.kind = Kind::median;
    step.x = u16(child.x);
    step.y = u16(child.y);
    plan_.steps.push_back(step);
  }

  // Merges the lists `first` to `end`, of `count` values each, which list_of(i) returns or creates.
  template <typename ListOf>
  List merged(int first, int end, int count, const ListOf& list_of) {
    if (end - first == 1) return list_of(first);
    const int middle = (first + end + 1) / 2;
    const List to = allocate((end - first) * count);
    const int used = used_;
    const List a = merged(first, middle, count, list_of);
    merge_into(
        to, a, [&] { return merged(middle, end, count, list_of); }, 0);
    used_ = used;
    return to;
  }

  // Merges two lists, whose slots become free, into the values after the `begin` smallest, as many
  // as `to` holds.
  template <typename Make>
  void merge_into(const List& to, const List& list, const Make& make_other, int begin) {
    const int used = used_;
    const List other = make_other();
    used_ = used;
    const bool is_longer = list.count >= other.count;
    Step step = merge(is_longer ? list : other, is_longer ? other : list, begin, to);
    const int count = list.count + other.count - begin;
    const int need = to.count;
    const int half = floor_half(count);
    if (step.merge.falling == 0 && need <= half && step.merge.pairs <= half) {
      step.kind = Kind::narrow;
      step.count = u16(half);
      plan_.steps.push_back(step);
      sort_bitonic(to.first, half, need);
    } else if (step.merge.pairs == 0) {
      step.kind = Kind::join;
      step.count = u16(half);
      plan_.steps.push_back(step);
      if (4 * count > 3 * 2 * half) {
        sort_blocks(to.first, count, half);
      } else {
        sort_bitonic(to.first, half, half);
        sort_bitonic(to.first + half, count - half, need - half);
      }
    } else {
      plan_.steps.push_back(step);
      sort_bitonic(to.first, count, need);
    }
  }

  // Without the `begin` smallest.
  static Step merge(const List& a, const List& b, int begin, const List& to) {
    const int first_a = std::max(0, begin - b.count);
    const int end_a = std::min(a.count, begin);
    const int end_b = begin - first_a;
    return {.kind = Kind::merge,
            .to = u16(to.first),
            .a = u16(a.first + first_a),
            .b = u16(b.first),
            .merge = {.falling = u16(b.count - end_b),
                      .pairs = u16(end_a - first_a),
                      .rising = u16(a.count - end_a),
                      .end_b = u16(end_b)}};
  }

  // Samples of a row or a column, sorted.
  List read(bool along_x, int x, int y, int count) {
    const List list = allocate(count);
    read(along_x, x, y, list);
    return list;
  }
  void read(bool along_x, int x, int y, const List& list) {
    constexpr int together = 8;
    if (list.count <= together) {
      plan_.steps.push_back({.kind = Kind::read,
                             .along_x = along_x,
                             .to = u16(list.first),
                             .count = u16(list.count),
                             .x = u16(x),
                             .y = u16(y)});
      return;
    }
    const int half = floor_half(list.count);
    const int more = list.count - half;
    read(along_x, x, y, {list.first, half});
    read(along_x, along_x ? x + half : x, along_x ? y : y + half, {list.first + half, more});
    // Mirrored pairs: each half falls and then rises.
    plan_.steps.push_back({.kind = Kind::mirrored,
                           .to = u16(list.first + half - more),
                           .a = u16(list.first + list.count - 1),
                           .count = u16(more)});
    sort_bitonic(list.first, half, half);
    sort_bitonic(list.first + half, more, more);
  }

  // The largest power of two below the number.
  static int floor_half(int number) {
    return static_cast<int>(std::bit_ceil(static_cast<unsigned>(number)) / 2);
  }

  // Sorts the `need` smallest values of a bitonic sequence; if its length is not a power of two, it
  // has to fall and then rise: infinite values may follow.
  void sort_bitonic(int first, int count, int need) {
    if (count < 2 || need < 1) return;
    const int half = floor_half(count);
    const int size = 2 * half;
    if (4 * need > 3 * size) {
      sort_blocks(first, count, size);
      return;
    }
    plan_.steps.push_back({.kind = need > half ? Kind::compare : Kind::minima,
                           .to = u16(first),
                           .a = u16(first + half),
                           .count = u16(count - half)});
    sort_bitonic(first, half, std::min(need, half));
    sort_bitonic(first + half, count - half, need - half);
  }

  // Sorts blocks of `block` values; the last is padded with infinite ones.
  void sort_blocks(int first, int count, int block) {
    const int size = (count + block - 1) / block * block;
    if (count < size) {
      plan_.steps.push_back(
          {.kind = Kind::fill, .to = u16(first + count), .count = u16(size - count)});
    }
    if (block < 2) return;
    plan_.steps.push_back({.kind = Kind::sort,
                           .to = u16(first),
                           .a = u16(std::countr_zero(static_cast<unsigned>(block))),
                           .count = u16(size)});
  }

  // Places for a list, and for what fills it up to a power of two.
  List allocate(int count) {
    const List list{used_, count};
    used_ += static_cast<int>(std::bit_ceil(static_cast<unsigned>(count)));
    plan_.places = std::max(plan_.places, static_cast<size_t>(used_));
    return list;
  }

  int side_;
  int used_ = 0;
  Plan plan_;
};

}  // namespace

Plan make_plan(int radius, int width, int height) {
  return Planner(radius, width, height).make();
}

}  // namespace gpufilter::median
