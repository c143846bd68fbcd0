#include "stages/point/lut_rows.hpp"

#include <algorithm>
#include <array>
#include <limits>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "host/arithmetic.hpp"
#include "host/pixels.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Pixels that are converted to RGBA, changed and converted back while in the first-level cache.
constexpr size_t block_pixels = 256;

// Where the four nodes around each pixel are, as indices of their first floats, and their weights.
struct Corners {
  std::array<std::array<std::uint32_t, block_pixels>, 4> nodes;
  std::array<std::array<float, block_pixels>, 4> weights;
};

[[gnu::always_inline]] inline std::uint32_t position(std::uint32_t sample, const LatticeAxis& axis,
                                                     std::uint32_t last) {
  const std::uint32_t distance = sample - axis.low;
  const std::uint32_t inside =
      axis.start + distance * axis.whole + ((distance * axis.part + 32768U) >> 16U);
  const std::uint32_t limited = inside < last ? inside : last;
  const std::uint32_t not_above = sample > axis.high ? last : limited;
  return sample < axis.low ? 0 : not_above;
}

// The tetrahedron that a pixel lies in: from its cell's first node to the last, along the axis with
// the largest fraction first. Where fractions are equal, nodes that differ have no weight.
template <bool shaped, typename Sample>
[[gnu::always_inline]] inline void find_corners(const Sample* rgba, size_t count,
                                                const Lattice& lattice, Corners& corners) {
  constexpr size_t samples = size_t{std::numeric_limits<Sample>::max()} + 1;
  constexpr std::uint32_t one = 1U << fraction_bits;
  const std::array<LatticeAxis, 3> axes = lattice.axes;
  const std::uint32_t* positions = lattice.positions.data();
  const std::uint32_t last = lattice.last;
  const std::uint32_t red_step = 4;
  const std::uint32_t green_step = 4 * lattice.size;
  const std::uint32_t blue_step = green_step * lattice.size;
  for (size_t i = 0; i < count; ++i) {
    const auto pixel = Pixel<Sample, 4>::read(rgba + 4 * i);
    const auto position_of = [&](int c) __attribute__((always_inline)) {
      const auto sample = static_cast<std::uint32_t>(pixel.get(c));
      const auto at = static_cast<size_t>(c);
      return shaped ? positions[at * samples + sample] : position(sample, axes[at], last);
    };
    const std::uint32_t red = position_of(0);
    const std::uint32_t green = position_of(1);
    const std::uint32_t blue = position_of(2);
    const auto r = static_cast<std::int32_t>(red & (one - 1));
    const auto g = static_cast<std::int32_t>(green & (one - 1));
    const auto b = static_cast<std::int32_t>(blue & (one - 1));
    const std::int32_t high = std::max(std::max(r, g), b);
    const std::int32_t low = std::min(std::min(r, g), b);
    const std::int32_t middle = r + g + b - high - low;
    const std::uint32_t first_step = high == r ? red_step : (high == g ? green_step : blue_step);
    const std::uint32_t last_step = low == b ? blue_step : (low == g ? green_step : red_step);
    const std::uint32_t base = (red >> fraction_bits) * red_step +
                               (green >> fraction_bits) * green_step +
                               (blue >> fraction_bits) * blue_step;
    const std::uint32_t end = base + red_step + green_step + blue_step;
    corners.nodes[0][i] = base;
    corners.nodes[1][i] = base + first_step;
    corners.nodes[2][i] = end - last_step;
    corners.nodes[3][i] = end;
    corners.weights[0][i] = static_cast<float>(static_cast<std::int32_t>(one) - high);
    corners.weights[1][i] = static_cast<float>(high - middle);
    corners.weights[2][i] = static_cast<float>(middle - low);
    corners.weights[3][i] = static_cast<float>(low);
  }
}

// The sums of the nodes, four floats for each pixel.
template <InstructionSet set>
[[gnu::always_inline]] inline void add_nodes(const float* nodes, const Corners& corners,
                                             size_t count, float* __restrict sums) {
  for (size_t i = 0; i < count; ++i) {
    float* sum = sums + 4 * i;
    for (size_t k = 0; k < 4; ++k) {
      const float* node = nodes + corners.nodes[k][i];
      const float weight = corners.weights[k][i];
      for (size_t c = 0; c < 4; ++c)
        sum[c] = fused_multiply_add<set>(weight, node[c], sum[c]);
    }
  }
}

#ifdef __x86_64__
// Four floats are a vector. Compilers gather these from many pixels instead.
[[gnu::target("avx2,fma")]] inline __m128i sums_of_pixel(const std::uint8_t* pixel, size_t i,
                                                         const Lattice& lattice,
                                                         const Corners& corners) {
  const __m128i samples = _mm_cvtepu8_epi32(_mm_cvtsi32_si128(load<std::int32_t>(pixel)));
  __m128 sum = _mm_mul_ps(_mm_set1_ps(lattice.keep), _mm_cvtepi32_ps(samples));
  for (size_t k = 0; k < 4; ++k) {
    const __m128 node = _mm_loadu_ps(lattice.nodes.data() + corners.nodes[k][i]);
    sum = _mm_fmadd_ps(_mm_set1_ps(corners.weights[k][i]), node, sum);
  }
  // The minimum of a NaN is its second operand, and what does not fit an integer becomes the
  // smallest one: 0 when packed.
  return _mm_cvtps_epi32(_mm_min_ps(_mm_set1_ps(255), sum));
}

