#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "host/arithmetic.hpp"
#include "host/pixels.hpp"
#include "host/vectors.hpp"
#include "stages/colour/color.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// The loop for 8-bit pixels whose colours do not depend on alpha. It converts bytes to floats by
// shuffles, and back by packing with saturation, which no compiler does for a plain loop.
template <InstructionSet set, size_t channels>
struct ColorVectors {
  using Words = Vector<std::uint32_t, set>;
  using Ints = Vector<std::int32_t, set>;
  using Floats = Vector<float, set>;
  static constexpr size_t pixels = count_of<Words>;

  // Transforms as many of `count` pixels as whole vectors can without touching memory after them;
  // returns their number. Alpha stays.
  [[gnu::always_inline]] static size_t transform(const std::uint8_t* in, size_t count,
                                                 const ColorCoefficients& numbers,
                                                 std::uint8_t* out) {
    constexpr auto all = std::make_integer_sequence<int, pixels>();
    size_t i = 0;
    for (; channels * i + sizeof(Words) <= channels * count; i += pixels) {
      auto words = load<Words>(in + channels * i);
      if constexpr (channels == 3) spread(words, all);
      const Floats x[] = {channel<0>(words), channel<1>(words), channel<2>(words)};
      const Ints blue = product(&numbers[10], x);
      const Ints alpha = channels == 4 ? as<std::int32_t>(words >> 24) : blue;
      words = as<std::uint32_t>(shuffled<to_pixels>(narrowed<std::uint8_t>(
          narrowed<std::int16_t>(product(&numbers[0], x), product(&numbers[5], x)),
          narrowed<std::int16_t>(blue, alpha))));
      if constexpr (channels == 3) gather(words, all);
      store(out + channels * i, words);
    }
    return i;
  }

 private:
  // From planar (all red samples of a lane, then green, ...) to packed pixels.
  static constexpr LanePlaces to_pixels = [] {
    LanePlaces places{};
    for (size_t i = 0; i < places.size(); ++i) {
      const size_t place = i % channels * 4 + i / channels;
      places[i] = i < 4 * channels ? static_cast<std::uint8_t>(place) : no_byte;
    }
    return places;
  }();

  // The samples of a channel of the packed pixels at the start of each lane.
  template <size_t c>
  [[gnu::always_inline]] static Floats channel(const Words& words) {
    constexpr LanePlaces places = [] {
      LanePlaces bytes{};
      for (size_t i = 0; i < bytes.size(); ++i)
        bytes[i] = i % 4 == 0 ? static_cast<std::uint8_t>(i / 4 * channels + c) : no_byte;
      return bytes;
    }();
    return __builtin_convertvector(as<std::int32_t>(shuffled<places>(words)), Floats);
  }

  // A row of the matrix times a pixel; 0 for a NaN, which is not below 255.
  [[gnu::always_inline]] static Ints product(const float* row, const Floats* x) {
    auto sum = everywhere<Floats>(row[4]);
    for (size_t c = 0; c < 3; ++c)
      sum = fused_multiply_add<set>(everywhere<Floats>(row[c]), x[c], sum);
    return rounded(minimum(Floats{} + 255, sum));
  }
};

// Pixels that are converted to RGBA, transformed and converted back while in the first-level cache.
constexpr size_t block_pixels = 512;

// Row `row` of the matrix times a pixel. Each sum is one chain, in this order. It is written and
// called without a loop: GCC would not unroll it or vectorise the loop around it.
template <InstructionSet set, size_t row, typename Sample>
[[gnu::always_inline]] inline std::uint32_t product(const ColorCoefficients& numbers,
                                                    const std::array<float, 4>& pixel) {
  float sum = numbers[5 * row + 4];
  sum = fused_multiply_add<set>(numbers[5 * row], pixel[0], sum);
  sum = fused_multiply_add<set>(numbers[5 * row + 1], pixel[1], sum);
  sum = fused_multiply_add<set>(numbers[5 * row + 2], pixel[2], sum);
  sum = fused_multiply_add<set>(numbers[5 * row + 3], pixel[3], sum);
  return to_sample<Sample>(sum);
}

