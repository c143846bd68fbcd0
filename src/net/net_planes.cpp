#include "net/net_planes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>

namespace gpufilter {

using std::size_t;

NetPlanes::NetPlanes(const NetValue& value, const RowRange& columns)
    : value_(value),
      columns_(columns),
      pitch_((static_cast<size_t>(columns.count() + net_slack) + 15) / 16 * 16) {}

RowRange NetPlanes::advance(const RowRange& wanted) {
  RowRange kept{std::max(wanted.begin, rows_.begin),
                std::clamp(rows_.end, wanted.begin, wanted.end)};
  if (kept.count() <= 0 || kept.begin > wanted.begin) kept = {wanted.begin, wanted.begin};
  if (kept.count() > 0 && kept.begin > rows_.begin) {
    std::memmove(bytes_.data(), bytes_.data() + offset(kept.begin, 0),
                 static_cast<size_t>(kept.count()) * row_pitch() * word);
  }
  const size_t needed = static_cast<size_t>(wanted.count()) * row_pitch() * word;
  if (bytes_.size() < needed) bytes_.resize(needed);
  rows_ = wanted;
  return {kept.end, wanted.end};
}

void NetPlanes::fill_columns(const RowRange& rows, int length, Border border) {
  for (int y = rows.begin; y < rows.end; ++y) {
    for (int plane = 0; plane < value_.planes(); ++plane) {
      std::uint8_t* const begin = bytes_.data() + offset(y, plane);
      const auto at = [&](int x) { return begin + word * static_cast<size_t>(x - columns_.begin); };
      const auto fill = [&](int x) {
        const int from = border_position(border, x, length);
        if (from < 0) {
          std::memset(at(x), outside(), word);
        } else {
          std::memcpy(at(x), at(from), word);
        }
      };
      for (int x = columns_.begin; x < std::min(0, columns_.end); ++x)
        fill(x);
      for (int x = std::max(length, columns_.begin); x < columns_.end; ++x)
        fill(x);
    }
  }
}

void NetPlanes::fill_rows(const RowRange& rows, int length, Border border) {
  for (int y = rows.begin; y < rows.end; ++y) {
    if (y >= 0 && y < length) continue;
    const int from = border_position(border, y, length);
    std::uint8_t* const to = bytes_.data() + offset(y, 0);
    if (from < 0) {
      std::memset(to, outside(), row_pitch() * word);
    } else {
      std::memcpy(to, bytes_.data() + offset(from, 0), row_pitch() * word);
    }
  }
}

namespace {

using std::size_t;

bool is_empty(const RowRange& span) {
  return span.count() <= 0;
}

// The positions of an input for `computed` positions of the operation's result.
RowRange input_span(const NetOperation& operation, NetAxis axis, const RowRange& computed) {
  switch (operation.kind) {
    case NetOperator::convolution: {
      const bool columns = axis == NetAxis::columns;
      const int before = columns ? operation.left : operation.top;
      const int side = columns ? operation.kernel_width : operation.kernel_height;
      return {computed.begin - before, computed.end - before + side - 1};
    }
    case NetOperator::depth_to_space:
    case NetOperator::nearest:
      return {floor_divide(computed.begin, operation.factor),
              floor_divide(computed.end - 1, operation.factor) + 1};
    default:
      return computed;
  }
}

// With the positions that those outside of the picture repeat.
RowRange with_mirrored(const NetValue& value, const RowRange& span, int length, Border border) {
  if (border != Border::mirror || is_empty(span)) return span;
  const int end = length * value.scale;
  RowRange all = span;
  if (span.end > end) all.begin = std::min(all.begin, std::max(2 * end - 1 - span.end, 0));
  if (span.begin < 0) all.end = std::max(all.end, std::min(1 - span.begin, end));
  return all;
}

}  // namespace

RowRange computed_span(const NetValue& value, const RowRange& span, int length, Border border) {
  if (border == Border::wrap || is_empty(span)) return span;
  const int end = length * value.scale;
  return {std::clamp(span.begin, 0, end), std::clamp(span.end, 0, end)};
}

std::vector<RowRange> net_spans(const NetGraph& graph, NetAxis axis, const RowRange& wanted,
                                int length, Border border) {
  std::vector<RowRange> spans(graph.values.size());
  spans[static_cast<size_t>(graph.output)] = wanted;
  for (auto at = graph.operations.rbegin(); at != graph.operations.rend(); ++at) {
    const auto output = static_cast<size_t>(at->output);
    spans[output] = with_mirrored(graph.values[output], spans[output], length, border);
    const RowRange computed = computed_span(graph.values[output], spans[output], length, border);
    for (const int input : at->inputs) {
      const RowRange needed = input_span(*at, axis, computed);
      RowRange& span = spans[static_cast<size_t>(input)];
      span = is_empty(span)
                 ? needed
                 : RowRange{std::min(span.begin, needed.begin), std::max(span.end, needed.end)};
    }
  }
  spans.front() = with_mirrored(graph.values.front(), spans.front(), length, border);
  return spans;
}

int net_radius(const NetGraph& graph) {
  int radius = 0;
  for (const NetAxis axis : {NetAxis::columns, NetAxis::rows}) {
    const RowRange block{0, graph.scale()};
    const RowRange span = net_spans(graph, axis, block, 1, Border::wrap).front();
    radius = std::max({radius, -span.begin, span.end - 1});
  }
  return radius;
}

}  // namespace gpufilter
