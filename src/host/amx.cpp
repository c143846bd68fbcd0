#include "host/amx.hpp"

#include <atomic>
#include <cstddef>

#include "host/instruction_set.hpp"

#ifdef GPUFILTER_HAS_AMX
#include <cpuid.h>
#include <immintrin.h>
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace gpufilter {
namespace {

std::atomic<bool>& left_out() {
  static std::atomic<bool> is_left_out = false;
  return is_left_out;
}

#ifdef GPUFILTER_HAS_AMX
bool ask_permission() {
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
  constexpr unsigned tiles_and_int8 = (1U << 24U) | (1U << 25U);
  if (__get_cpuid_count(7, 0, &a, &b, &c, &d) == 0 || (d & tiles_and_int8) != tiles_and_int8)
    return false;
  constexpr int request_permission = 0x1023;  // ARCH_REQ_XCOMP_PERM
  constexpr int tile_data = 18;
  return syscall(SYS_arch_prctl, request_permission, tile_data) == 0;
}

// The layout of LDTILECFG's operand.
struct alignas(64) TileConfiguration {
  std::uint8_t palette = 1;
  std::uint8_t start_row = 0;
  std::uint8_t reserved[14] = {};
  std::uint16_t row_bytes[16] = {};
  std::uint8_t rows[16] = {};
};
static_assert(sizeof(TileConfiguration) == 64);
#else
bool ask_permission() {
  return false;
}
#endif

}  // namespace

bool amx_permitted() {
  static const bool permitted = ask_permission();
  return permitted;
}

bool amx_in_use() {
  return instruction_set() >= InstructionSet::avx512 && amx_permitted() &&
         !left_out().load(std::memory_order_relaxed);
}

AmxLeftOut::AmxLeftOut() : before_(left_out()) {
  left_out() = true;
}

AmxLeftOut::~AmxLeftOut() {
  left_out() = before_;
}

#ifdef GPUFILTER_HAS_AMX
[[gnu::target("amx-tile")]] void configure_amx(const std::array<AmxShape, 8>& shapes) {
  TileConfiguration configuration;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    configuration.row_bytes[i] = shapes[i].row_bytes;
    configuration.rows[i] = shapes[i].rows;
  }
  // GCC's intrinsics claim to read eight bytes of the configuration only, and nothing of the tiles
  // that they load: stores of the others would be left out or come later.
  asm volatile("" : : "m"(configuration) : "memory");
  _tile_loadconfig(&configuration);
}

[[gnu::target("amx-tile")]] void release_amx() {
  _tile_release();
}
#endif

}  // namespace gpufilter
