// Metadata in JPEG's marker segments.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "codec/jpeg/library.hpp"
#include "codec/jpeg/read/decompressor.hpp"
#include "codec/unread.hpp"
#include "image/exif.hpp"
#include "image/metadata.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

// The keyword of a JPEG's comments.
inline constexpr std::string_view comment_keyword = "Comment";

inline constexpr std::size_t largest_jpeg_segment = 65533;  // bytes, without its length

// The first bytes of APP2 and APP13 segments; for APP1 see image/exif.hpp.
inline constexpr std::string_view icc_prefix("ICC_PROFILE\0", 12);
inline constexpr std::string_view resources_prefix("Photoshop 3.0\0", 14);

// The kinds whose content is a member of Metadata, and all others. A file may have several segments
// of each kind. The segments of a profile are joined, and so are those of image resources.
enum class JpegSegmentKind { exif, xmp, icc_profile, image_resources, other };

// A segment's content, whose bytes are compared and stored as characters.
[[nodiscard]] inline std::string_view text_of(const jpeg_marker_struct& marker) {
  return {reinterpret_cast<const char*>(marker.data), marker.data_length};
}

// `segment` does not include its length.
[[nodiscard]] JpegSegmentKind jpeg_segment_kind(int marker, std::string_view segment);

struct JpegSegment {
  JpegSegmentKind kind = JpegSegmentKind::other;
  int marker = 0;
  Bytes data;  // only for `other`; other kinds only mark their position
};

// In the order of the file, each kind but `other` at most once.
using JpegMetadataLayout = std::vector<JpegSegment>;

// The segments of these kinds, and the positions of others. If the location is removed, additional
// EXIF and XMP segments are dropped: they may contain it.
[[nodiscard]] JpegMetadataLayout kept_part(const JpegMetadataLayout& layout,
                                           const MetadataKinds& kinds);

// Whether a segment announces data behind the picture, which written files do not have: an index of
// pictures (CIPA DC-007, Multi-Picture Format) or a gain map (ISO 21496-1).
[[nodiscard]] bool announces_parts(int marker, std::string_view segment);
// The index of such parts, a TIFF structure; nothing if `segment` is none.
[[nodiscard]] std::optional<std::string_view> picture_index(std::string_view segment);

// For messages: "APP4 \"Meta\"", "extended XMP".
[[nodiscard]] std::string name_of(const JpegSegment& segment);

// ICC profile, EXIF, XMP, image resources with IPTC, density and comments, after the header was
// read. Adds a line to `warnings` if some of it is damaged or there is too much.
[[nodiscard]] Metadata read_jpeg_metadata(Decompressor& jpeg, JpegErrors& errors,
                                          std::vector<std::string>& warnings);

// The order of all that, and the segments that only JPEG has.
[[nodiscard]] JpegMetadataLayout read_jpeg_metadata_layout(const jpeg_decompress_struct& jpeg);

// Sets the density in the JFIF segment. Call before jpeg_start_compress(). Adds it to `left_out` if
// JPEG cannot hold it, as the next function does with all the rest.
void set_jpeg_density(jpeg_compress_struct& jpeg, const Metadata& metadata, LeftOut& left_out);

// The content of the segments of a picture of `format`.
struct JpegMetadata {
  const Metadata& metadata;
  PixelFormat format;
  const JpegMetadataLayout* layout;  // of the input; nullptr if that is not a JPEG
  bool has_input_colors = false;     // so that the profile describes them in any case
};

// Call after jpeg_start_compress() or jpeg_write_coefficients(), before anything else is written.
void write_jpeg_metadata(jpeg_compress_struct& jpeg, JpegErrors& errors,
                         const JpegMetadata& content, LeftOut& left_out);

}  // namespace gpufilter
