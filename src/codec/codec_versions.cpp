#include <cstdio>

#include <isa-l.h>
#include <jpeglib.h>
#include <libdeflate.h>
#include <png.h>
#include <zlib.h>
// After it: which messages there are depends on it.
#include <jerror.h>

#include "base/format.hpp"
#include "codec/codec.hpp"

namespace gpufilter {
namespace {

// libjpeg tells what it is among its messages alone.
std::string jpeg_version() {
  jpeg_error_mgr errors{};
  const jpeg_error_mgr* known = jpeg_std_error(&errors);
  return format("{}, {}", known->jpeg_message_table[JMSG_VERSION],
                known->jpeg_message_table[JMSG_COPYRIGHT]);
}

}  // namespace

std::string codec_versions() {
  // ISA-L and libdeflate do not say at run time: these are the versions that this was built with.
  return format("libpng {}, zlib {}, libjpeg {}, ISA-L {}.{}.{}, libdeflate {}",
                png_get_libpng_ver(nullptr), zlibVersion(), jpeg_version(), ISAL_MAJOR_VERSION,
                ISAL_MINOR_VERSION, ISAL_PATCH_VERSION, LIBDEFLATE_VERSION_STRING);
}

}  // namespace gpufilter
