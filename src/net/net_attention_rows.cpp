#include "net/net_attention_rows.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <limits>
#include <span>
#include <vector>

#include "host/arithmetic.hpp"
#include "host/loops.hpp"
#include "net/net_functions.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Queries that are computed side by side: loops of 16 are unrolled before GCC makes vectors of
// them, and take four times as long.
constexpr size_t lanes = 32;

// A part of a window, in rows and columns of the value.
struct Area {
  RowRange rows;
  RowRange columns;

  [[nodiscard]] size_t count() const {
    return static_cast<size_t>(rows.count()) * static_cast<size_t>(columns.count());
  }
};

// The numbers of one head in a part of a window: a row for each channel.
void gather(const NetPlanes& planes, int first, const Area& area, size_t pitch,
            std::vector<float>& to) {
  const auto channels = to.size() / pitch;
  const auto width = static_cast<size_t>(area.columns.count());
  for (size_t c = 0; c < channels; ++c) {
    float* out = to.data() + c * pitch;
    for (int y = area.rows.begin; y < area.rows.end; ++y, out += width) {
      const float* const row = planes.row(y, first + static_cast<int>(c));
      std::copy_n(row + (area.columns.begin - planes.columns().begin), width, out);
    }
  }
}

// The numbers of one head in a window. Rows of scores and results have a number for each query.
struct Head {
  size_t window_count = 0;  // positions of a whole window
  size_t pitch = 0;         // queries, a multiple of `lanes`
  size_t key_count = 0;     // also what rows of keys and values have
  size_t key_depth = 0;     // channels
  size_t value_depth = 0;
  std::vector<float> queries = {};
  std::vector<float> keys = {};
  std::vector<float> values = {};
  std::vector<float> scores = {};  // begin as what is added to them
  std::vector<float> results = {};
};

struct HeadLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(Head* head) {
    const size_t pitch = head->pitch;
    const size_t keys = head->key_count;
    for (size_t begin = 0; begin < pitch; begin += lanes) {
      const float* const queries = head->queries.data() + begin;
      float* const scores = head->scores.data() + begin;
      std::array<float, lanes> largest;
      largest.fill(-std::numeric_limits<float>::infinity());
      for (size_t j = 0; j < keys; ++j) {
        std::array<float, lanes> sums{};
        for (size_t i = 0; i < head->key_depth; ++i) {
          const float key = head->keys[i * keys + j];
          for (size_t k = 0; k < lanes; ++k)
            sums[k] = fused_multiply_add<set>(queries[i * pitch + k], key, sums[k]);
        }
        for (size_t k = 0; k < lanes; ++k) {
          const float score = sums[k] + scores[j * pitch + k];
          scores[j * pitch + k] = score;
          largest[k] = score > largest[k] ? score : largest[k];
        }
      }
      std::array<float, lanes> all{};
      for (size_t j = 0; j < keys; ++j) {
        for (size_t k = 0; k < lanes; ++k) {
          const float weight =
              net_functions::net_exponential<set>(scores[j * pitch + k] - largest[k]);
          scores[j * pitch + k] = weight;
          all[k] = all[k] + weight;
        }
      }
      for (size_t i = 0; i < head->value_depth; ++i) {
        std::array<float, lanes> sums{};
        for (size_t j = 0; j < keys; ++j) {
          const float number = head->values[i * keys + j];
          for (size_t k = 0; k < lanes; ++k)
            sums[k] = fused_multiply_add<set>(scores[j * pitch + k], number, sums[k]);
        }
        float* const out = head->results.data() + i * pitch + begin;
        for (size_t k = 0; k < lanes; ++k)
          out[k] = net_functions::net_quotient<set>(sums[k], all[k]);
      }
    }
  }
};

// Where in their window the positions of an area lie, row by row.
std::vector<size_t> places_in_window(const NetOperation& operation, const Area& area) {
  const auto in_window = [&](int i) {
    return static_cast<size_t>(i - floor_divide(i, operation.factor) * operation.factor);
  };
  std::vector<size_t> places;
  for (int y = area.rows.begin; y < area.rows.end; ++y) {
    const size_t row = in_window(y + operation.top) * static_cast<size_t>(operation.factor);
    for (int x = area.columns.begin; x < area.columns.end; ++x)
      places.push_back(row + in_window(x + operation.left));
  }
  return places;
}

