// Pictures of any format in memory.
#pragma once

#include "codec/codec_table.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {

// This option alone.
[[nodiscard]] inline WriteOptions with_option(const WriteOption& option, std::string_view value) {
  return WriteOptions().set(option, value);
}

struct Encoded {
  Bytes file;
  std::vector<std::string> left_out;
};

// `image` in the format of `codec`, written `rows_a_time`.
[[nodiscard]] Encoded encode(const Codec& codec, const Image& image,
                             const WriteOptions& options = {}, const Metadata& metadata = {},
                             int rows_a_time = 1 << 20);

// `image` written as if it had been read from `input`.
[[nodiscard]] Bytes rewritten(const Codec& codec, const Bytes& input, const Image& image,
                              const WriteOptions& options = {});

struct Decoded {
  PictureHeader header;  // without what StoredSettings refer to
  Image image;
};

// A file called "in", read `rows_a_time`. Throws what the codec throws.
[[nodiscard]] Decoded decode(const Bytes& file, const ReadLimits& limits = {},
                             int rows_a_time = 1 << 20);

// EXIF with this orientation, XMP, IPTC, a density and a profile for RGB.
[[nodiscard]] Metadata metadata_of_every_kind(std::uint8_t orientation);

// Why the file is refused; empty if it is read.
[[nodiscard]] std::string why_refused(const Bytes& file, const ReadLimits& limits = {});

}  // namespace gpufilter::test
