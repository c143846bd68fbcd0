// Metadata in TIFF's tags, and other fields that a new file keeps from its input; and directories
// of TIFF files and of EXIF, which has the same structure, to read EXIF from a TIFF and to write it
// into one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/byte_cursor.hpp"
#include "codec/codec.hpp"
#include "codec/tiff/library.hpp"
#include "codec/unread.hpp"
#include "image/metadata.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

struct TiffField {
  std::uint16_t tag = 0;
  std::uint16_t type = 0;
  std::uint32_t count = 0;
  Bytes value;  // in the byte order of the file
};

using TiffFields = std::vector<TiffField>;

// The fields of a file that describe its first picture.
struct TiffContent {
  ByteOrder order = ByteOrder::little;
  TiffFields first;
  TiffFields exif;
  TiffFields gps;

  // The first directory's field; nullptr if there is none.
  [[nodiscard]] const TiffField* find(std::uint16_t tag) const;
};

// Reads classic and big files, and EXIF. Skips values of more than 16 MiB, of unknown types or
// outside the file, and everything if there is no header.
[[nodiscard]] TiffContent read_tiff_content(const Tiff& tiff);

// The value of a field with one whole number; nothing for other fields.
[[nodiscard]] std::optional<std::uint64_t> number_in(const TiffField& field, ByteOrder order);

// A directory of `fields` with their values, for the position `offset` of a classic file.
[[nodiscard]] Bytes directory_bytes(TiffFields fields, std::uint32_t offset, ByteOrder order);

// Adds the `fields`, in the byte order of the file, that its first directory lacks. The file is
// complete and ends at `end`, to which the directory moves.
void add_fields(const TiffFields& fields, const TiffReadAt& read, const TiffWriteAt& write,
                std::uint64_t end);

// Turns the value into the other byte order.
void swap_bytes(TiffField& field);

// The fields of `content` that describe the picture, as EXIF; empty if there are none.
[[nodiscard]] Bytes exif_of(const TiffContent& content);

// Whether the first directory of EXIF and of a TIFF file may have it, and it describes the picture
// but not its pixels: Artist, Orientation, ...
[[nodiscard]] bool is_description(std::uint16_t tag);

struct TiffTags {
  TiffFields fields;  // their values in this byte order
  ByteOrder order = ByteOrder::little;
};

// The foreign tags of the first directory. Tags that say how pixels or pages are stored, or that
// become metadata, are none of them.
[[nodiscard]] TiffTags foreign_tags(const TiffContent& content);

// For messages: "GeoTIFF", "PageName", "tag 65000". Each name once.
[[nodiscard]] std::vector<std::string> names_of(const TiffTags& tags);

class TiffSettings final : public StoredSettings {
 public:
  TiffSettings(std::uint16_t compression, TiffTags tags)
      : compression_(compression), tags_(std::move(tags)) {}

  // libtiff's number.
  [[nodiscard]] std::uint16_t compression() const { return compression_; }
  // Tags that may refer to positions in the picture.
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

// Sets the tags for `metadata` of a picture of `format`. `append` writes EXIF's own directories and
// returns their offset. `order` is the file's byte order, and has to be that of the EXIF. Metadata
// that TIFF cannot hold are added to `left_out`.
struct TiffAppend {
  ByteOrder order = ByteOrder::little;
  std::function<std::uint32_t()> end;             // an even offset; of a classic file
  std::function<void(const Bytes& bytes)> write;  // at end()
};
void write_tiff_metadata(TiffFile& file, const Metadata& metadata, const PixelFormat& format,
                         const TiffAppend& append, LeftOut& left_out);

}  // namespace gpufilter