// RGBA to RGBA.
template <InstructionSet set, bool keeps_alpha, typename Sample>
[[gnu::always_inline]] inline void transform(const Sample* __restrict in, size_t count,
                                             const ColorCoefficients& numbers,
                                             Sample* __restrict out) {
  for (size_t i = 0; i < count; ++i) {
    const auto pixel = Pixel<Sample, 4>::read(in + 4 * i);
    const std::array<float, 4> x{static_cast<float>(pixel.get(0)), static_cast<float>(pixel.get(1)),
                                 static_cast<float>(pixel.get(2)),
                                 static_cast<float>(pixel.get(3))};
    Pixel<Sample, 4> result;
    result.put(0, product<set, 0, Sample>(numbers, x));
    result.put(1, product<set, 1, Sample>(numbers, x));
    result.put(2, product<set, 2, Sample>(numbers, x));
    result.put(3, keeps_alpha ? static_cast<std::uint32_t>(pixel.get(3))
                              : product<set, 3, Sample>(numbers, x));
    result.write(out + 4 * i);
  }
}

template <typename Sample, bool keeps_alpha>
struct ColorLoop {
  template <InstructionSet set, size_t channels>
  [[gnu::always_inline]] static void run_row(const Sample* in, size_t width,
                                             const ColorCoefficients& numbers, bool has_alpha,
                                             Sample* out) {
    alignas(64) std::array<Sample, 4 * block_pixels> before;
    alignas(64) std::array<Sample, 4 * block_pixels> after;
    for (size_t x = 0; x < width; x += block_pixels) {
      const size_t count = std::min(block_pixels, width - x);
      const Sample* pixels = in + channels * x;
      Sample* results = has_alpha ? out + 4 * x : after.data();
      if constexpr (channels != 4) {
        to_rgba<set, channels>(pixels, count, before.data());
        pixels = before.data();
      }
      transform<set, keeps_alpha>(pixels, count, numbers, results);
      if (!has_alpha) to_rgb<set>(results, count, out + 3 * x);
    }
  }

  // The pixels of a row that a faster loop transforms.
  template <InstructionSet set>
  [[gnu::always_inline]] static size_t vectors([[maybe_unused]] const Sample* in,
                                               [[maybe_unused]] size_t channels,
                                               [[maybe_unused]] size_t width,
                                               [[maybe_unused]] const ColorCoefficients& numbers,
                                               [[maybe_unused]] Sample* out) {
    // With the baseline, plain loops are faster.
    if constexpr (sizeof(Sample) == 1 && keeps_alpha && set >= InstructionSet::avx2) {
      const bool reads_alpha = numbers[3] != 0 || numbers[8] != 0 || numbers[13] != 0;
      if (reads_alpha || channels < 3) return 0;
      return channels == 3 ? ColorVectors<set, 3>::transform(in, width, numbers, out)
                           : ColorVectors<set, 4>::transform(in, width, numbers, out);
    }
    return 0;
  }

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows source, const MutableRows target,
                                         const ColorCoefficients numbers) {
    const auto channels = static_cast<size_t>(source.format.channels);
    const bool has_alpha = target.format.has_alpha();
    for (int y = target.rows.begin; y < target.rows.end; ++y) {
      const auto* in = reinterpret_cast<const Sample*>(source.row(y));
      auto* out = reinterpret_cast<Sample*>(target.row(y));
      const auto all = static_cast<size_t>(source.width);
      const size_t done = vectors<set>(in, channels, all, numbers, out);
      const size_t width = all - done;
      in += channels * done;
      out += (has_alpha ? 4 : 3) * done;
      switch (channels) {
        case 1:
          run_row<set, 1>(in, width, numbers, has_alpha, out);
          break;
        case 2:
          run_row<set, 2>(in, width, numbers, has_alpha, out);
          break;
        case 3:
          run_row<set, 3>(in, width, numbers, has_alpha, out);
          break;
        default:
          run_row<set, 4>(in, width, numbers, has_alpha, out);
      }
    }
  }
};

template <typename Sample>
void color_rows_of(const ConstRows& source, const MutableRows& target, const ColorMatrix& matrix) {
  const ColorCoefficients numbers = color_coefficients(matrix, source.format);
  if (matrix.keeps_alpha()) {
    run_loop<ColorLoop<Sample, true>>(source, target, numbers);
  } else {
    run_loop<ColorLoop<Sample, false>>(source, target, numbers);
  }
}

}  // namespace

void color_rows(const ConstRows& source, const MutableRows& target, const ColorMatrix& matrix) {
  if (source.format.depth == 8) {
    color_rows_of<std::uint8_t>(source, target, matrix);
  } else {
    color_rows_of<std::uint16_t>(source, target, matrix);
  }
}

}  // namespace gpufilter
