// The content of a HEIC or AVIF file (ISO/IEC 23008-12): pictures, their parts, and metadata; and
// how the shown picture is composed of them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_cursor.hpp"
#include "codec/read_limits.hpp"
#include "image/metadata.hpp"
#include "image/placement.hpp"
#include "image/rows.hpp"

namespace gpufilter {

struct Box {
  std::string_view type;
  ByteSpan content;
};

[[nodiscard]] std::vector<Box> boxes_in(ByteSpan bytes);

// The content of the first box of a type; empty if there is none.
[[nodiscard]] ByteSpan content_of(const std::vector<Box>& boxes, std::string_view type);

// The content of "full" boxes begins with a version and flags.
struct FullBox {
  explicit FullBox(ByteSpan content)
      : cursor(content),
        version(static_cast<unsigned>(cursor.number(1))),
        flags(static_cast<unsigned>(cursor.number(3))) {}
  ByteCursor cursor;
  unsigned version;
  unsigned flags;
};

using HeifItemId = std::uint32_t;

struct HeifItem {
  std::string_view type;          // "hvc1", "av01", "grid", "iovl", "iden", "Exif", "mime"
  std::string_view content_type;  // of "mime"
  bool is_hidden = false;
  std::vector<Box> properties;             // in the order in which they apply
  std::vector<HeifItemId> parts;           // that a derived picture is made of ("dimg")
  std::vector<HeifItemId> described;       // what metadata belongs to ("cdsc")
  std::optional<HeifItemId> auxiliary_to;  // the picture of an alpha, a depth map ("auxl")
  std::optional<HeifItemId> thumbnail_of;  // ("thmb")
  std::optional<HeifItemId> alpha;         // the picture that holds its alpha
  bool is_premultiplied = false;           // by its alpha
  bool is_external = false;                // its data is in another file
  std::uint64_t construction = 0;          // where its data is: 0 the file, 1 "idat"
  std::vector<std::pair<std::uint64_t, std::uint64_t>> extents;  // position and length; 0: the rest

  // The content of its first property of that type; empty if there is none.
  [[nodiscard]] ByteSpan property(std::string_view wanted) const {
    return content_of(properties, wanted);
  }
  // The decoder configuration of a coded picture.
  [[nodiscard]] ByteSpan configuration() const {
    return property(type == "av01" ? "av1C" : "hvcC");
  }
  // Whether it is a picture that can be decoded, or made of some.
  [[nodiscard]] bool is_coded() const { return type == "hvc1" || type == "av01"; }
  [[nodiscard]] bool is_derived() const {
    return type == "grid" || type == "iovl" || type == "iden";
  }
};

// Views of a file, which has to outlive them.
struct HeifItems {
  ByteSpan file;
  ByteSpan idat;
  HeifItemId primary = 0;
  std::map<HeifItemId, HeifItem> items;

  [[nodiscard]] const HeifItem* find(HeifItemId id) const {
    const auto found = items.find(id);
    return found == items.end() ? nullptr : &found->second;
  }
  // The data of an item; empty if it has none within the file, or more than the file is long.
  [[nodiscard]] Bytes data(const HeifItem& item) const;
};

// Takes time proportional to the length of the file, whatever it holds. Damaged items are left out.
[[nodiscard]] HeifItems heif_items(ByteSpan file);

// By names for the user: "2 more pictures", "a gain map", "a sequence of 24 frames", "a film".
// Thumbnails, alpha and the parts of pictures do not count.
[[nodiscard]] std::vector<std::string> heif_contents(const HeifItems& items);

// The headers of a picture's bit stream. The decoder follows these rather than the boxes.
struct CodedHeader {
  ImageSize size;
  int depth = 8;
  bool is_grey = false;
  // AV1's of 0 to 255, HEVC's of 0 to 51; nothing if the headers are of a rare kind.
  std::optional<int> quantiser;
  bool may_be_lossless = false;  // as far as the samples of the stream are concerned
};

// From a decoder's configuration ("av1C", "hvcC") and the picture's data. Nothing if neither has
// the headers.
[[nodiscard]] std::optional<CodedHeader> av1_header(ByteSpan configuration, ByteSpan data);
[[nodiscard]] std::optional<CodedHeader> hevc_header(ByteSpan configuration, ByteSpan data);

struct HeifPicture;
using HeifPicturePointer = std::shared_ptr<const HeifPicture>;

struct HeifPicture {
  const HeifItem* item = nullptr;
  ImageSize stored;     // as it is decoded or put together
  Placement placement;  // of the picture in that
  int depth = 8;        // the largest of its parts
  bool is_grey = false;
  bool has_alpha = false;
  std::uint64_t pictures = 1;      // that are decoded or put together for it
  std::uint64_t largest = 0;       // pixels of one of those
  std::uint64_t coded_pixels = 0;  // that are decoded for it
  HeifPicturePointer alpha;
  // The header of a coded picture.
  CodedHeader header;
  // The parts of a derived picture, the position of each, and the background of an overlay, in
  // 16-bit samples.
  std::vector<HeifPicturePointer> parts;
  std::vector<PixelPosition> positions;
  std::array<std::uint16_t, 3> ground{};

  [[nodiscard]] ImageSize size() const { return placement.result_size(); }
};

// The primary picture. All of its parts are there, none contains itself, and it has at most 65,536
// of them. Throws PictureError; `format` is the file's in messages, `name` its name.
[[nodiscard]] HeifPicturePointer heif_picture(const HeifItems& items, const std::string& name,
                                              const std::string& format, const ReadLimits& limits);

// The content of the "colr" box that has code points; empty if there is none.
[[nodiscard]] ByteSpan code_points_of(const HeifItem& item);

}  // namespace gpufilter
