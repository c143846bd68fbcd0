#include "stages/edges_rows.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include "host/loops.hpp"
#include "stages/window_tile.hpp"

namespace gpufilter {
namespace {

using std::size_t;

constexpr size_t tile_samples = 4096;

// Holds the sum of two squares of samples, and its root within a fraction of the distance of a root
// to the next half.
template <typename Sample>
using Root = std::conditional_t<sizeof(Sample) == 1, float, double>;

template <typename Sample>
[[gnu::always_inline]] inline int limited_magnitude(int number) {
  constexpr int max = std::numeric_limits<Sample>::max();
  const int magnitude = number < 0 ? -number : number;
  return magnitude < max ? magnitude : max;
}

// Differences of columns and of rows: the neighbours in the window's corners times `corner`, the
// others times `middle`.
template <typename Sample, int corner, int middle>
[[gnu::always_inline]] inline void gradients(const std::array<const Sample*, 3>& rows,
                                             size_t channels, size_t samples, Sample* out) {
  constexpr auto max = static_cast<int>(std::numeric_limits<Sample>::max());
  const Sample* above = rows[0];
  const Sample* here = rows[1];
  const Sample* below = rows[2];
  const size_t right = 2 * channels;
#pragma GCC ivdep
  for (size_t i = 0; i < samples; ++i) {
    const int rising = below[i + right] - above[i];
    const int falling = below[i] - above[i + right];
    const int dx = corner * (rising - falling) + middle * (here[i + right] - here[i]);
    const int dy =
        corner * (rising + falling) + middle * (below[i + channels] - above[i + channels]);
    // A limited difference alone makes the root reach the maximum.
    const auto x = static_cast<Root<Sample>>(limited_magnitude<Sample>(dx));
    const auto y = static_cast<Root<Sample>>(limited_magnitude<Sample>(dy));
    const auto root = static_cast<int>(std::sqrt(x * x + y * y) + Root<Sample>{0.5});
    out[i] = static_cast<Sample>(root < max ? root : max);
  }
}

template <typename Sample>
[[gnu::always_inline]] inline void laplacian(const std::array<const Sample*, 3>& rows,
                                             size_t channels, size_t samples, Sample* out) {
  const Sample* above = rows[0] + channels;
  const Sample* here = rows[1];
  const Sample* below = rows[2] + channels;
#pragma GCC ivdep
  for (size_t i = 0; i < samples; ++i) {
    const int sum = above[i] + below[i] + here[i] + here[i + 2 * channels] - 4 * here[i + channels];
    out[i] = static_cast<Sample>(limited_magnitude<Sample>(sum));
  }
}

// Colours times alpha, so that invisible ones leave no edges.
template <typename Sample>
void premultiply(const Sample* in, size_t channels, size_t samples, Sample* out) {
  constexpr std::uint32_t max = std::numeric_limits<Sample>::max();
  const size_t last = channels - 1;
  for (size_t i = 0; i < samples; i += channels) {
    for (size_t c = 0; c < last; ++c)
      out[i + c] = static_cast<Sample>((std::uint32_t{in[i + c]} * in[i + last] + max / 2) / max);
    out[i + last] = in[i + last];
  }
}

template <typename Sample>
struct EdgesLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows* source, const MutableRows* target,
                                         int height, const EdgesParameters* parameters) {
    const auto channels = static_cast<size_t>(source->format.channels);
    const bool weighted = parameters->alpha == AlphaMode::weighted && source->format.has_alpha();
    const int columns = std::min(static_cast<int>(tile_samples / channels), source->width);
    WindowTile<Sample, Sample> tile(*source, height, parameters->border, 1, 1, columns, weighted);
    std::array<std::vector<Sample>, 3> premultiplied;
    for (int x = 0; x < source->width; x += columns) {
      const int count = std::min(columns, source->width - x);
      const size_t samples = static_cast<size_t>(count) * channels;
      tile.begin(x, count, target->rows.begin);
      for (int y = target->rows.begin; y < target->rows.end; ++y) {
        tile.advance();
        std::array<const Sample*, 3> rows{tile.row(0).plain, tile.row(1).plain, tile.row(2).plain};
        const Sample* centre = rows[1] + channels;
        if (!tile.is_opaque()) {
          for (size_t i = 0; i < rows.size(); ++i) {
            premultiplied[i].resize(tile.samples());
            premultiply(rows[i], channels, tile.samples(), premultiplied[i].data());
            rows[i] = premultiplied[i].data();
          }
        }
        Sample* out = reinterpret_cast<Sample*>(target->row(y)) + static_cast<size_t>(x) * channels;
        fill(parameters->by, rows, channels, samples, out);
        if (!source->format.has_alpha()) continue;
        for (size_t i = channels - 1; i < samples; i += channels)
          out[i] = centre[i];
      }
    }
  }

  [[gnu::always_inline]] static void fill(EdgeOperator by, const std::array<const Sample*, 3>& rows,
                                          size_t channels, size_t samples, Sample* out) {
    switch (by) {
      case EdgeOperator::sobel:
        return gradients<Sample, 1, 2>(rows, channels, samples, out);
      case EdgeOperator::scharr:
        return gradients<Sample, 3, 10>(rows, channels, samples, out);
      case EdgeOperator::laplacian:
        return laplacian<Sample>(rows, channels, samples, out);
    }
  }
};

}  // namespace

void edges_rows(const ConstRows& source, const MutableRows& target, int height,
                const EdgesParameters& parameters) {
  if (source.format.depth == 8) {
    run_loop<EdgesLoop<std::uint8_t>>(&source, &target, height, &parameters);
  } else {
    run_loop<EdgesLoop<std::uint16_t>>(&source, &target, height, &parameters);
  }
}

}  // namespace gpufilter
