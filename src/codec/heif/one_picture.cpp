#include "codec/heif/one_picture.hpp"

#include <cstddef>
#include <cstdint>
#include <initializer_list>

namespace gpufilter {
namespace {

void append(Bytes& bytes, std::uint64_t value, unsigned size) {
  for (; size > 0; --size)
    bytes.push_back(static_cast<std::uint8_t>(value >> 8U * (size - 1)));
}

void append(Bytes& bytes, std::string_view text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
}

Bytes box_of(std::string_view type, ByteSpan content) {
  Bytes bytes;
  append(bytes, content.size() + 8, 4);
  append(bytes, type);
  bytes.insert(bytes.end(), content.begin(), content.end());
  return bytes;
}

Bytes joined(std::initializer_list<Bytes> parts) {
  Bytes all;
  for (const Bytes& part : parts)
    all.insert(all.end(), part.begin(), part.end());
  return all;
}

// A version and flags of 0, and numbers of 2 bytes.
Bytes full(std::initializer_list<unsigned> numbers) {
  Bytes bytes(4, 0);
  for (const unsigned number : numbers)
    append(bytes, number, 2);
  return bytes;
}

Bytes type_box(bool is_av1) {
  Bytes content;
  append(content, is_av1 ? "avif" : "heic");
  append(content, 0, 4);
  append(content, is_av1 ? "mif1avif" : "mif1heic");
  return box_of("ftyp", content);
}

Bytes handler_box() {
  Bytes content(8, 0);
  append(content, "pict");
  content.resize(25, 0);
  return box_of("hdlr", content);
}

Bytes info_box(std::string_view type) {
  Bytes entry(4, 0);
  entry[0] = 2;  // the version
  append(entry, 1, 2);
  append(entry, 0, 2);
  append(entry, type);
  append(entry, 0, 1);
  return box_of("iinf", joined({full({1}), box_of("infe", entry)}));
}

Bytes location_box(std::size_t position, std::size_t size) {
  Bytes content = full({0x4400, 1, 1, 0, 1});
  append(content, position, 4);
  append(content, size, 4);
  return box_of("iloc", content);
}

Bytes property_boxes(const OnePicture& picture) {
  Bytes size(4, 0);
  append(size, static_cast<unsigned>(picture.size.width), 4);
  append(size, static_cast<unsigned>(picture.size.height), 4);
  const bool has_colors = !picture.colors.empty();
  const Bytes properties =
      joined({box_of(picture.type == "av01" ? "av1C" : "hvcC", picture.configuration),
              box_of("ispe", size), has_colors ? box_of("colr", picture.colors) : Bytes()});
  Bytes associations(4, 0);
  append(associations, 1, 4);
  append(associations, 1, 2);
  append(associations, has_colors ? 3 : 2, 1);
  associations.push_back(0x81);  // the decoder cannot do without it
  associations.push_back(2);
  if (has_colors) associations.push_back(3);
  return box_of("iprp", joined({box_of("ipco", properties), box_of("ipma", associations)}));
}

}  // namespace

Bytes file_of(const OnePicture& picture) {
  constexpr std::size_t header_size = 8;
  const Bytes type = type_box(picture.type == "av01");
  const auto meta = [&](std::size_t position) {
    return box_of("meta", joined({full({}), handler_box(), box_of("pitm", full({1})),
                                  location_box(position, picture.data.size()),
                                  info_box(picture.type), property_boxes(picture)}));
  };
  const std::size_t position = type.size() + meta(0).size() + header_size;
  return joined({type, meta(position), box_of("mdat", picture.data)});
}

}  // namespace gpufilter
