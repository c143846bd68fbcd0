#include "cases.hpp"
#include "host/instruction_set.hpp"

namespace Simd::Avx512bw {  // NOLINT(*-identifier-naming): as the library has it
void MeanFilter3x3(const std::uint8_t* source, std::size_t source_stride, std::size_t width,
                   std::size_t height, std::size_t channels, std::uint8_t* target,
                   std::size_t target_stride);
}  // namespace Simd::Avx512bw

namespace gpufilter::bench {

void add_simd() {
  if (available_instruction_sets().back() < InstructionSet::avx512) return;
  for (const PixelFormat& format : {rgb, rgba}) {
    add("blur/" + name(format) + "/Simd Library MeanFilter3x3 AVX-512", [format] {
      const ConstRows from = source(format).rows();
      const MutableRows to = target(format).rows();
      Simd::Avx512bw::MeanFilter3x3(from.data, from.pitch, size.width, size.height,
                                    static_cast<std::size_t>(format.channels), to.data, to.pitch);
    });
  }
}

}  // namespace gpufilter::bench
