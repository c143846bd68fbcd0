#include "stages/window/blur_rows.hpp"

#include <algorithm>

#include "stages/window/blur_plain.hpp"
#include "stages/window/blur_weighted.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Column x of `target`, which may have a neighbour outside the picture.
template <typename Sample>
void blur_column(const blur::Source<Sample>& source, const MutableRows& target, int x,
                 bool weighted) {
  const size_t channels = source.channels();
  for (int y = target.rows.begin; y < target.rows.end; ++y) {
    std::array<std::uint32_t, blur::max_channels> sums{};
    std::array<std::uint64_t, blur::max_channels> weighted_sums{};
    for (int row = y - 1; row <= y + 1; ++row) {
      for (int column = x - 1; column <= x + 1; ++column) {
        const Sample* pixel = source.pixel(row, column);
        for (size_t c = 0; c < channels; ++c) {
          sums[c] += pixel[c];
          weighted_sums[c] += std::uint64_t{pixel[c]} * pixel[channels - 1];
        }
      }
    }
    Sample* out = reinterpret_cast<Sample*>(target.row(y)) + static_cast<size_t>(x) * channels;
    const std::uint32_t alpha = weighted ? sums[channels - 1] : 0;
    for (size_t c = 0; c < channels; ++c) {
      const bool plain = alpha == 0 || c == channels - 1;
      out[c] =
          static_cast<Sample>(plain ? (sums[c] + 4) / 9 : (weighted_sums[c] + alpha / 2) / alpha);
    }
  }
}

template <typename Sample>
[[gnu::always_inline]] inline bool is_opaque(const Sample* row, size_t channels, size_t samples) {
  return channels == 2 ? blur::is_opaque<Sample, 2>(row, samples / 2)
                       : blur::is_opaque<Sample, 4>(row, samples / 4);
}

template <typename Sample>
struct BlurLoop {
  // All columns except the first and the last.
  template <InstructionSet>
  [[gnu::always_inline]] static void run(const blur::Source<Sample>* source,
                                         const MutableRows target, bool weighted) {
    const size_t channels = source->channels();
    const size_t end = (source->width() - 1) * channels;
    for (size_t offset = channels; offset < end; offset += blur::tile_samples) {
      const size_t samples = std::min(blur::tile_samples, end - offset);
      const size_t pairs = samples / 2 * 2;
      bool opaque = true;
      blur::mean_tile(
          *source, target, offset, pairs, [&](const Sample* row) __attribute__((always_inline)) {
            if (weighted) opaque = opaque && is_opaque(row, channels, samples);
          });
      if (pairs < samples) blur::mean_sample(*source, target, offset + pairs);
      if (opaque) continue;
      if (channels == 2) {
        blur::weighted_mean_tile<Sample, 2>(*source, target, offset, samples / 2);
      } else {
        blur::weighted_mean_tile<Sample, 4>(*source, target, offset, samples / 4);
      }
    }
  }
};

template <typename Sample>
void blur_rows_of(const ConstRows& rows, const MutableRows& target, int height, Border border,
                  AlphaMode alpha) {
  const bool weighted = alpha == AlphaMode::weighted && rows.format.has_alpha();
  const blur::Source<Sample> source(rows, height, border);
  if (rows.width > 2) run_loop<BlurLoop<Sample>>(&source, target, weighted);
  blur_column(source, target, 0, weighted);
  if (rows.width > 1) blur_column(source, target, rows.width - 1, weighted);
}

}  // namespace

void blur_rows(const ConstRows& source, const MutableRows& target, int height, Border border,
               AlphaMode alpha) {
  if (source.format.depth == 8) {
    blur_rows_of<std::uint8_t>(source, target, height, border, alpha);
  } else {
    blur_rows_of<std::uint16_t>(source, target, height, border, alpha);
  }
}

}  // namespace gpufilter
