// What a JPEG file holds behind its picture: the other pictures of a Multi-Picture file (CIPA
// DC-007), a gain map, a film.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codec/byte_source.hpp"
#include "codec/jpeg/library.hpp"
#include "codec/unread.hpp"
#include "image/metadata.hpp"

namespace gpufilter {

// What the segments before the pixels say of them.
struct AnnouncedParts {
  bool any = false;
  bool gain_map = false;
  bool depth_map = false;
  std::optional<int> pictures;  // besides the first, previews left out; nothing: no index
};

// After the header was read. Removes from `xmp` what announces such parts, because no picture that
// is written has them.
[[nodiscard]] AnnouncedParts announced_parts(const jpeg_decompress_struct& jpeg, Bytes& xmp);

// Whether the file may have something behind its picture: it does not end as a JPEG does. The
// source has a size().
[[nodiscard]] bool may_hold_more(ByteSource& source);

// Where the picture ends whose first scan's data begin at `scan`, behind the end marker; nothing if
// it has none.
[[nodiscard]] std::optional<std::uint64_t> end_of_jpeg(ByteSource& source, std::uint64_t scan);

// The bytes from `begin` to the end of the file. Both sources have a size().
[[nodiscard]] BytesBehind bytes_from(ByteSource& source, std::uint64_t begin);

// For PictureHeader::unread: "a gain map", "2 more pictures", "a film".
[[nodiscard]] std::vector<std::string> names_of_parts(const AnnouncedParts& announced,
                                                      const BytesBehind& behind);

}  // namespace gpufilter
