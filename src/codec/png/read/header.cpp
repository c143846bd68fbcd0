#include "codec/png/read/header.hpp"

#include <algorithm>
#include <span>
#include <string_view>

#include <isa-l/crc.h>

#include "base/error.hpp"
#include "base/format.hpp"
#include "codec/png/read/chunk.hpp"

namespace gpufilter {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t chunk_at = 8;  // after the signature
constexpr std::size_t data_at = chunk_at + 8;
constexpr std::uint32_t data_size = 13;
constexpr std::uint32_t longest_side = 0x7fffffff;

bool depth_fits(int color_type, int depth) {
  constexpr std::array grey{1, 2, 4, 8, 16};
  constexpr std::array palette{1, 2, 4, 8};
  constexpr std::array others{8, 16};
  const auto among = [depth](const auto& depths) {
    return std::find(depths.begin(), depths.end(), depth) != depths.end();
  };
  switch (color_type) {
    case 0:
      return among(grey);
    case 3:
      return among(palette);
    case 2:
    case 4:
    case 6:
      return among(others);
    default:
      return false;
  }
}

// A palette's colours are RGB.
int channels_of(int color_type) {
  return ((color_type & 2) != 0 ? 3 : 1) + ((color_type & 4) != 0 ? 1 : 0);
}

}  // namespace

PngHeader read_png_header(ByteSource& source) {
  PngHeader header;
  const auto refuse = [&source](const std::string& why) {
    throw PictureError(source.name(), "damaged PNG: " + why);
  };
  if (source.read(header.bytes) < header.bytes.size()) {
    throw PictureError(source.name(), "the file ends too early");
  }
  const std::span<const std::uint8_t> chunk = std::span(header.bytes).subspan(chunk_at);
  const auto type = chunk.subspan(4, 4);
  if (std::equal(type.begin(), type.end(), "CgBI"sv.begin())) {
    throw PictureError(source.name(),
                       "it is a PNG in Apple's own format for iPhones (CgBI): convert it with "
                       "\"pngcrush -revert-iphone-optimizations\"");
  }
  if (!std::equal(type.begin(), type.end(), "IHDR"sv.begin()))
    refuse("IHDR is not the first chunk");
  if (get_u32(chunk) != data_size) refuse("IHDR: invalid length");
  const auto checked = chunk.subspan(4, 4 + data_size);
  if (get_u32(chunk.last(4)) != crc32_gzip_refl(0, checked.data(), checked.size())) {
    refuse("IHDR: CRC error");
  }
  const std::span<const std::uint8_t> data = std::span(header.bytes).subspan(data_at, data_size);
  header.width = get_u32(data);
  header.height = get_u32(data.subspan(4));
  header.depth = data[8];
  header.color_type = data[9];
  header.interlaced = data[12] == 1;
  const auto is_side = [](std::uint32_t side) { return side > 0 && side <= longest_side; };
  if (!is_side(header.width) || !is_side(header.height)) {
    refuse(formatted("IHDR: no picture has {} x {} pixels", header.width, header.height));
  }
  if (!depth_fits(header.color_type, header.depth)) {
    refuse(formatted("IHDR: colour type {} has no samples of {} bits", header.color_type,
                     header.depth));
  }
  header.format = {channels_of(header.color_type), header.depth == 16 ? 16 : 8};
  header.file_pixels = file_pixels({channels_of(header.color_type), header.depth});
  if (header.color_type == 3) header.file_pixels = {"palette", 1, header.depth};
  if (data[10] != 0) refuse("IHDR: unknown compression method");
  if (data[11] != 0) refuse("IHDR: unknown filter method");
  if (data[12] > 1) refuse("IHDR: unknown interlace method");
  return header;
}

}  // namespace gpufilter
