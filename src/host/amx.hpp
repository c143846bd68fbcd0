// AMX: matrix units of x86 processors, which multiply tiles of up to 16 rows of 64 bytes. Code with
// its instructions is compiled only if GPUFILTER_HAS_AMX is defined.
#pragma once

#include <array>
#include <cstdint>

#if defined(__x86_64__) && defined(__linux__) && __has_include(<amxint8intrin.h>)
#define GPUFILTER_HAS_AMX
#endif

namespace gpufilter {

// Whether this machine multiplies tiles of 8-bit integers, and the system permits it. The first
// call asks the system, for all threads of the process.
[[nodiscard]] bool amx_permitted();

// Whether loops use AMX: it is permitted, AVX-512 is the instruction set in use, and no AmxLeftOut
// exists. Thread-safe.
[[nodiscard]] bool amx_in_use();

// Loops do without AMX while it exists. For tests and measurements; no other thread may call
// amx_in_use() meanwhile.
class AmxLeftOut {
 public:
  AmxLeftOut();
  ~AmxLeftOut();
  AmxLeftOut(const AmxLeftOut&) = delete;
  AmxLeftOut& operator=(const AmxLeftOut&) = delete;

 private:
  bool before_;
};

#ifdef GPUFILTER_HAS_AMX
struct AmxShape {
  std::uint8_t rows = 16;
  std::uint16_t row_bytes = 64;
};

// Gives this thread's tiles their shapes, until it releases them. Tiles then read what was stored
// before.
void configure_amx(const std::array<AmxShape, 8>& shapes);
void release_amx();
#endif

}  // namespace gpufilter
