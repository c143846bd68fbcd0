#include "codec/jpeg/codec.hpp"

#include <cstdio>

#include <jpeglib.h>
// After jpeglib.h, which decides what messages there are.
#include <jerror.h>

#include "base/format.hpp"

namespace gpufilter {
namespace {

// libjpeg states its version only in its table of messages.
std::string jpeg_libraries() {
  jpeg_error_mgr errors{};
  const jpeg_error_mgr* known = jpeg_std_error(&errors);
  return formatted("libjpeg {}, {}", known->jpeg_message_table[JMSG_VERSION],
                   known->jpeg_message_table[JMSG_COPYRIGHT]);
}

}  // namespace

const WriteOption& jpeg_quality_option() {
  static const WriteOption option{
      "quality", WriteOption::WholeNumber{1, 100}, "",
      "Quality of JPEG output. By default that of a JPEG input is kept, else 90."};
  return option;
}

const WriteOption& jpeg_subsampling_option() {
  static const WriteOption option{
      "subsampling", WriteOption::Choice{{"auto", "444", "422", "420"}}, "auto",
      "Chroma subsampling of JPEG output. auto keeps that of a JPEG input, else takes 420 below "
      "quality 90 and 444 from 90 on.",
      WriteOption::Pixels::in_color};
  return option;
}

const Codec& jpeg_codec() {
  static const Codec codec{
      .name = "JPEG",
      .endings = {".jpg", ".jpeg"},
      .signatures = {"\xff\xd8\xff"},
      .holds_alpha = false,
      .is_lossless = false,
      .encodes_in_parallel = false,
      .report_key = "jpeg",
      .options = {&jpeg_quality_option(), &jpeg_subsampling_option(), &background_option()},
      .open = open_jpeg,
      .create = create_jpeg,
      .libraries = jpeg_libraries};
  return codec;
}

}  // namespace gpufilter
