// Metadata in TIFF's tags, and what else a new file keeps from the one that was read.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "codec/codec.hpp"
#include "codec/tiff/directory.hpp"
#include "codec/tiff/library.hpp"
#include "codec/unread.hpp"
#include "image/metadata.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

class TiffSettings final : public StoredSettings {
 public:
  TiffSettings(std::uint16_t compression, TiffTags tags)
      : compression_(compression), tags_(std::move(tags)) {}

  // libtiff's number.
  [[nodiscard]] std::uint16_t compression() const { return compression_; }
  // Tags that may be about places in the picture.
  [[nodiscard]] const TiffTags& tags() const { return tags_; }

  [[nodiscard]] std::vector<std::string> private_metadata() const override {
    return names_of(tags_);
  }

 private:
  std::uint16_t compression_;
  TiffTags tags_;
};

// ICC profile, XMP, IPTC, density, and as EXIF: orientation, descriptions and EXIF's own
// directories.
[[nodiscard]] Metadata read_tiff_metadata(const TiffFile& file, const TiffContent& content);

// Sets the tags that say `metadata` about a picture of `format`. EXIF's own directories are written
// by `append`, which returns the offset of the bytes it was given. `order` is the file's
// byte order, and has to be that of the EXIF. What TIFF cannot hold is added to `left_out`.
struct TiffAppend {
  ByteOrder order = ByteOrder::little;
  std::function<std::uint32_t()> end;             // an even offset; of a classic file
  std::function<void(const Bytes& bytes)> write;  // at end()
};
void write_tiff_metadata(TiffFile& file, const Metadata& metadata, const PixelFormat& format,
                         const TiffAppend& append, LeftOut& left_out);

}  // namespace gpufilter
