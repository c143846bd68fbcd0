#include "stages/point/lookup_rows.hpp"

#include <algorithm>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "host/arithmetic.hpp"
#include "host/pixels.hpp"
#include "image/luma.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// Applies `change` to the first `changed` of each `group` samples; the others stay. A row has whole
// groups.
template <size_t group, size_t changed, typename Sample, typename Change>
[[gnu::always_inline]] inline void change_groups(const Sample* in, size_t samples, Sample* out,
                                                 const Change& change) {
  for (size_t i = 0; i < samples; i += group) {
    for (size_t c = 0; c < changed; ++c)
      out[i + c] = change(in[i + c]);
    for (size_t c = changed; c < group; ++c)
      out[i + c] = in[i + c];
  }
}

// Applies `change` to colours; alpha stays.
template <typename Sample, typename Change>
[[gnu::always_inline]] inline void change_row(const Sample* in, size_t width, size_t channels,
                                              Sample* out, const Change& change) {
  const size_t samples = width * channels;
  if (channels == 4) return change_groups<4, 3>(in, samples, out, change);
  if (channels == 2) return change_groups<2, 1>(in, samples, out, change);
  const size_t whole = samples / 4 * 4;  // four at a time are faster than one
  change_groups<4, 4>(in, whole, out, change);
  change_groups<1, 1>(in + whole, samples - whole, out + whole, change);
}

template <typename Sample>
void look_up_row(const Sample* in, size_t width, size_t channels, const Sample* table,
                 Sample* out) {
  change_row(
      in, width, channels,
      out, [table](Sample sample) __attribute__((always_inline)) { return table[sample]; });
}

#ifdef __x86_64__
// AVX-512 VBMI looks up 64 bytes at a time in a table of four registers. x86-64-v4 does not
// include it.
constexpr size_t vector_bytes = 64;

bool has_vector_table() {
  static const bool has_vbmi = __builtin_cpu_supports("avx512vbmi");
  return has_vbmi && instruction_set() == InstructionSet::avx512;
}

// Processes as many of `count` bytes as fill whole registers; returns their number. Bytes whose
// bits are set in `kept` stay.
[[gnu::target("avx512f,avx512bw,avx512vbmi")]] size_t look_up_vectors(const std::uint8_t* in,
                                                                      size_t count,
                                                                      const std::uint8_t* table,
                                                                      std::uint64_t kept,
                                                                      std::uint8_t* out) {
  const __m512i first = _mm512_loadu_si512(table);
  const __m512i second = _mm512_loadu_si512(table + vector_bytes);
  const __m512i third = _mm512_loadu_si512(table + 2 * vector_bytes);
  const __m512i fourth = _mm512_loadu_si512(table + 3 * vector_bytes);
  size_t i = 0;
  for (; i + vector_bytes <= count; i += vector_bytes) {
    const __m512i bytes = _mm512_loadu_si512(in + i);
    const __m512i low = _mm512_permutex2var_epi8(first, bytes, second);
    const __m512i high = _mm512_permutex2var_epi8(third, bytes, fourth);
    const __m512i found = _mm512_mask_blend_epi8(_mm512_movepi8_mask(bytes), low, high);
    _mm512_storeu_si512(out + i, _mm512_mask_blend_epi8(kept, found, bytes));
  }
  return i;
}

void look_up_row_in_vectors(const std::uint8_t* in, size_t width, size_t channels,
                            const std::uint8_t* table, std::uint8_t* out) {
  constexpr std::uint64_t every_second = 0xaaaaaaaaaaaaaaaaU;
  constexpr std::uint64_t every_fourth = 0x8888888888888888U;
  const std::uint64_t alpha = channels == 2 ? every_second : (channels == 4 ? every_fourth : 0);
  const size_t done = look_up_vectors(in, width * channels, table, alpha, out);
  // Registers end at pixel boundaries, except for RGB, where all samples are treated alike.
  if (channels == 3) return look_up_row(in + done, width * 3 - done, 1, table, out + done);
  look_up_row(in + done, width - done / channels, channels, table, out + done);
}
#endif

void look_up_bytes(const ConstRows& source, const MutableRows& target, const std::uint8_t* table) {
  const auto width = static_cast<size_t>(source.width);
  const auto channels = static_cast<size_t>(source.format.channels);
  auto* look_up = &look_up_row<std::uint8_t>;
#ifdef __x86_64__
  if (has_vector_table()) look_up = &look_up_row_in_vectors;
#endif
  for (int y = target.rows.begin; y < target.rows.end; ++y)
    look_up(source.row(y), width, channels, table, target.row(y));
}

// Calls row(first sample of the source's row, of the target's) for each row.
template <typename Sample, typename Row>
[[gnu::always_inline]] inline void for_rows(const ConstRows& source, const MutableRows& target,
                                            const Row& row) {
  for (int y = target.rows.begin; y < target.rows.end; ++y) {
    row(reinterpret_cast<const Sample*>(source.row(y)), reinterpret_cast<Sample*>(target.row(y)));
  }
}

// Pixels that are converted to RGBA, scaled and converted back while in the first-level cache.
constexpr size_t block_pixels = 256;

// In place.
template <typename Sample>
[[gnu::always_inline]] inline void scale_block(Sample* rgba, size_t count, const float* factors) {
  std::array<std::uint32_t, block_pixels> lumas;
  std::array<float, block_pixels> scales;
  for (size_t i = 0; i < count; ++i) {
    const auto pixel = Pixel<Sample, 4>::read(rgba + 4 * i);
    lumas[i] = luma_bt709(static_cast<std::uint32_t>(pixel.get(0)),
                          static_cast<std::uint32_t>(pixel.get(1)),
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
  const auto change = [factors](Sample sample) __attribute__((always_inline)) {
    return static_cast<Sample>(to_sample<Sample>(static_cast<float>(sample) * factors[sample]));
  };
  const auto channels = static_cast<size_t>(source.format.channels);
  for_rows<Sample>(source, target, [&](const Sample* in, Sample* out) {
    change_row(in, width, channels, out, change);
  });
}

}  // namespace

void lookup_rows(const ConstRows& source, const MutableRows& target, const std::uint16_t* table) {
  if (source.format.depth == 8) {
    std::array<std::uint8_t, 256> bytes;
    std::transform(table, table + bytes.size(), bytes.begin(),
                   [](std::uint16_t entry) { return static_cast<std::uint8_t>(entry); });
    return look_up_bytes(source, target, bytes.data());
  }
  const auto width = static_cast<size_t>(source.width);
  const auto channels = static_cast<size_t>(source.format.channels);
  for_rows<std::uint16_t>(source, target, [&](const std::uint16_t* in, std::uint16_t* out) {
    look_up_row(in, width, channels, table, out);
  });
}

void lookup_rows(const ConstRows& source, const MutableRows& target, const float* factors) {
  if (source.format.depth == 8) {
    scale<std::uint8_t>(source, target, factors);
  } else {
    scale<std::uint16_t>(source, target, factors);
  }
}

}  // namespace gpufilter
