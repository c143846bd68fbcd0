#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>

#include "base/format.hpp"
#include "codec/jpeg/metadata/metadata.hpp"
#include "codec/jpeg/metadata/text_segments.hpp"
#include "image/exif_orientation.hpp"

namespace gpufilter {
namespace {

using namespace std::string_view_literals;

constexpr int app1 = JPEG_APP0 + 1;
constexpr int app13 = JPEG_APP0 + 13;
constexpr std::size_t largest_icc_profile = std::size_t{255} * (largest_jpeg_segment - 14);

std::span<const std::uint8_t> as_bytes(std::string_view text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

class MetadataWriter {
 public:
  MetadataWriter(jpeg_compress_struct& jpeg, JpegErrors& errors, const JpegMetadata& content,
                 LeftOut& left_out)
      : jpeg_(jpeg),
        errors_(errors),
        metadata_(content.metadata),
        format_(content.format),
        has_input_colors_(content.has_input_colors),
        left_out_(left_out) {}

  void write_layout(const JpegMetadataLayout& layout) {
    for (const JpegSegment& segment : layout) {
      if (segment.kind != JpegSegmentKind::other) {
        write_kind(segment.kind);
      } else {
        write_segment(segment.marker, "", segment.data);
      }
    }
  }

  // The metadata that the layout does not contain.
  void write_rest() {
    for (const auto kind : {JpegSegmentKind::exif, JpegSegmentKind::xmp,
                            JpegSegmentKind::icc_profile, JpegSegmentKind::image_resources})
      write_kind(kind);
  }

  // Text that does not come from a JPEG's comments.
  void write_text() {
    const JpegText text = jpeg_text(metadata_.text, !metadata_.xmp.empty());
    if (!text.xmp.empty()) write_segment(app1, xmp_prefix, as_bytes(text.xmp));
    for (const std::string& comment : text.comments)
      write_segment(JPEG_COM, "", as_bytes(comment));
    for (const std::string& name : text.left_out)
      left_out_.add(name);
  }

  void note_colors() { note_color_description(metadata_, has_profile_, left_out_); }

 private:
  // Once.
  void write_kind(JpegSegmentKind kind) {
    if (std::exchange(written_.at(static_cast<std::size_t>(kind)), true)) return;
    switch (kind) {
      case JpegSegmentKind::exif:
        return write_exif();
      case JpegSegmentKind::xmp:
        return write_xmp();
      case JpegSegmentKind::icc_profile:
        return write_profile();
      case JpegSegmentKind::image_resources:
        return write_resources();
      case JpegSegmentKind::other:
        break;
    }
  }

  void write_exif() {
    const Bytes& exif = metadata_.exif;
    if (exif.empty() || write_whole(app1, exif_prefix, exif)) return;
    left_out_.add(formatted("EXIF except its orientation ({} bytes are too many)", exif.size()));
    const Bytes orientation = exif_with_orientation_alone(exif);
    if (!orientation.empty()) write_segment(app1, exif_prefix, orientation);
  }

  void write_xmp() {
    const Bytes& xmp = metadata_.xmp;
    if (xmp.empty() || write_whole(app1, xmp_prefix, xmp)) return;
    left_out_.add(formatted("XMP ({} bytes are too many)", xmp.size()));
  }

  void write_profile() {
    const IccProfile* profile = profile_of_picture();
    if (profile == nullptr) return;
    const JOCTET* data = profile->data.data();
    const std::size_t size = profile->data.size();
    if (size > largest_icc_profile) {
      return left_out_.add(formatted("the ICC profile ({} bytes are too many)", size));
    }
    errors_.run([&] { jpeg_write_icc_profile(&jpeg_, data, static_cast<unsigned>(size)); });
    has_profile_ = true;
  }

  [[nodiscard]] const IccProfile* profile_of_picture() const {
    if (!has_input_colors_) return profile_for(format_, metadata_, left_out_);
    return metadata_.icc_profile ? &*metadata_.icc_profile : nullptr;
  }

  // In as many segments as they need: readers join them.
  void write_resources() {
    constexpr std::size_t longest = largest_jpeg_segment - resources_prefix.size();
    for (std::span<const std::uint8_t> rest = metadata_.image_resources; !rest.empty();) {
      const auto part = rest.first(std::min(rest.size(), longest));
      write_segment(app13, resources_prefix, part);
      rest = rest.subspan(part.size());
    }
  }

  // False if it does not fit a segment.
  bool write_whole(int marker, std::string_view prefix, std::span<const std::uint8_t> content) {
    if (prefix.size() + content.size() > largest_jpeg_segment) return false;
    write_segment(marker, prefix, content);
    return true;
  }

  void write_segment(int marker, std::string_view prefix, std::span<const std::uint8_t> content) {
    Bytes segment(prefix.begin(), prefix.end());
    segment.insert(segment.end(), content.begin(), content.end());
    const JOCTET* data = segment.data();
    const auto length = static_cast<unsigned>(segment.size());
    errors_.run([&] { jpeg_write_marker(&jpeg_, marker, data, length); });
  }

  jpeg_compress_struct& jpeg_;
  JpegErrors& errors_;
  const Metadata& metadata_;
  PixelFormat format_;
  bool has_input_colors_;
  LeftOut& left_out_;
  std::array<bool, 4> written_{};  // by kind
  bool has_profile_ = false;
};

}  // namespace

void write_jpeg_metadata(jpeg_compress_struct& jpeg, JpegErrors& errors,
                         const JpegMetadata& content, LeftOut& left_out) {
  MetadataWriter writer(jpeg, errors, content, left_out);
  if (content.layout != nullptr) writer.write_layout(*content.layout);
  writer.write_rest();
  if (content.layout == nullptr) writer.write_text();
  writer.note_colors();
}

}  // namespace gpufilter
