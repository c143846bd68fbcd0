#include "codec/jxl/codec.hpp"

#include <algorithm>
#include <atomic>

#include "base/format.hpp"
#include "base/thread_limit.hpp"
#include "codec/jxl/functions.hpp"
#include "codec/whole_picture.hpp"
#include "host/parallel.hpp"
#include "image/rows.hpp"

namespace gpufilter {
namespace {

std::string jxl_libraries() {
  const std::uint32_t version = libjxl().JxlDecoderVersion();
  return formatted("libjxl {}.{}.{}", version / 1'000'000, version / 1000 % 1000, version % 1000);
}

}  // namespace

const WriteOption& jxl_effort_option() {
  static const WriteOption option{"jxl-effort", WriteOption::WholeNumber{1, 9}, "",
                                  "Effort of JPEG XL output: 1 is fast, 9 slow. By default 5, or 3 "
                                  "for lossless files."};
  return option;
}

const Codec& jxl_codec() {
  static const Codec codec{.name = "JPEG XL",
                           .extensions = {".jxl"},
                           .signatures = {"\xff\x0a", {"\0\0\0\x0cJXL \r\n\x87\n", 12}},
                           .holds_alpha = true,
                           .color_tags = ColorTags::points,
                           .holds_late_metadata = false,
                           .encodes_in_parallel = true,
                           .decoding = {"decode JPEG XL", 15e-9, 0},
                           .encoding = {"encode JPEG XL", 90e-9, 0},
                           .report_key = "encoding",
                           .options = {&quality_option(), &lossless_option(), &jxl_effort_option(),
                                       &strip_option(), &keep_option()},
                           .open = open_jxl,
                           .create = create_jxl,
                           .libraries = jxl_libraries,
                           .loaded_later = "libjxl " GPUFILTER_JXL_VERSION};
  return codec;
}

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
