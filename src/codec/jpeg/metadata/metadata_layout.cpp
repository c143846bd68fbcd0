#include "codec/jpeg/metadata/metadata_layout.hpp"

#include <algorithm>
#include <iterator>

#include "base/format.hpp"
#include "codec/jpeg/library.hpp"

namespace gpufilter {
namespace {

constexpr std::string_view extended_xmp_prefix("http://ns.adobe.com/xmp/extension/\0", 35);
constexpr std::string_view picture_index_prefix("MPF\0", 4);
constexpr std::string_view gain_map_prefix("urn:iso:std:iso:ts:21496:-1\0", 28);
constexpr std::size_t longest_identifier = 32;

std::string_view text_of(const JpegSegment& segment) {
  return {reinterpret_cast<const char*>(segment.data.data()), segment.data.size()};
}

// Of a segment whose content is no member of Metadata: comments, further parts and repetitions.
MetadataKind kind_of(const JpegSegment& segment) {
  const std::string_view text = text_of(segment);
  if (segment.marker == JPEG_COM) return MetadataKind::text;
  if (segment.marker == JPEG_APP0 + 1 && text.starts_with(exif_prefix)) return MetadataKind::exif;
  if (segment.marker == JPEG_APP0 + 1 &&
      (text.starts_with(xmp_prefix) || text.starts_with(extended_xmp_prefix)))
    return MetadataKind::xmp;
  if (segment.marker == JPEG_APP0 + 13 && text.starts_with(resources_prefix))
    return MetadataKind::iptc;
  return MetadataKind::other;
}

}  // namespace

JpegSegmentKind jpeg_segment_kind(int marker, std::string_view segment) {
  switch (marker - JPEG_APP0) {
    case 1:
      if (segment.starts_with(exif_prefix)) return JpegSegmentKind::exif;
      if (segment.starts_with(xmp_prefix)) return JpegSegmentKind::xmp;
      break;
    case 2:
      if (segment.starts_with(icc_prefix)) return JpegSegmentKind::icc_profile;
      break;
    case 13:
      if (segment.starts_with(resources_prefix)) return JpegSegmentKind::image_resources;
      break;
    default:
      break;
  }
  return JpegSegmentKind::other;
}

JpegMetadataLayout kept_part(const JpegMetadataLayout& layout, const MetadataKinds& kinds) {
  const bool keeps_location = kinds.has(MetadataKind::location);
  JpegMetadataLayout result;
  std::copy_if(layout.begin(), layout.end(), std::back_inserter(result),
               [&](const JpegSegment& segment) {
                 if (segment.kind != JpegSegmentKind::other) return true;
                 const MetadataKind kind = kind_of(segment);
                 const bool may_say_place = kind == MetadataKind::exif || kind == MetadataKind::xmp;
                 return kinds.has(kind) && (keeps_location || !may_say_place);
               });
  return result;
}

bool announces_parts(int marker, std::string_view segment) {
  return marker == JPEG_APP0 + 2 &&
         (picture_index(segment) || segment.starts_with(gain_map_prefix));
}

std::optional<std::string_view> picture_index(std::string_view segment) {
  if (!segment.starts_with(picture_index_prefix)) return std::nullopt;
  return segment.substr(picture_index_prefix.size());
}

std::string name_of(const JpegSegment& segment) {
  const std::string_view text = text_of(segment);
  if (segment.marker == JPEG_COM) return "a comment";
  if (text.starts_with(extended_xmp_prefix)) return "extended XMP";
  const auto end = std::find_if(text.begin(), text.end(), [](char c) { return c < 33 || c > 126; });
  const auto length = static_cast<std::size_t>(end - text.begin());
  const std::string marker = formatted("APP{}", segment.marker - JPEG_APP0);
  if (length == 0) return marker;
  return formatted("{} \"{}\"", marker, text.substr(0, std::min(length, longest_identifier)));
}

}  // namespace gpufilter
