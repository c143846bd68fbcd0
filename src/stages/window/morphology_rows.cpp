#include "stages/window/morphology_rows.hpp"

#include <algorithm>
#include <vector>

#include "base/division.hpp"
#include "host/loops.hpp"
#include "stage/window_tile.hpp"

namespace gpufilter {
namespace {

using std::size_t;

constexpr size_t block = 64;

// Samples of a tile, whose `window` rows stay in the second-level cache: whole pixels of 1 to 4
// channels, and whole blocks. The wider a tile, the better memory is read ahead.
constexpr size_t tile_samples(size_t window) {
  constexpr size_t unit = 3 * block;
  return std::max(5 * unit, (size_t{1} << 16U) / (window + 2) / unit * unit);
}

template <bool largest, typename Sample>
[[gnu::always_inline]] inline Sample extreme(Sample a, Sample b) {
  return largest ? (a > b ? a : b) : (a < b ? a : b);
}

// out[i] = the extreme of a[i] and b[i]; `out` may be one of them.
template <bool largest, typename Sample>
[[gnu::always_inline]] inline void extremes(const Sample* a, const Sample* b, size_t samples,
                                            Sample* out) {
#pragma GCC ivdep
  for (size_t i = 0; i < samples; ++i)
    out[i] = extreme<largest>(a[i], b[i]);
}

// The same of three.
template <bool largest, typename Sample>
[[gnu::always_inline]] inline void extremes(const Sample* a, const Sample* b, const Sample* c,
                                            size_t samples, Sample* out) {
#pragma GCC ivdep
  for (size_t i = 0; i < samples; ++i)
    out[i] = extreme<largest>(extreme<largest>(a[i], b[i]), c[i]);
}

// Colours of invisible pixels become 0.
template <typename Sample>
[[gnu::always_inline]] inline void clear_invisible(const Sample* in, size_t channels,
                                                   size_t samples, Sample* out) {
  for (size_t i = 0; i < samples; i += channels) {
    const Sample alpha = in[i + channels - 1];
    for (size_t c = 0; c + 1 < channels; ++c)
      out[i + c] = alpha == 0 ? Sample{0} : in[i + c];
    out[i + channels - 1] = alpha;
  }
}

// The extremes of each `window` neighbours in a row: of two, of four, and so on, the last two of
// which overlap (M. van Droogenbroeck, H. Talbot: Fast computation of morphological operations with
// arbitrary structuring elements, 1996).
template <bool largest, typename Sample>
class AlongRows {
 public:
  AlongRows(size_t window, size_t channels, size_t samples)
      : window_(window), channels_(channels), work_(samples + window * channels + block) {}

  [[gnu::always_inline]] void fill(const Sample* in, size_t samples, Sample* out) {
    if (window_ == 3)
      return extremes<largest>(in, in + channels_, in + 2 * channels_, samples, out);
    const Sample* of_length = in;
    size_t length = 1;
    while (2 * length <= window_) {
      // A loop over whole blocks has no end of single samples; what it reads after a row of a
      // tile, and computes from that, is not used.
      const size_t rest = samples + (window_ - 2 * length) * channels_;
      extremes<largest>(of_length, of_length + length * channels_, divided_up(rest, block) * block,
                        work_.data());
      of_length = work_.data();
      length *= 2;
    }
    extremes<largest>(of_length, of_length + (window_ - length) * channels_, samples, out);
  }

 private:
  size_t window_;
  size_t channels_;
  std::vector<Sample> work_;
};

// The extremes of each `window` rows, given one row after the other (M. van Herk: A fast algorithm
// for local minimum and maximum filters, 1992): rows are taken in blocks as high as the window,
// which consists of the end of one block and the beginning of the next. Of three rows, the extremes
// are computed each time.
template <bool largest, typename Sample>
class AlongColumns {
 public:
  AlongColumns(size_t window, size_t samples)
      : window_(window), pitch_(samples), ends_(window * samples), beginning_(samples) {}

