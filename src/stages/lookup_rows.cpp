#include "stages/lookup_rows.hpp"

#include <algorithm>

#include "host/arithmetic.hpp"
#include "host/pixels.hpp"
#include "image/luma.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Calls row(first sample of the source's row, of the target's) for each row.
template <typename Sample, typename Row>
[[gnu::always_inline]] inline void for_rows(const ConstRows& source, const MutableRows& target,
                                            const Row& row) {
  for (int y = target.rows.begin; y < target.rows.end; ++y) {
    row(reinterpret_cast<const Sample*>(source.row(y)), reinterpret_cast<Sample*>(target.row(y)));
  }
}

// `change` makes a colour sample of one; alpha, the last of an even number of channels, stays.
template <size_t channels, typename Sample, typename Change>
[[gnu::always_inline]] inline void change_row(const Sample* in, size_t width, Sample* out,
                                              const Change& change) {
  constexpr size_t colors = channels % 2 == 0 ? channels - 1 : channels;
  for (size_t i = 0; i < width * channels; i += channels) {
    for (size_t c = 0; c < colors; ++c)
      out[i + c] = change(in[i + c]);
    if constexpr (colors < channels) out[i + colors] = in[i + colors];
  }
}

// A table of samples: 256 bytes stay in the first cache beside the rows.
template <typename Sample>
void look_up(const ConstRows& source, const MutableRows& target, const Sample* table) {
  const auto width = static_cast<size_t>(source.width);
  const auto change = [table](Sample sample) { return table[sample]; };
  for_rows<Sample>(source, target, [&](const Sample* in, Sample* out) {
    switch (source.format.channels) {
      case 2:
        return change_row<2>(in, width, out, change);
      case 4:
        return change_row<4>(in, width, out, change);
      default:
        return change_row<1>(in, width * static_cast<size_t>(source.format.channels), out, change);
    }
  });
}

// Pixels that are converted to RGBA, scaled and converted back while in the first cache.
constexpr size_t block_pixels = 256;

// In place.
template <typename Sample>
[[gnu::always_inline]] inline void scale_block(Sample* rgba, size_t count, const float* factors) {
  std::array<std::uint32_t, block_pixels> lumas;
  std::array<float, block_pixels> scales;
  for (size_t i = 0; i < count; ++i) {
    const auto pixel = Pixel<Sample, 4>::read(rgba + 4 * i);
    lumas[i] =
        luma(static_cast<std::uint32_t>(pixel.get(0)), static_cast<std::uint32_t>(pixel.get(1)),
             static_cast<std::uint32_t>(pixel.get(2)));
  }
  for (size_t i = 0; i < count; ++i)
    scales[i] = factors[lumas[i]];
  for (size_t i = 0; i < count; ++i) {
    const auto pixel = Pixel<Sample, 4>::read(rgba + 4 * i);
    Pixel<Sample, 4> scaled;
    scaled.put(0, to_sample<Sample>(static_cast<float>(pixel.get(0)) * scales[i]));
    scaled.put(1, to_sample<Sample>(static_cast<float>(pixel.get(1)) * scales[i]));
    scaled.put(2, to_sample<Sample>(static_cast<float>(pixel.get(2)) * scales[i]));
    scaled.put(3, static_cast<std::uint32_t>(pixel.get(3)));
    scaled.write(rgba + 4 * i);
  }
}

// Pictures in colour.
template <typename Sample>
struct ScalingLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows source, const MutableRows target,
                                         const float* factors) {
    const auto width = static_cast<size_t>(source.width);
    const auto channels = static_cast<size_t>(source.format.channels);
    for_rows<Sample>(
        source, target, [&](const Sample* in, Sample* out) __attribute__((always_inline)) {
          alignas(64) std::array<Sample, 4 * block_pixels> block;
          for (size_t x = 0; x < width; x += block_pixels) {
            const size_t count = std::min(block_pixels, width - x);
            to_rgba<set>(in + channels * x, channels, count, block.data());
            scale_block(block.data(), count, factors);
            from_rgba<set>(block.data(), count, channels, out + channels * x);
          }
        });
  }
};

template <typename Sample>
void scale(const ConstRows& source, const MutableRows& target, const float* factors) {
  if (source.format.color_channels() == 3) {
    return run_loop<ScalingLoop<Sample>>(source, target, factors);
  }
  const auto width = static_cast<size_t>(source.width);
  const auto change = [factors](Sample sample) {
    return static_cast<Sample>(to_sample<Sample>(static_cast<float>(sample) * factors[sample]));
  };
  for_rows<Sample>(source, target, [&](const Sample* in, Sample* out) {
    if (source.format.has_alpha()) {
      change_row<2>(in, width, out, change);
    } else {
      change_row<1>(in, width, out, change);
    }
  });
}

}  // namespace

void lookup_rows(const ConstRows& source, const MutableRows& target, const std::uint16_t* table) {
  if (source.format.depth == 8) {
    std::array<std::uint8_t, 256> bytes;
    std::transform(table, table + bytes.size(), bytes.begin(),
                   [](std::uint16_t entry) { return static_cast<std::uint8_t>(entry); });
    look_up(source, target, bytes.data());
  } else {
    look_up(source, target, table);
  }
}

void lookup_rows(const ConstRows& source, const MutableRows& target, const float* factors) {
  if (source.format.depth == 8) {
    scale<std::uint8_t>(source, target, factors);
  } else {
    scale<std::uint16_t>(source, target, factors);
  }
}

}  // namespace gpufilter
