#include "codec/jxl/codec.hpp"

#include "base/format.hpp"
#include "codec/fidelity.hpp"
#include "codec/jxl/functions.hpp"

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

}  // namespace gpufilter
