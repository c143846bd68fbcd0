#include "codec/netpbm/codec.hpp"

namespace gpufilter {
namespace {

// A magic number and the white space or comment that follows it.
std::vector<std::string> signatures_of(const std::vector<std::string>& magic_numbers) {
  std::vector<std::string> signatures;
  for (const std::string& magic : magic_numbers) {
    for (const char next : {'\n', ' ', '\t', '\r', '#'})
      signatures.push_back(magic + next);
  }
  return signatures;
}

template <const Codec& (*codec)()>
std::unique_ptr<RowWriter> create(ByteSink& sink, const PictureHeader& header,
                                  const WriteOptions& options) {
  return create_netpbm(codec(), sink, header, options);
}

// The row of a format without alpha.
template <const Codec& (*codec)()>
Codec map_codec(const std::string& name, const std::string& ending, int color_channels,
                const std::vector<std::string>& magic_numbers) {
  return {.name = name,
          .extensions = {ending},
          .signatures = signatures_of(magic_numbers),
          .color_channels = color_channels,
          .decoding = {"decode " + name, 0.3e-9, 0},
          .encoding = {"encode " + name, 0.3e-9, 0},
          .report_key = "",
          .options = {&background_option(), &strip_option(), &keep_option()},
          .open = open_netpbm,
          .create = create<codec>};
}

}  // namespace

const Codec& ppm_codec() {
  static const Codec codec = map_codec<ppm_codec>("PPM", ".ppm", 3, {"P6", "P3"});
  return codec;
}

const Codec& pgm_codec() {
  static const Codec codec = map_codec<pgm_codec>("PGM", ".pgm", 1, {"P5", "P2"});
  return codec;
}

const Codec& pnm_codec() {
  static const Codec codec = map_codec<pnm_codec>("PNM", ".pnm", 0, {"P4", "P1"});
  return codec;
}

const Codec& pam_codec() {
  static const Codec codec{.name = "PAM",
                           .extensions = {".pam"},
                           .signatures = {"P7\n"},
                           .holds_alpha = true,
                           .is_lossless = true,
                           .decoding = {"decode PAM", 0.3e-9, 0},
                           .encoding = {"encode PAM", 0.3e-9, 0},
                           .report_key = "",
                           .options = {&strip_option(), &keep_option()},
                           .open = open_netpbm,
                           .create = create<pam_codec>};
  return codec;
}

}  // namespace gpufilter
