// The functions of kernels/net/net_functions.cl, for each instruction set. Sources that include
// this need kernels/ among their folders of headers.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

#include "host/arithmetic.hpp"
#include "host/loops.hpp"

namespace gpufilter {
namespace net_functions {

[[gnu::always_inline]] inline float as_float(std::int32_t bits) {
  return std::bit_cast<float>(bits);
}
[[gnu::always_inline]] inline std::int32_t as_int(float number) {
  return std::bit_cast<std::int32_t>(number);
}
[[gnu::always_inline]] inline float fabs(float number) {
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(number) & 0x7fffffffU);
}

#define NET_FUNCTION            \
  template <InstructionSet set> \
  [[gnu::always_inline]] inline
#define NET_CALL(function) function<set>
#define fma fused_multiply_add<set>
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wold-style-cast"
#include "net/net_functions.cl"
#pragma GCC diagnostic pop
#undef fma
#undef NET_CALL
#undef NET_FUNCTION

}  // namespace net_functions

}  // namespace gpufilter
