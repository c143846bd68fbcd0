#include <cstdio>

#include <jpeglib.h>
// Included after jpeglib.h, which decides which messages exist.
#include <jerror.h>

#include "base/format.hpp"
#include "codec/formats.hpp"
#include "codec/jpeg/write/encoding.hpp"

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

const WriteOption& jpeg_subsampling_option() {
  static const WriteOption option{
      "subsampling", WriteOption::Choice{{"auto", "444", "422", "420"}}, "auto",
      "Chroma subsampling of JPEG output. auto: the JPEG input's; otherwise 420 below quality "
      "90, and 444 from 90 on.",
      WriteOption::Pixels::in_color};
  return option;
}

const WriteOption& jpeg_restart_option() {
  static const WriteOption option{
      "restart", WriteOption::Choice{{"on", "off"}}, "on",
      "Restart markers in JPEG output. With them all cores encode and decode one picture; without "
      "them a file is up to 0.3 % smaller."};
  return option;
}

const WriteOption& jpeg_progressive_option() {
  static const WriteOption option{
      "progressive", WriteOption::Flag{}, "off",
      "Write progressive JPEG. It is smaller, takes several times as long, and is held in memory "
      "as a whole."};
  return option;
}

const Codec& jpeg_codec() {
  static const Codec codec{
      .name = "JPEG",
      .extensions = {".jpg", ".jpeg", ".jpe", ".jfif"},
      .signatures = {"\xff\xd8\xff"},
      .color_tags = ColorTags::profile,
      .holds_late_metadata = false,
      .max_depth = 8,
      .encodes_in_parallel = true,
      .has_stored_pictures = true,
      .decoding = {"decode JPEG", 1.7e-9, 0.02e-9},
      .encoding = {"encode JPEG", 2.5e-9, 0},
      .report_key = "jpeg",
      .options = {&quality_option(), &max_bytes_option(), &jpeg_subsampling_option(),
                  &jpeg_restart_option(), &jpeg_progressive_option(), &lossless_option(),
                  &background_option(), &strip_option(), &keep_option()},
      .open = open_jpeg,
      .create = create_jpeg,
      .coding = jpeg_coding,
      .libraries = jpeg_libraries};
  return codec;
}

}  // namespace gpufilter
