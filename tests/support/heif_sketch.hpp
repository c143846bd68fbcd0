// HEIC and AVIF files put together box by box.
#pragma once

#include "codec/heif/tree.hpp"
#include "image/metadata.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {

using Property = std::pair<std::string, Bytes>;  // the type of a box and its content

struct SketchedItem {
  std::uint16_t id = 1;
  std::string type;
  Bytes data = {};
  std::vector<Property> properties = {};
  bool is_hidden = false;
  std::string content_type = {};  // of "mime"
};

struct SketchedReference {
  std::string type;
  std::uint16_t from = 1;
  std::vector<std::uint16_t> to;
};

[[nodiscard]] Bytes box(const std::string& type, const Bytes& content);

// A file whose primary picture is `primary`; the brand is "avif" or "heic".
[[nodiscard]] Bytes heif_file(const std::string& brand, std::uint16_t primary,
                              const std::vector<SketchedItem>& items,
                              const std::vector<SketchedReference>& references = {});

// The first coded picture of a file, with its properties.
[[nodiscard]] inline SketchedItem coded_item(std::uint16_t id, const Bytes& file) {
  const HeifItems items = heif_items(file);
  for (const auto& [known, item] : items.items) {
    if (!item.is_coded()) continue;
    SketchedItem made{id, std::string(item.type), items.data(item)};
    for (const Box& property : item.properties)
      made.properties.emplace_back(std::string(property.type),
                                   Bytes(property.content.begin(), property.content.end()));
    return made;
  }
  return {};
}

// Made of others: rows by columns of them, or each at its own place on a ground of this colour.
[[nodiscard]] SketchedItem grid_item(std::uint16_t id, int rows, int columns, int width,
                                     int height);
[[nodiscard]] SketchedItem overlay_item(std::uint16_t id, const std::vector<std::uint16_t>& ground,
                                        int width, int height,
                                        const std::vector<std::pair<int, int>>& places);

// "colr" with code points.
[[nodiscard]] Property code_points(int primaries, int transfer, int matrix, bool is_full_range);
[[nodiscard]] Property turned_by(int quarters);            // counterclockwise
[[nodiscard]] Property cropped_to(int width, int height);  // around its middle
[[nodiscard]] Property is_alpha();

}  // namespace gpufilter::test