  void begin() { place_ = 0; }

  // Where the next row goes, for add().
  [[nodiscard]] Sample* next() { return end(place_); }

  // The extremes of the window that ends with the row in next(); of fewer rows at first.
  [[gnu::always_inline]] void add(size_t samples, Sample* out) {
    if (window_ == 3) {
      extremes<largest>(end(0), end(1), end(2), samples, out);
      place_ = (place_ + 1) % 3;
      return;
    }
    const Sample* row = end(place_);
    extremes<largest>(row, place_ == 0 ? row : beginning_.data(), samples, beginning_.data());
    if (++place_ < window_) {
      extremes<largest>(beginning_.data(), end(place_), samples, out);
      return;
    }
    std::copy_n(beginning_.data(), samples, out);
    for (size_t i = window_ - 1; i > 0; --i)
      extremes<largest>(end(i - 1), end(i), samples, end(i - 1));
    place_ = 0;
  }

 private:
  [[nodiscard]] Sample* end(size_t i) { return ends_.data() + i * pitch_; }

  size_t window_;
  size_t pitch_;
  std::vector<Sample> ends_;  // from row i of the block before on; up to place_: rows of this block
  std::vector<Sample> beginning_;
  size_t place_ = 0;
};

template <typename Sample, bool largest>
struct MorphologyLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows* source, const MutableRows* target,
                                         int height, const MorphologyParameters* parameters) {
    const int radius = parameters->radius;
    const auto channels = static_cast<size_t>(source->format.channels);
    const auto window = static_cast<size_t>(2 * radius + 1);
    const bool weighted = parameters->alpha == AlphaMode::weighted && source->format.has_alpha();
    const int columns = std::min(static_cast<int>(tile_samples(window) / channels), source->width);
    const size_t capacity = static_cast<size_t>(columns) * channels;
    WindowTile<Sample, Sample> tile(*source, height, parameters->border, radius, 0, columns,
                                    weighted);
    AlongRows<largest, Sample> along_rows(window, channels, capacity);
    AlongColumns<largest, Sample> along_columns(window, capacity);
    std::vector<Sample> visible(capacity + window * channels);
    for (int x = 0; x < source->width; x += columns) {
      const int count = std::min(columns, source->width - x);
      const size_t samples = static_cast<size_t>(count) * channels;
      tile.begin(x, count, target->rows.begin - radius);
      along_columns.begin();
      for (int y = target->rows.begin - radius; y < target->rows.end + radius; ++y) {
        tile.advance();
        const Sample* in = tile.row(0).plain;
        if (largest && !tile.is_opaque()) {
          clear_invisible(in, channels, tile.samples(), visible.data());
          in = visible.data();
        }
        along_rows.fill(in, samples, along_columns.next());
        Sample* out = y - radius < target->rows.begin
                          ? visible.data()
                          : reinterpret_cast<Sample*>(target->row(y - radius)) +
                                static_cast<size_t>(x) * channels;
        along_columns.add(samples, out);
        if (!largest && weighted) clear_invisible(out, channels, samples, out);
      }
    }
  }
};

template <typename Sample>
void fill(const ConstRows& source, const MutableRows& target, int height,
          const MorphologyParameters& parameters) {
  if (parameters.operation == Morphology::dilate) {
    run_loop<MorphologyLoop<Sample, true>>(&source, &target, height, &parameters);
  } else {
    run_loop<MorphologyLoop<Sample, false>>(&source, &target, height, &parameters);
  }
}

}  // namespace

void morphology_rows(const ConstRows& source, const MutableRows& target, int height,
                     const MorphologyParameters& parameters) {
  if (source.format.depth == 8) {
    fill<std::uint8_t>(source, target, height, parameters);
  } else {
    fill<std::uint16_t>(source, target, height, parameters);
  }
}

}  // namespace gpufilter