// The numbers that are added to the scores of a head. Every pair of positions in a window has one.
void set_bias(std::span<const float> numbers, const std::vector<size_t>& keys,
              const std::vector<size_t>& queries, Head& head) {
  std::fill(head.scores.begin(), head.scores.end(), 0.0F);
  if (numbers.empty()) return;
  const size_t count = head.window_count;
  float* row = head.scores.data();
  for (const size_t key : keys) {
    for (size_t i = 0; i < queries.size(); ++i)
      row[i] = numbers[key * count + queries[i]];
    row += head.pitch;
  }
}

void scatter(const Head& head, int first, const Area& area, NetPlanes& to) {
  const auto width = static_cast<size_t>(area.columns.count());
  for (size_t c = 0; c < head.value_depth; ++c) {
    const float* from = head.results.data() + c * head.pitch;
    for (int y = area.rows.begin; y < area.rows.end; ++y, from += width) {
      float* const row = to.row(y, first + static_cast<int>(c));
      std::copy_n(from, width, row + (area.columns.begin - to.columns().begin));
    }
  }
}

void attend(const NetOperation& operation, const NetAttended& from, NetPlanes& output,
            const Area& keys, const Area& queries) {
  Head head;
  head.window_count = static_cast<size_t>(operation.factor) * static_cast<size_t>(operation.factor);
  head.pitch = (queries.count() + lanes - 1) / lanes * lanes;
  head.key_count = keys.count();
  const int key_depth = from.keys.value().channels / operation.groups;
  const int value_depth = from.values.value().channels / operation.groups;
  head.key_depth = static_cast<size_t>(key_depth);
  head.value_depth = static_cast<size_t>(value_depth);
  head.queries.resize(head.key_depth * head.pitch);
  head.keys.resize(head.key_depth * head.key_count);
  head.values.resize(head.value_depth * head.key_count);
  head.scores.resize(head.key_count * head.pitch);
  head.results.resize(head.value_depth * head.pitch);
  const std::vector<size_t> key_places = places_in_window(operation, keys);
  const std::vector<size_t> query_places = places_in_window(operation, queries);
  const std::span<const float> bias = operation.numbers;
  const size_t bias_count = bias.size() / static_cast<size_t>(operation.groups);
  for (int i = 0; i < operation.groups; ++i) {
    gather(from.queries, i * key_depth, queries, head.pitch, head.queries);
    gather(from.keys, i * key_depth, keys, head.key_count, head.keys);
    gather(from.values, i * value_depth, keys, head.key_count, head.values);
    set_bias(bias.subspan(static_cast<size_t>(i) * bias_count, bias_count), key_places,
             query_places, head);
    run_loop<HeadLoop>(&head);
    scatter(head, i * value_depth, queries, output);
  }
}

// The parts of windows that a range has, along one axis.
std::vector<RowRange> windows_in(const RowRange& range, int side, int before) {
  std::vector<RowRange> windows;
  const int first = floor_divide(range.begin + before, side) * side - before;
  for (int begin = first; begin < range.end; begin += side)
    windows.push_back({begin, begin + side});
  return windows;
}

RowRange common(const RowRange& a, const RowRange& b) {
  return {std::max(a.begin, b.begin), std::min(a.end, b.end)};
}

}  // namespace

void net_attention_rows(const NetOperation& operation, const NetAttended& from, NetPlanes& output,
                        const RowRange& rows, const RowRange& columns) {
  const bool wraps = output.border() == Border::wrap;
  const auto inside = [&](const RowRange& window, int length) {
    return wraps ? window : common(window, {0, length});
  };
  for (const RowRange& down : windows_in(rows, operation.factor, operation.top)) {
    for (const RowRange& across : windows_in(columns, operation.factor, operation.left)) {
      attend(operation, from, output,
             {inside(down, output.size().height), inside(across, output.size().width)},
             {common(down, rows), common(across, columns)});
    }
  }
}

}  // namespace gpufilter
