#include "net/net_float_rows.hpp"

#include <algorithm>
#include <cstring>

#ifdef __x86_64__
#include <immintrin.h>
#endif

#include "host/arithmetic.hpp"
#include "host/instruction_set.hpp"
#include "net/net_planes.hpp"

namespace gpufilter {
namespace {

namespace baseline {
#define TARGET
#define VECTORS 1
#define FOUR_VECTORS 2
using Floats [[gnu::vector_size(16)]] = float;

inline Floats broadcast(float number) {
  return Floats{number, number, number, number};
}

inline Floats multiply_add(Floats a, Floats b, Floats c) {
  for (std::size_t i = 0; i < 4; ++i)
    c[i] = fused_multiply_add<InstructionSet::baseline>(a[i], b[i], c[i]);
  return c;
}
#include "net/net_float_rows.inc"
}  // namespace baseline

#ifdef __x86_64__
namespace avx2 {
#define TARGET [[gnu::target("avx2,fma")]]
#define VECTORS 1
#define FOUR_VECTORS 3
using Floats [[gnu::vector_size(32)]] = float;

TARGET inline Floats broadcast(float number) {
  return _mm256_set1_ps(number);
}

TARGET inline Floats multiply_add(Floats a, Floats b, Floats c) {
  return _mm256_fmadd_ps(a, b, c);
}
#include "net/net_float_rows.inc"
}  // namespace avx2

namespace avx512 {
#define TARGET [[gnu::target("avx512f")]]
#define VECTORS 3
#define FOUR_VECTORS 6
using Floats [[gnu::vector_size(64)]] = float;

TARGET inline Floats broadcast(float number) {
  return _mm512_set1_ps(number);
}

TARGET inline Floats multiply_add(Floats a, Floats b, Floats c) {
  return _mm512_fmadd_ps(a, b, c);
}
#include "net/net_float_rows.inc"
}  // namespace avx512
#endif

}  // namespace

NetBlocks net_blocks_of(const NetOperation& convolution, int outputs) {
  const auto groups = static_cast<std::size_t>(convolution.groups);
  const std::size_t each = static_cast<std::size_t>(outputs) / groups;
  const std::size_t taps = convolution.weights.size() / static_cast<std::size_t>(outputs);
  const std::size_t widest = instruction_set() >= InstructionSet::avx512 ? 8 : 4;
  NetBlocks result;
  for (std::size_t group = 0; group < groups; ++group) {
    for (std::size_t done = 0; done < each;) {
      const std::size_t left = each - done;
      const std::size_t width = left == 1 ? 1 : left <= 4 ? 4 : widest;
      const NetBlocks::Block block{group * each + done, std::min(left, width), width, group,
                                   result.numbers.size()};
      result.blocks.push_back(block);
      const auto add = [&](const std::vector<float>& numbers, std::size_t pitch,
                           std::size_t place) {
        for (std::size_t o = 0; o < width; ++o)
          result.numbers.push_back(o < block.count ? numbers[(block.first + o) * pitch + place]
                                                   : 0);
      };
      add(convolution.bias, 1, 0);
      for (std::size_t tap = 0; tap < taps; ++tap)
        add(convolution.weights, taps, tap);
      done += block.count;
    }
  }
  return result;
}

void net_float_row(const NetFloatRow& row) {
#ifdef __x86_64__
  switch (instruction_set()) {
    case InstructionSet::avx512_vbmi:
    case InstructionSet::avx512_vnni:
    case InstructionSet::avx512:
      return avx512::compute_row(row);
    case InstructionSet::avx2:
      return avx2::compute_row(row);
    default:
      break;
  }
#endif
  baseline::compute_row(row);
}

}  // namespace gpufilter
