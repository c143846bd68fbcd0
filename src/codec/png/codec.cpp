#include <utility>

#include <isa-l.h>
#include <libdeflate.h>
#include <png.h>
#include <zlib.h>

#include "base/format.hpp"
#include "codec/formats.hpp"

namespace gpufilter {
namespace {

// ISA-L and libdeflate do not report their versions at run time: these are the build's.
std::string png_libraries() {
  return formatted("libpng {}, zlib {}, ISA-L {}.{}.{}, libdeflate {}", png_get_libpng_ver(nullptr),
                   zlibVersion(), ISAL_MAJOR_VERSION, ISAL_MINOR_VERSION, ISAL_PATCH_VERSION,
                   LIBDEFLATE_VERSION_STRING);
}

}  // namespace

const WriteOption& png_level_option() {
  static const WriteOption option{"png-level", WriteOption::WholeNumber{0, 9}, "6",
                                  "Compression of PNG output. 0 is the fastest, 9 gives the "
                                  "smallest file: the same pixels, perhaps as a palette, as grey, "
                                  "without alpha or in fewer bits."};
  return option;
}

const Codec& png_codec() {
  static const Codec codec{
      .name = "PNG",
      .extensions = {".png"},
      .signatures = {"\x89PNG\r\n\x1a\n"},
      .holds_alpha = true,
      .color_tags = ColorTags::numbers,
      .is_lossless = true,
      .encodes_in_parallel = true,
      .decoding = {"decode PNG", 3.5e-9, 0},
      .encoding = {"encode PNG", 8e-9, 0},
      .options = {&png_level_option(), &strip_option(), &keep_option()},
      .open = [](std::unique_ptr<ByteSource> source,
                 const ReadLimits& limits) { return open_png(std::move(source), limits); },
      .create = create_png,
      .read_late_metadata = read_late_png_metadata,
      .libraries = png_libraries};
  return codec;
}

}  // namespace gpufilter
