#include <algorithm>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "codec/exif_and_xmp.hpp"
#include "codec/fidelity.hpp"
#include "codec/heif/codec.hpp"
#include "codec/heif/color.hpp"
#include "codec/heif/contents.hpp"
#include "codec/heif/decoder.hpp"
#include "codec/heif/quality.hpp"
#include "codec/heif/tree.hpp"
#include "codec/whole_picture_reader.hpp"
#include "image/exif_orientation.hpp"
#include "image/exif_parts.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t max_block_bytes = std::size_t{16} << 20U;  // of metadata
constexpr const char* remedy = "make it smaller";

// A file of either format may call itself "mif1".
const Codec& codec_of(ByteSpan file) {
  const auto boxes = boxes_in(file.first(std::min<std::size_t>(file.size(), 1024)));
  ByteCursor brands(content_of(boxes, "ftyp"));
  while (!brands.rest().empty()) {
    const ByteSpan brand = brands.take(4);
    if (std::string_view(reinterpret_cast<const char*>(brand.data()), brand.size()) == "avif")
      return avif_codec();
  }
  return heic_codec();
}

class HeifReader final : public WholePictureReader {
 public:
  HeifReader(std::unique_ptr<ByteSource> source, const ReadLimits& limits)
      : name_(source->name()),
        file_(whole_file(*source, 0, limits, "a HEIC or AVIF", remedy)),
        items_(heif_items(file_)),
        codec_(codec_of(file_)),
        limits_(limits),
        picture_(heif_picture(items_, name_, codec_.name, limits_)) {
    header_.file_format = &codec_;
    read_header();
    read_metadata();
    header_.unread = heif_contents(items_);
    header_.stored =
        std::make_shared<StoredFidelity>(is_lossless_heif(*picture_), heif_quality(*picture_));
  }

 private:
  void read_header() {
    header_.size = picture_->size();
    header_.format = {(picture_->is_grey ? 1 : 3) + (picture_->has_alpha ? 1 : 0),
                      picture_->depth > 8 ? 16 : 8};
    check_size(name_, static_cast<std::uint64_t>(header_.size.width),
               static_cast<std::uint64_t>(header_.size.height), header_.format, limits_);
    header_.file_pixels = file_pixels(header_.format);
    header_.file_pixels.depth = picture_->depth;
    // libheif has planes and interleaved pixels, and there may be a copy that is turned.
    constexpr std::uint64_t copies = 4;
    const std::uint64_t channels = header_.format.has_alpha() ? 4 : 3;
    check_memory(
        name_,
        file_.size() + copies * picture_->largest * channels * header_.format.bytes_per_sample(),
        limits_, "a " + codec_.name, remedy);
  }

  void read_metadata() {
    Metadata& metadata = header_.metadata;
    read_heif_colors(*picture_, metadata);
    metadata.exif = exif_from_box(block("Exif", ""));
    metadata.xmp = block("mime", "application/rdf+xml");
    remove_exif_thumbnail(metadata.exif);
    set_orientation(metadata, 1);
  }

  // The first one of its kind that belongs to the picture.
  [[nodiscard]] Bytes block(std::string_view type, std::string_view content_type) const {
    for (const auto& [id, item] : items_.items) {
      const auto& described = item.described;
      if (item.type != type || item.content_type != content_type ||
          std::find(described.begin(), described.end(), items_.primary) == described.end())
        continue;
      Bytes bytes = items_.data(item);
      return bytes.size() > max_block_bytes ? Bytes() : std::move(bytes);
    }
    return {};
  }

  Image decode() override {
    return HeifDecoder(items_, name_, codec_.name, limits_).decode(*picture_, header_.format);
  }

  std::string name_;
  Bytes file_;
  HeifItems items_;
  const Codec& codec_;
  ReadLimits limits_;
  HeifPicturePointer picture_;
};

}  // namespace

std::unique_ptr<RowReader> open_heif(std::unique_ptr<ByteSource> source, const ReadLimits& limits) {
  return std::make_unique<HeifReader>(std::move(source), limits);
}

}  // namespace gpufilter
