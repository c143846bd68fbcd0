#include <array>
#include <cstdint>
#include <string_view>

#include "base/error.hpp"
#include "codec/png/codec.hpp"
#include "codec/png/metadata/ancillary.hpp"
#include "codec/png/metadata/metadata.hpp"
#include "codec/png/read/chunk.hpp"

namespace gpufilter {
namespace {

// Reads the ancillary chunks between the pixels and the end.
void read_late_chunks(ByteSource& source, PngAncillary& ancillary) {
  constexpr std::uint64_t signature_bytes = 8;
  constexpr std::uint64_t checksum_bytes = 4;
  source.skip(signature_bytes);
  std::array<std::uint8_t, 8> head{};  // length and type
  bool after_pixels = false;
  while (source.read(head) == head.size()) {
    const std::string_view type(reinterpret_cast<const char*>(head.data()) + 4, 4);
    const std::uint32_t length = get_u32(head);
    if (type == "IEND") return;
    after_pixels = after_pixels || type == "IDAT";
    if (after_pixels && is_ancillary(type)) {
      ancillary.read(type, length, source);
    } else {
      source.skip(length + checksum_bytes);
    }
  }
}

}  // namespace

Metadata read_late_png_metadata(ByteSource& source) {
  PngAncillary ancillary;
  try {
    read_late_chunks(source, ancillary);
  } catch (const PictureError&) {
    // The reader of the whole picture reports the error.
  }
  return metadata_from_chunks(ancillary.take_chunks(), PngPlace::after_pixels, source.name(),
                              ancillary.skipped());
}

}  // namespace gpufilter
