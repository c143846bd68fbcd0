#include "codec/jxl/functions.hpp"

#include <algorithm>
#include <atomic>

#include "base/thread_limit.hpp"
#include "host/parallel.hpp"
#include "image/rows.hpp"

namespace gpufilter {

const LibJxl& libjxl() {
  static const LibJxl library(GPUFILTER_JXL_LIBRARY);
  return library;
}

JxlPixelFormat jxl_format(const PixelFormat& format) {
  return {static_cast<std::uint32_t>(format.channels),
          format.depth == 8 ? JXL_TYPE_UINT8 : JXL_TYPE_UINT16, JXL_NATIVE_ENDIAN, row_alignment};
}

JxlParallelRetCode run_for_jxl(void* /*runner*/, void* jxl, JxlParallelRunInit init,
                               JxlParallelRunFunction function, std::uint32_t begin,
                               std::uint32_t end) try {
  const std::size_t threads =
      std::clamp<std::size_t>(allowed_threads(), 1, std::max<std::uint32_t>(end - begin, 1));
  if (const JxlParallelRetCode failure = init(jxl, threads); failure != 0) return failure;
  std::atomic<std::uint64_t> next = begin;
  run_parts(static_cast<int>(threads), [&](int thread) {
    for (std::uint64_t value = next++; value < end; value = next++)
      function(jxl, static_cast<std::uint32_t>(value), static_cast<std::size_t>(thread));
  });
  return 0;
} catch (...) {
  return JXL_PARALLEL_RET_RUNNER_ERROR;
}

}  // namespace gpufilter
