#include "support/heif_sketch.hpp"

namespace gpufilter::test {
namespace {

void put(Bytes& bytes, std::uint64_t value, unsigned size) {
  for (; size > 0; --size)
    bytes.push_back(static_cast<std::uint8_t>(value >> 8U * (size - 1)));
}

void put(Bytes& bytes, const std::string& text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
}

void put(Bytes& bytes, const Bytes& more) {
  bytes.insert(bytes.end(), more.begin(), more.end());
}

Bytes infos(const std::vector<SketchedItem>& items) {
  Bytes content(4, 0);
  put(content, items.size(), 2);
  for (const SketchedItem& item : items) {
    Bytes entry{2, 0, 0, static_cast<std::uint8_t>(item.is_hidden ? 1 : 0)};
    put(entry, item.id, 2);
    put(entry, 0, 2);
    put(entry, item.type);
    put(entry, 0, 1);
    put(entry, item.content_type);
    put(entry, 0, 1);
    put(content, box("infe", entry));
  }
  return box("iinf", content);
}

Bytes locations(const std::vector<SketchedItem>& items, std::size_t begin) {
  Bytes content(4, 0);
  put(content, 0x4400, 2);
  put(content, items.size(), 2);
  for (const SketchedItem& item : items) {
    put(content, item.id, 2);
    put(content, 0, 2);
    put(content, 1, 2);
    put(content, begin, 4);
    put(content, item.data.size(), 4);
    begin += item.data.size();
  }
  return box("iloc", content);
}

Bytes properties_of(const std::vector<SketchedItem>& items) {
  Bytes properties;
  Bytes associations{0, 0, 0, 1};
  put(associations, items.size(), 4);
  std::size_t number = 0;
  for (const SketchedItem& item : items) {
    put(associations, item.id, 2);
    put(associations, item.properties.size(), 1);
    for (const auto& [type, content] : item.properties) {
      put(properties, box(type, content));
      put(associations, ++number, 2);
    }
  }
  Bytes both = box("ipco", properties);
  put(both, box("ipma", associations));
  return box("iprp", both);
}

Bytes references_of(const std::vector<SketchedReference>& references) {
  Bytes content(4, 0);
  for (const SketchedReference& reference : references) {
    Bytes one;
    put(one, reference.from, 2);
    put(one, reference.to.size(), 2);
    for (const std::uint16_t to : reference.to)
      put(one, to, 2);
    put(content, box(reference.type, one));
  }
  return box("iref", content);
}

}  // namespace

Bytes box(const std::string& type, const Bytes& content) {
  Bytes bytes;
  put(bytes, content.size() + 8, 4);
  put(bytes, type);
  put(bytes, content);
  return bytes;
}

Bytes heif_file(const std::string& brand, std::uint16_t primary,
                const std::vector<SketchedItem>& items,
                const std::vector<SketchedReference>& references) {
  Bytes brands;
  put(brands, brand);
  put(brands, 0, 4);
  put(brands, "mif1" + brand);
  const Bytes type = box("ftyp", brands);
  const auto meta = [&](std::size_t begin) {
    Bytes content(4, 0);
    Bytes handler(8, 0);
    put(handler, "pict");
    put(handler, Bytes(13, 0));
    put(content, box("hdlr", handler));
    Bytes item(4, 0);
    put(item, primary, 2);
    put(content, box("pitm", item));
    put(content, locations(items, begin));
    put(content, infos(items));
    if (!references.empty()) put(content, references_of(references));
    put(content, properties_of(items));
    return box("meta", content);
  };
  Bytes file = type;
  put(file, meta(type.size() + meta(0).size() + 8));
  Bytes data;
  for (const SketchedItem& item : items)
    put(data, item.data);
  put(file, box("mdat", data));
  return file;
}

SketchedItem grid_item(std::uint16_t id, int rows, int columns, int width, int height) {
  SketchedItem grid{id, "grid", {0, 0}};
  put(grid.data, static_cast<unsigned>(rows - 1), 1);
  put(grid.data, static_cast<unsigned>(columns - 1), 1);
  put(grid.data, static_cast<unsigned>(width), 2);
  put(grid.data, static_cast<unsigned>(height), 2);
  return grid;
}

SketchedItem overlay_item(std::uint16_t id, const std::vector<std::uint16_t>& ground, int width,
                          int height, const std::vector<std::pair<int, int>>& places) {
  SketchedItem overlay{id, "iovl", {0, 0}};
  for (const std::uint16_t sample : ground)
    put(overlay.data, sample, 2);
  put(overlay.data, 65535, 2);
  put(overlay.data, static_cast<unsigned>(width), 2);
  put(overlay.data, static_cast<unsigned>(height), 2);
  for (const auto& [x, y] : places) {
    put(overlay.data, static_cast<std::uint16_t>(x), 2);
    put(overlay.data, static_cast<std::uint16_t>(y), 2);
  }
  return overlay;
}

Property code_points(int primaries, int transfer, int matrix, bool is_full_range) {
  Bytes content;
  put(content, "nclx");
  for (const int number : {primaries, transfer, matrix})
    put(content, static_cast<unsigned>(number), 2);
  put(content, is_full_range ? 128 : 0, 1);
  return {"colr", content};
}

Property turned_by(int quarters) {
  return {"irot", {static_cast<std::uint8_t>(quarters)}};
}

Property cropped_to(int width, int height) {
  Bytes content;
  for (const int number : {width, 1, height, 1, 0, 1, 0, 1})
    put(content, static_cast<unsigned>(number), 4);
  return {"clap", content};
}

Property is_alpha() {
  Bytes content(4, 0);
  put(content, "urn:mpeg:mpegB:cicp:systems:auxiliary:alpha");
  put(content, 0, 1);
  return {"auxC", content};
}

}  // namespace gpufilter::test
