#include "codec/heif/corrected_boxes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "codec/heif/items.hpp"
#include "codec/heif/tree.hpp"

namespace gpufilter {
namespace {

void store(std::uint64_t value, std::size_t size, std::uint8_t* to) {
  for (std::size_t i = 0; i < size; ++i)
    to[i] = static_cast<std::uint8_t>(value >> 8U * (size - 1 - i));
}

// The bytes of `file` that `view` shows.
std::uint8_t* bytes_of(Bytes& file, ByteSpan view) {
  return file.data() + (view.data() - file.data());
}

void correct_size(const HeifPicture& picture, Bytes& file) {
  constexpr std::size_t numbers_at = 4;
  const ByteSpan size = picture.item->property("ispe");
  if (size.size() >= numbers_at + 8) {
    std::uint8_t* numbers = bytes_of(file, size.subspan(numbers_at));
    store(static_cast<unsigned>(picture.stored.width), 4, numbers);
    store(static_cast<unsigned>(picture.stored.height), 4, numbers + 4);
  }
  if (picture.alpha) correct_size(*picture.alpha, file);
  for (const HeifPicturePointer& part : picture.parts)
    correct_size(*part, file);
}

void correct_order(Bytes& file) {
  const auto meta = boxes_in(FullBox(content_of(boxes_in(file), "meta")).cursor.rest());
  const auto iprp = boxes_in(content_of(meta, "iprp"));
  const auto properties = boxes_in(content_of(iprp, "ipco"));
  FullBox ipma(content_of(iprp, "ipma"));
  const std::size_t size = (ipma.flags & 1U) != 0 ? 2 : 1;
  const std::uint64_t mask = size == 2 ? 0x7FFF : 0x7F;
  const auto describes = [&](std::uint64_t association) {
    const std::uint64_t number = association & mask;
    if (number == 0 || number > properties.size()) return true;
    const std::string_view type = properties[static_cast<std::size_t>(number) - 1].type;
    return type != "clap" && type != "irot" && type != "imir";
  };
  for (auto left = ipma.cursor.number(4); left > 0; --left) {
    ipma.cursor.number(ipma.version == 0 ? 2 : 4);
    const auto count = static_cast<std::size_t>(ipma.cursor.number(1));
    const ByteSpan place = ipma.cursor.take(count * size);
    ByteCursor cursor(place);
    std::vector<std::uint64_t> associations(count);
    for (std::uint64_t& association : associations)
      association = cursor.number(size);
    std::stable_partition(associations.begin(), associations.end(), describes);
    for (std::size_t i = 0; i < place.size() / size; ++i)
      store(associations[i], size, bytes_of(file, place) + i * size);
  }
}

}  // namespace

void correct_heif_boxes(Bytes& file, const std::string& name, const std::string& format) {
  const HeifItems items = heif_items(file);
  const ReadLimits none{.max_pixels = std::numeric_limits<std::uint64_t>::max()};
  correct_size(*heif_picture(items, name, format, none), file);
  correct_order(file);
}

}  // namespace gpufilter
