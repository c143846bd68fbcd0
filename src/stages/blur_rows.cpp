#include "stages/blur_rows.hpp"

#include <algorithm>

#include "stages/blur_plain.hpp"
#include "stages/blur_weighted.hpp"

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

template <typename Sample, size_t channels>
[[gnu::always_inline]] inline void weighted_tile(const blur::Source<Sample>& source,
                                                 const MutableRows& target, size_t offset,
                                                 size_t samples) {
  const size_t pixels = samples / channels;
  bool opaque = true;
  blur::mean_tile(
      source, target, offset, samples, [&](const Sample* row) __attribute__((always_inline)) {
        opaque = opaque && blur::is_opaque<Sample, channels>(row, pixels);
      });
  if (!opaque) blur::weighted_mean_tile<Sample, channels>(source, target, offset, pixels);
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
      if (weighted && channels == 2) {
        weighted_tile<Sample, 2>(*source, target, offset, samples);
      } else if (weighted) {
        weighted_tile<Sample, 4>(*source, target, offset, samples);
      } else {
        const size_t pairs = samples / 2 * 2;
        blur::mean_tile(*source, target, offset, pairs, [](const Sample*) {});
        if (pairs < samples) blur::mean_sample(*source, target, offset + pairs);
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