// Changes `count` pixels, a multiple of four, in place.
[[gnu::target("avx2,fma")]] void change_groups(std::uint8_t* rgba, size_t count,
                                               const Lattice& lattice, const Corners& corners) {
  const __m128i alpha = _mm_set1_epi32(static_cast<int>(0xff000000U));
  for (size_t i = 0; i < count; i += 4) {
    std::uint8_t* pixels = rgba + 4 * i;
    __m128i sums[4];
    for (size_t k = 0; k < 4; ++k)
      sums[k] = sums_of_pixel(pixels + 4 * k, i + k, lattice, corners);
    const __m128i packed =
        _mm_packus_epi16(_mm_packs_epi32(sums[0], sums[1]), _mm_packs_epi32(sums[2], sums[3]));
    auto* place = reinterpret_cast<__m128i*>(pixels);
    _mm_storeu_si128(place, _mm_blendv_epi8(packed, _mm_loadu_si128(place), alpha));
  }
}
#endif

template <typename Sample, bool shaped>
struct LatticeLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void change_block(Sample* rgba, size_t count,
                                                  const Lattice& lattice) {
    Corners corners;
#ifdef __x86_64__
    if constexpr (sizeof(Sample) == 1 && set != InstructionSet::baseline) {
      // A block has whole groups, the last of them with any pixels.
      const size_t whole = (count + 3) / 4 * 4;
      find_corners<shaped>(rgba, whole, lattice, corners);
      return change_groups(rgba, whole, lattice, corners);
    }
#endif
    find_corners<shaped>(rgba, count, lattice, corners);
    alignas(64) std::array<float, 4 * block_pixels> sums;
    for (size_t i = 0; i < 4 * count; ++i)
      sums[i] = lattice.keep * static_cast<float>(rgba[i]);
    add_nodes<set>(lattice.nodes.data(), corners, count, sums.data());
    for (size_t i = 0; i < count; ++i) {
      Pixel<Sample, 4> result;
      result.put(0, to_sample<Sample>(sums[4 * i]));
      result.put(1, to_sample<Sample>(sums[4 * i + 1]));
      result.put(2, to_sample<Sample>(sums[4 * i + 2]));
      result.put(3, rgba[4 * i + 3]);
      result.write(rgba + 4 * i);
    }
  }

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows source, const MutableRows target,
                                         const Lattice* lattice) {
    const auto width = static_cast<size_t>(source.width);
    const auto channels = static_cast<size_t>(source.format.channels);
    const auto target_channels = static_cast<size_t>(target.format.channels);
    alignas(64) std::array<Sample, 4 * block_pixels> block{};
    for (int y = target.rows.begin; y < target.rows.end; ++y) {
      const auto* in = reinterpret_cast<const Sample*>(source.row(y));
      auto* out = reinterpret_cast<Sample*>(target.row(y));
      for (size_t x = 0; x < width; x += block_pixels) {
        const size_t count = std::min(block_pixels, width - x);
        to_rgba<set>(in + channels * x, channels, count, block.data());
        change_block<set>(block.data(), count, *lattice);
        from_rgba<set>(block.data(), count, target_channels, out + target_channels * x);
      }
    }
  }
};

template <typename Sample>
using PlainLoop = LatticeLoop<Sample, false>;
template <typename Sample>
using ShapedLoop = LatticeLoop<Sample, true>;

template <typename Sample>
void look_up_curves(const ConstRows& source, const MutableRows& target,
                    const std::uint16_t* tables) {
  const size_t entries = source.format.max_sample() + 1;
  const bool grey = source.format.color_channels() == 1;
  const auto channels = static_cast<size_t>(source.format.channels);
  const auto target_channels = static_cast<size_t>(target.format.channels);
  for (int y = target.rows.begin; y < target.rows.end; ++y) {
    const auto* in = reinterpret_cast<const Sample*>(source.row(y));
    auto* out = reinterpret_cast<Sample*>(target.row(y));
    for (int x = 0; x < source.width; ++x, in += channels, out += target_channels) {
      for (size_t c = 0; c < 3; ++c)
        out[c] = static_cast<Sample>(tables[c * entries + in[grey ? 0 : c]]);
      if (target_channels == 4) out[3] = in[channels - 1];
    }
  }
}

}  // namespace

void lattice_rows(const ConstRows& source, const MutableRows& target, const Lattice& lattice) {
  if (lattice.positions.empty()) {
    run_loop_of_depth<PlainLoop>(source.format.depth, source, target, &lattice);
  } else {
    run_loop_of_depth<ShapedLoop>(source.format.depth, source, target, &lattice);
  }
}

void curve_rows(const ConstRows& source, const MutableRows& target, const std::uint16_t* tables) {
  if (source.format.depth == 8) {
    look_up_curves<std::uint8_t>(source, target, tables);
  } else {
    look_up_curves<std::uint16_t>(source, target, tables);
  }
}

}  // namespace gpufilter
