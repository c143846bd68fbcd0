#include "net/net_planes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <vector>

#include "host/arithmetic.hpp"
#include "host/loops.hpp"

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

namespace {

using std::size_t;

// The luma of BT.601, which networks for luma are trained with, in the samples' range.
template <InstructionSet set>
[[gnu::always_inline]] inline float luma(float red, float green, float blue) {
  return fused_multiply_add<set>(0.114F, blue,
                                 fused_multiply_add<set>(0.587F, green, 0.299F * red));
}

template <typename Sample>
struct UnpackLoop {
  // `from[i]`: the column of the source for column i of the planes; -1: none.
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Sample* row, const PixelFormat format,
                                         const std::vector<int>* from, float factor,
                                         NetPlanes* planes, int y) {
    const auto channels = static_cast<size_t>(format.channels);
    const size_t green = format.color_channels() == 3 ? 1 : 0;
    const bool is_luma = planes->value().channels == 1;
    float* const first = planes->row(y, 0);
    float* const second = planes->row(y, is_luma ? 0 : 1);
    float* const third = planes->row(y, is_luma ? 0 : 2);
    for (size_t i = 0; i < from->size(); ++i) {
      const int column = (*from)[i];
      if (column < 0) {
        first[i] = second[i] = third[i] = 0;
        continue;
      }
      const Sample* const pixel = row + static_cast<size_t>(column) * channels;
      const auto r = static_cast<float>(pixel[0]);
      const auto g = static_cast<float>(pixel[green]);
      const auto b = static_cast<float>(pixel[2 * green]);
      if (is_luma) {
        first[i] = (green == 0 ? r : luma<set>(r, g, b)) * factor;
      } else {
        first[i] = r * factor;
        second[i] = g * factor;
        third[i] = b * factor;
      }
    }
  }
};

template <typename Sample>
struct PackLoop {
  // From column `begin` on. `base` is nullptr if it is not needed.
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const NetPlanes* planes, int y, const RowRange columns,
                                         const Sample* base, const PixelFormat base_format,
                                         Sample* out, const PixelFormat format, float factor,
                                         float strength) {
    const auto colors = static_cast<size_t>(format.color_channels());
    const auto channels = static_cast<size_t>(format.channels);
    const auto base_channels = static_cast<size_t>(base_format.channels);
    const size_t step = base_format.color_channels() == 3 ? 1 : 0;
    const bool follows_luma = planes->value().channels == 1 && colors == 3;
    for (int x = columns.begin; x < columns.end; ++x) {
      const auto at = static_cast<size_t>(x);
      const auto i = static_cast<size_t>(x - planes->columns().begin);
      const Sample* const before = base == nullptr ? nullptr : base + at * base_channels;
      Sample* const pixel = out + at * channels;
      if (follows_luma) {
        const float y_before = luma<set>(before[0], before[1], before[2]);
        const float more = fused_multiply_add<set>(planes->row(y, 0)[i], factor, -y_before);
        for (size_t c = 0; c < 3; ++c) {
          pixel[c] = static_cast<Sample>(to_sample<Sample>(
              fused_multiply_add<set>(strength, more, static_cast<float>(before[c]))));
        }
      } else {
        for (size_t c = 0; c < colors; ++c) {
          float number = planes->row(y, static_cast<int>(c))[i] * factor;
          if (strength != 1) {
            const auto old = static_cast<float>(before[c * step]);
            number = fused_multiply_add<set>(strength, number - old, old);
          }
          pixel[c] = static_cast<Sample>(to_sample<Sample>(number));
        }
      }
      if (channels > colors) pixel[colors] = before[base_channels - 1];
    }
  }
};

}  // namespace

float net_input_factor(NetInput input, int depth) {
  if (input == NetInput::rgb255) return depth == 8 ? 1.0F : 1.0F / 257.0F;
  return depth == 8 ? 1.0F / 255.0F : 1.0F / 65535.0F;
}

float net_output_factor(NetInput input, int depth) {
  if (input == NetInput::rgb255) return depth == 8 ? 1.0F : 257.0F;
  return depth == 8 ? 255.0F : 65535.0F;
}

void net_unpack(const NetUse& use, const ConstRows& source, ImageSize size, const RowRange& rows,
                NetPlanes& planes) {
  std::vector<int> from;
  for (int x = planes.columns().begin; x < planes.columns().end; ++x)
    from.push_back(border_position(use.border, x, size.width));
  const float factor = net_input_factor(use.input, source.format.depth);
  for (int y = rows.begin; y < rows.end; ++y) {
    // A wrapping border's rows beyond the picture's are in the source.
    const bool wraps = use.border == Border::wrap;
    const int row = wraps ? y : border_position(use.border, y, size.height);
    if (row < 0 && !wraps) {
      for (int c = 0; c < planes.value().channels; ++c)
        std::fill_n(planes.row(y, c), planes.pitch(), 0.0F);
    } else if (source.format.depth == 8) {
      run_loop<UnpackLoop<std::uint8_t>>(source.row(row), source.format, &from, factor, &planes, y);
    } else {
      run_loop<UnpackLoop<std::uint16_t>>(reinterpret_cast<const std::uint16_t*>(source.row(row)),
                                          source.format, &from, factor, &planes, y);
    }
  }
}

void net_pack(const NetUse& use, const NetPlanes& planes, int y, const RowRange& columns,
              const ConstRows& base, const MutableRows& target) {
  const float factor = net_output_factor(use.input, target.format.depth);
  const auto pack = [&]<typename Sample>(Sample* out) {
    const auto* before =
        base.data == nullptr ? nullptr : reinterpret_cast<const Sample*>(base.row(y));
    run_loop<PackLoop<Sample>>(&planes, y, columns, before, base.format, out, target.format, factor,
                               use.strength);
  };
  if (target.format.depth == 8) {
    pack(target.row(y));
  } else {
    pack(reinterpret_cast<std::uint16_t*>(target.row(y)));
  }
}

}  // namespace gpufilter
