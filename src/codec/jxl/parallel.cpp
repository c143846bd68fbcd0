#include "codec/jxl/parallel.hpp"

#include <algorithm>
#include <atomic>

#include "base/thread_limit.hpp"
#include "host/parallel.hpp"

namespace gpufilter {

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
