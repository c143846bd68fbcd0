// Which segments of metadata a JPEG has and in which order, so that a new JPEG can have the same.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "image/metadata.hpp"

namespace gpufilter {

inline constexpr std::size_t largest_jpeg_segment = 65533;  // bytes, without its length

// The first bytes of APP1, APP2 and APP13 segments.
inline constexpr std::string_view exif_prefix("Exif\0\0", 6);
inline constexpr std::string_view xmp_prefix("http://ns.adobe.com/xap/1.0/\0", 29);
inline constexpr std::string_view icc_prefix("ICC_PROFILE\0", 12);
inline constexpr std::string_view resources_prefix("Photoshop 3.0\0", 14);

// The kinds whose content is a member of Metadata, and all others. A file may have several segments
// of each kind. The parts of a profile belong together, and those of image resources.
enum class JpegSegmentKind { exif, xmp, icc_profile, image_resources, other };

// `segment` does not include its length.
[[nodiscard]] JpegSegmentKind jpeg_segment_kind(int marker, std::string_view segment);

struct JpegSegment {
  JpegSegmentKind kind = JpegSegmentKind::other;
  int marker = 0;
  Bytes data;  // only of `other`: for the rest this is a place in the order
};

// In the order of the file, each kind but `other` at most once.
using JpegMetadataLayout = std::vector<JpegSegment>;

// The segments of these kinds, and the places of others. Without the location, further EXIF and XMP
// go as a whole: it may be in there.
[[nodiscard]] JpegMetadataLayout kept_part(const JpegMetadataLayout& layout,
                                           const MetadataKinds& kinds);

// Whether it lists the offsets of other pictures in the file, which follow the first one and are
// not kept (CIPA DC-007, Multi-Picture Format).
[[nodiscard]] bool is_picture_index(const JpegSegment& segment);

// For messages: "APP4 \"Meta\"", "extended XMP".
[[nodiscard]] std::string name_of(const JpegSegment& segment);

}  // namespace gpufilter
