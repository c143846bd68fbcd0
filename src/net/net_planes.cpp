#include "net/net_planes.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstring>
#include <vector>

#include "host/arithmetic.hpp"
#include "host/loops.hpp"

namespace gpufilter {

using std::size_t;

NetPlanes::NetPlanes(const NetValue& value, const RowRange& columns, ImageSize size, Border border)
    : value_(value),
      columns_(columns),
      size_(size),
      border_(border),
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

void NetPlanes::fill_outside(const RowRange& computed, const RowRange& fresh) {
  if (border_ == Border::wrap) return;
  fill_columns(computed);
  fill_rows(fresh);
}

void NetPlanes::fill_columns(const RowRange& rows) {
  const int length = size_.width;
  for (int y = rows.begin; y < rows.end; ++y) {
    for (int plane = 0; plane < value_.planes(); ++plane) {
      std::uint8_t* const begin = bytes_.data() + offset(y, plane);
      const auto at = [&](int x) { return begin + word * static_cast<size_t>(x - columns_.begin); };
      const auto fill = [&](int x) {
        const int from = border_position(border_, x, length);
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

void NetPlanes::fill_rows(const RowRange& rows) {
  const int length = size_.height;
  for (int y = rows.begin; y < rows.end; ++y) {
    if (y >= 0 && y < length) continue;
    const int from = border_position(border_, y, length);
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

// Positions along an axis.
struct Lengths {
  int input;
  int output;
};

// The positions that a rule of borders reads for `span`, all of which lie within `length`.
RowRange inside_of(NetPadding padding, const RowRange& span, int length) {
  if (padding == NetPadding::reflect) {
    if (span.begin <= -length || span.end >= 2 * length) return {0, length};
    RowRange all{std::max(span.begin, 0), std::min(span.end, length)};
    if (span.begin < 0) all = {0, std::max(all.end, std::min(1 - span.begin, length))};
    if (span.end > length)
      all = {std::min(all.begin, std::max(2 * length - 1 - span.end, 0)), length};
    return all;
  }
  const int begin = std::clamp(span.begin, 0, length - 1);
  return {begin, std::max(begin + 1, std::min(span.end, length))};
}

RowRange window_span(const NetOperation& operation, NetAxis axis, const RowRange& computed) {
  const bool columns = axis == NetAxis::columns;
  const int before = columns ? operation.left : operation.top;
  const int side = columns ? operation.kernel_width : operation.kernel_height;
  const int stride = columns ? operation.stride_x : operation.stride_y;
  const int dilation = columns ? operation.dilation_x : operation.dilation_y;
  return {computed.begin * stride - before,
          (computed.end - 1) * stride - before + (side - 1) * dilation + 1};
}

// The positions of an input for `computed` positions of the operation's result.
RowRange input_span(const NetOperation& operation, NetAxis axis, const RowRange& computed,
                    const Lengths& lengths, Border border) {
  switch (operation.kind) {
    case NetOperator::convolution:
      return window_span(operation, axis, computed);
    case NetOperator::maximum: {
      const RowRange span = window_span(operation, axis, computed);
      return border == Border::constant ? inside_of(NetPadding::edge, span, lengths.input) : span;
    }
    case NetOperator::depth_to_space:
    case NetOperator::nearest:
      return {floor_divide(computed.begin, operation.factor),
              floor_divide(computed.end - 1, operation.factor) + 1};
    case NetOperator::space_to_depth:
      return {computed.begin * operation.factor, computed.end * operation.factor};
    case NetOperator::pad: {
      const RowRange span =
          computed.moved(axis == NetAxis::columns ? -operation.left : -operation.top);
      return border == Border::wrap ? span : inside_of(operation.padding, span, lengths.input);
    }
    case NetOperator::sum_columns:
      return axis == NetAxis::columns ? RowRange{0, lengths.input} : computed;
    case NetOperator::sum_rows:
      return axis == NetAxis::rows ? RowRange{0, lengths.input} : computed;
    case NetOperator::resize: {
      const auto at = [&](int i) {
        return net_tap(operation.resize, i, lengths.input, lengths.output).first;
      };
      const RowRange span{at(computed.begin),
                          at(computed.end - 1) + (operation.resize.cubic ? 4 : 2)};
      return border == Border::wrap ? span : inside_of(NetPadding::edge, span, lengths.input);
    }
    case NetOperator::attention: {
      const int before = axis == NetAxis::columns ? operation.left : operation.top;
      const auto window = [&](int i) { return floor_divide(i + before, operation.factor); };
      const RowRange span = RowRange{window(computed.begin) * operation.factor,
                                     (window(computed.end - 1) + 1) * operation.factor}
                                .moved(-before);
      return border == Border::wrap ? span : inside_of(NetPadding::edge, span, lengths.input);
    }
    default:
      return computed;
  }
}

// With the positions that those outside of the value repeat.
RowRange with_mirrored(const RowRange& span, int length, Border border) {
  if (border != Border::mirror || is_empty(span)) return span;
  const RowRange inside = inside_of(NetPadding::reflect, span, length);
  return {std::min(span.begin, inside.begin), std::max(span.end, inside.end)};
}

}  // namespace

ImageSize net_value_size(const NetGraph& graph, const NetValue& value, ImageSize picture) {
  return {value.size.columns.of(graph.columns.length(picture.width)),
          value.size.rows.of(graph.rows.length(picture.height))};
}

NetTap net_tap(const NetResize& resize, int i, int from, int to) {
  const int rounds = floor_divide(i, to);  // a picture that wraps
  if (rounds != 0) {
    NetTap tap = net_tap(resize, i - rounds * to, from, to);
    tap.first += rounds * from;
    return tap;
  }
  const double step = static_cast<double>(resize.by) / resize.times;
  double at = i * step;
  if (resize.positions == NetResize::half_pixel) at = (i + 0.5) * step - 0.5;
  if (resize.positions == NetResize::align_corners)
    at = to > 1 ? static_cast<double>(i) * (from - 1) / (to - 1) : 0;
  const double whole = std::floor(at);
  const double x = at - whole;
  const auto weight = [](double number) { return static_cast<float>(number); };
  if (!resize.cubic) return {static_cast<int>(whole), {weight(1 - x), weight(x), 0, 0}};
  const double a = resize.coefficient;
  const auto near = [&](double d) { return ((a + 2) * d - (a + 3)) * d * d + 1; };
  const auto far = [&](double d) { return ((a * d - 5 * a) * d + 8 * a) * d - 4 * a; };
  return {static_cast<int>(whole) - 1,
          {weight(far(1 + x)), weight(near(x)), weight(near(1 - x)), weight(far(2 - x))}};
}

int net_source(const NetFrame& frame, int i, int length, Border border) {
  const int inside = border == Border::wrap ? i : border_position(border, i, frame.length(length));
  if (inside < 0 && border != Border::wrap) return -1;
  return border_position(border == Border::constant ? Border::mirror : border,
                         inside - frame.margin, length);
}

RowRange net_source_span(const NetFrame& frame, const RowRange& span, int length, Border border) {
  if (border == Border::wrap) return span.moved(-frame.margin);
  RowRange all{length, 0};
  for (int i = span.begin; i < span.end; ++i) {
    const int at = net_source(frame, i, length, border);
    if (at >= 0) all = {std::min(all.begin, at), std::max(all.end, at + 1)};
  }
  return all;
}

RowRange net_input_span(const NetGraph& graph, const NetOperation& operation, int input,
                        const RowRange& computed, int height, Border border) {
  const NetValue& from = graph.values[static_cast<size_t>(input)];
  if (from.size.is_one()) return {0, 1};
  const int length = graph.rows.length(height);
  const NetValue& to = graph.values[static_cast<size_t>(operation.output)];
  return input_span(operation, NetAxis::rows, computed,
                    {from.size.rows.of(length), to.size.rows.of(length)}, border);
}

RowRange computed_span(const RowRange& span, int length, Border border) {
  if (border == Border::wrap || is_empty(span)) return span;
  return {std::clamp(span.begin, 0, length), std::clamp(span.end, 0, length)};
}

std::vector<RowRange> net_spans(const NetGraph& graph, NetAxis axis, const RowRange& wanted,
                                int length, Border border) {
  std::vector<RowRange> spans(graph.values.size());
  const NetFrame& frame = graph.frame(axis);
  const auto length_of = [&](size_t value) {
    return graph.values[value].size.along(axis).of(frame.length(length));
  };
  spans[static_cast<size_t>(graph.output)] = wanted.moved(frame.begin);
  for (auto at = graph.operations.rbegin(); at != graph.operations.rend(); ++at) {
    const auto output = static_cast<size_t>(at->output);
    const int positions = length_of(output);
    spans[output] = with_mirrored(spans[output], positions, border);
    const RowRange computed = computed_span(spans[output], positions, border);
    for (const int input : at->inputs) {
      const auto from = static_cast<size_t>(input);
      const bool everywhere = graph.values[from].size.is_one();
      const RowRange needed =
          everywhere ? RowRange{0, 1}
                     : input_span(*at, axis, computed, {length_of(from), positions}, border);
      RowRange& span = spans[from];
      span = is_empty(span)
                 ? needed
                 : RowRange{std::min(span.begin, needed.begin), std::max(span.end, needed.end)};
    }
  }
  spans.front() = with_mirrored(spans.front(), length_of(0), border);
  return spans;
}

int net_radius(const NetGraph& graph) {
  int radius = 0;
  for (const NetAxis axis : {NetAxis::columns, NetAxis::rows}) {
    const NetFrame& frame = graph.frame(axis);
    const RowRange block{0, graph.scale() * frame.multiple};
    const RowRange span = net_spans(graph, axis, block, frame.multiple, Border::wrap).front();
    radius =
        std::max({radius, frame.margin - span.begin, span.end - frame.margin - frame.multiple});
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
  // The result begins at `begin` of the planes. `base` is nullptr if it is not needed.
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const NetPlanes* planes, const PixelPosition begin,
                                         int row, const RowRange columns, const Sample* base,
                                         const PixelFormat base_format, Sample* out,
                                         const PixelFormat format, float factor, float strength) {
    const auto colors = static_cast<size_t>(format.color_channels());
    const auto channels = static_cast<size_t>(format.channels);
    const auto base_channels = static_cast<size_t>(base_format.channels);
    const size_t step = base_format.color_channels() == 3 ? 1 : 0;
    const bool follows_luma = planes->value().channels == 1 && colors == 3;
    const int y = row + begin.y;
    for (int x = columns.begin; x < columns.end; ++x) {
      const auto at = static_cast<size_t>(x);
      const auto i = static_cast<size_t>(x + begin.x - planes->columns().begin);
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

void net_unpack(const NetGraph& graph, const NetUse& use, const ConstRows& source, ImageSize size,
                const RowRange& rows, NetPlanes& planes) {
  std::vector<int> from;
  for (int x = planes.columns().begin; x < planes.columns().end; ++x)
    from.push_back(net_source(graph.columns, x, size.width, use.border));
  const float factor = net_input_factor(use.input, source.format.depth);
  for (int y = rows.begin; y < rows.end; ++y) {
    // A wrapping border's rows beyond the picture's are in the source.
    const bool wraps = use.border == Border::wrap;
    const int row =
        wraps ? y - graph.rows.margin : net_source(graph.rows, y, size.height, use.border);
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

void net_pack(const NetGraph& graph, const NetUse& use, const NetPlanes& planes, int y,
              const RowRange& columns, const ConstRows& base, const MutableRows& target) {
  const float factor = net_output_factor(use.input, target.format.depth);
  const auto pack = [&]<typename Sample>(Sample* out) {
    const auto* before =
        base.data == nullptr ? nullptr : reinterpret_cast<const Sample*>(base.row(y));
    const PixelPosition begin{graph.columns.begin, graph.rows.begin};
    run_loop<PackLoop<Sample>>(&planes, begin, y, columns, before, base.format, out, target.format,
                               factor, use.strength);
  };
  if (target.format.depth == 8) {
    pack(target.row(y));
  } else {
    pack(reinterpret_cast<std::uint16_t*>(target.row(y)));
  }
}

}  // namespace gpufilter
