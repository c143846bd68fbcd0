#include "net/net_pixels.hpp"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "host/arithmetic.hpp"
#include "host/loops.hpp"

namespace gpufilter {
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
