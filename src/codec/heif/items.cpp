#include "codec/heif/items.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>

#include "base/format.hpp"
#include "base/words.hpp"

namespace gpufilter {

std::vector<Box> boxes_in(ByteSpan bytes) {
  constexpr std::size_t header_size = 8;
  std::vector<Box> boxes;
  ByteCursor cursor(bytes);
  while (cursor.rest().size() >= header_size) {
    std::uint64_t size = cursor.number(4);
    const ByteSpan name = cursor.take(4);
    std::uint64_t used = header_size;
    if (size == 1) {
      size = cursor.number(8);
      used += 8;
    }
    const std::size_t left = cursor.rest().size();
    const bool to_the_end = size == 0 || size - used > left;
    if (size != 0 && size < used) break;
    const std::size_t count = to_the_end ? left : static_cast<std::size_t>(size - used);
    boxes.push_back({as_text(name), cursor.take(count)});
  }
  return boxes;
}

ByteSpan content_of(const std::vector<Box>& boxes, std::string_view type) {
  const auto found =
      std::find_if(boxes.begin(), boxes.end(), [type](const Box& box) { return box.type == type; });
  return found == boxes.end() ? ByteSpan() : found->content;
}

namespace {

class ItemParser {
 public:
  explicit ItemParser(ByteSpan file) {
    result_.file = file;
    const auto meta = boxes_in(FullBox(content_of(boxes_in(file), "meta")).cursor.rest());
    FullBox pitm(content_of(meta, "pitm"));
    result_.primary = static_cast<HeifItemId>(pitm.cursor.number(pitm.version == 0 ? 2 : 4));
    result_.idat = content_of(meta, "idat");
    read_infos(content_of(meta, "iinf"));
    read_locations(content_of(meta, "iloc"));
    const auto iprp = boxes_in(content_of(meta, "iprp"));
    const auto properties = boxes_in(content_of(iprp, "ipco"));
    for (const Box& box : iprp) {
      if (box.type == "ipma") read_associations(box.content, properties);
    }
    read_references(content_of(meta, "iref"));
    assign_alphas();
  }

  [[nodiscard]] HeifItems take() { return std::move(result_); }

 private:
  [[nodiscard]] HeifItem* item(std::uint64_t id) {
    const auto found = result_.items.find(static_cast<HeifItemId>(id));
    return found == result_.items.end() ? nullptr : &found->second;
  }

  void read_infos(ByteSpan content) {
    FullBox iinf(content);
    iinf.cursor.number(iinf.version == 0 ? 2 : 4);
    for (const Box& box : boxes_in(iinf.cursor.rest())) {
      FullBox infe(box.content);
      if (box.type != "infe" || infe.version < 2) continue;
      const auto id = static_cast<HeifItemId>(infe.cursor.number(infe.version == 2 ? 2 : 4));
      infe.cursor.number(2);
      const ByteSpan type = infe.cursor.take(4);
      infe.cursor.text();
      HeifItem& found = result_.items[id];
      found.type = as_text(type);
      if (found.type == "mime") found.content_type = infe.cursor.text();
      found.is_hidden = (infe.flags & 1U) != 0;
    }
  }

  void read_locations(ByteSpan content) {
    FullBox iloc(content);
    ByteCursor& cursor = iloc.cursor;
    const auto sizes = static_cast<unsigned>(cursor.number(2));
    const std::size_t offset_size = sizes >> 12U & 15U;
    const std::size_t length_size = sizes >> 8U & 15U;
    const std::size_t base_size = sizes >> 4U & 15U;
    const std::size_t index_size = iloc.version == 0 ? 0 : sizes & 15U;
    const std::size_t id_size = iloc.version < 2 ? 2 : 4;
    for (auto left = cursor.number(id_size); left > 0 && !cursor.rest().empty(); --left) {
      HeifItem* const found = item(cursor.number(id_size));
      const std::uint64_t construction = iloc.version == 0 ? 0 : cursor.number(2) & 15U;
      const bool is_external = cursor.number(2) != 0;
      const std::uint64_t base = cursor.number(base_size);
      decltype(found->extents) extents;
      for (auto extent = cursor.number(2); extent > 0 && !cursor.rest().empty(); --extent) {
        cursor.number(index_size);
        const std::uint64_t offset = base + cursor.number(offset_size);
        extents.emplace_back(offset, cursor.number(length_size));
      }
      if (found == nullptr) continue;
      found->construction = construction;
      found->is_external = is_external;
      found->extents = std::move(extents);
    }
  }

  void read_associations(ByteSpan content, const std::vector<Box>& properties) {
    FullBox ipma(content);
    const std::size_t id_size = ipma.version == 0 ? 2 : 4;
    const std::size_t size = (ipma.flags & 1U) != 0 ? 2 : 1;
    const std::uint64_t essential_bit = std::uint64_t{1} << (8 * size - 1);
    for (auto left = ipma.cursor.number(4); left > 0 && !ipma.cursor.rest().empty(); --left) {
      HeifItem* const found = item(ipma.cursor.number(id_size));
      for (auto count = ipma.cursor.number(1); count > 0; --count) {
        const std::uint64_t number = ipma.cursor.number(size) & ~essential_bit;
        if (found != nullptr && number > 0 && number <= properties.size())
          found->properties.push_back(properties[static_cast<std::size_t>(number) - 1]);
      }
    }
  }

  void read_references(ByteSpan content) {
    FullBox iref(content);
    const std::size_t id_size = iref.version == 0 ? 2 : 4;
    for (const Box& box : boxes_in(iref.cursor.rest())) {
      ByteCursor cursor(box.content);
      HeifItem* const from = item(cursor.number(id_size));
      if (from == nullptr) continue;
      for (auto left = cursor.number(2); left > 0 && !cursor.rest().empty(); --left) {
        const auto to = static_cast<HeifItemId>(cursor.number(id_size));
        if (box.type == "dimg") from->parts.push_back(to);
        if (box.type == "cdsc") from->described.push_back(to);
        if (box.type == "auxl") from->auxiliary_to = to;
        if (box.type == "thmb") from->thumbnail_of = to;
        if (box.type == "prem") from->is_premultiplied = true;
      }
    }
  }

  void assign_alphas() {
    constexpr std::array<std::string_view, 3> names{"urn:mpeg:mpegB:cicp:systems:auxiliary:alpha",
                                                    "urn:mpeg:hevc:2015:auxid:1",
                                                    "urn:mpeg:avc:2015:auxid:1"};
    for (const auto& [id, auxiliary] : result_.items) {
      if (!auxiliary.auxiliary_to || !(auxiliary.is_coded() || auxiliary.is_derived())) continue;
      const std::string_view name = FullBox(auxiliary.property("auxC")).cursor.text();
      if (std::find(names.begin(), names.end(), name) == names.end()) continue;
      if (HeifItem* const master = item(*auxiliary.auxiliary_to)) master->alpha = id;
    }
  }

  HeifItems result_;
};

}  // namespace

Bytes HeifItems::data(const HeifItem& item) const {
  if (item.is_external || item.construction > 1) return {};
  const ByteSpan place = item.construction == 0 ? file : idat;
  Bytes all;
  for (const auto& [offset, length] : item.extents) {
    if (offset > place.size() || length > place.size() - offset) return {};
    const ByteSpan rest = place.subspan(static_cast<std::size_t>(offset));
    const ByteSpan part = length == 0 ? rest : rest.first(static_cast<std::size_t>(length));
    if (part.size() > place.size() - all.size()) return {};
    all.insert(all.end(), part.begin(), part.end());
  }
  return all;
}

HeifItems heif_items(ByteSpan file) {
  return ItemParser(file).take();
}

namespace {

constexpr std::string_view gain_map = "a gain map";

bool is_picture(const HeifItem& item) {
  constexpr std::array<std::string_view, 7> others{"hev1", "avc1", "vvc1", "jpeg",
                                                   "j2k1", "unci", "hvt1"};
  return item.is_coded() || item.is_derived() ||
         std::find(others.begin(), others.end(), item.type) != others.end();
}

// Empty for alpha.
std::string_view name_of_auxiliary(const HeifItem& item) {
  const std::string_view type = FullBox(item.property("auxC")).cursor.text();
  const auto has = [type](std::string_view part) { return type.find(part) != type.npos; };
  if (has("auxid:1") || has(":alpha")) return {};
  if (has("auxid:2") || has(":depth")) return "a depth map";
  return has("gainmap") ? gain_map : "an auxiliary picture";
}

// The name of a track; empty for tracks that belong to another.
std::string name_of_track(ByteSpan track) {
  const auto media = boxes_in(content_of(boxes_in(track), "mdia"));
  ByteCursor handler = FullBox(content_of(media, "hdlr")).cursor;
  handler.number(4);
  const std::string_view type = as_text(handler.take(4));
  if (type == "vide") return "a film";
  if (type == "soun") return "sound";
  if (type != "pict") return {};
  const auto information = boxes_in(content_of(media, "minf"));
  const auto samples = boxes_in(content_of(information, "stbl"));
  ByteCursor sizes = FullBox(content_of(samples, "stsz")).cursor;
  sizes.number(4);
  return formatted("a sequence of {}", counted(static_cast<std::size_t>(sizes.number(4)), "frame"));
}

}  // namespace

std::vector<std::string> heif_contents(const HeifItems& items) {
  std::vector<std::string> names;
  const auto add = [&names](std::string_view name) {
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end())
      names.emplace_back(name);
  };
  std::set<HeifItemId> parts{items.primary};
  for (const auto& [id, item] : items.items)
    parts.insert(item.parts.begin(), item.parts.end());
  std::size_t others = 0;
  for (const auto& [id, item] : items.items) {
    if (item.type == "tmap") add(gain_map);
    if (!is_picture(item) || item.thumbnail_of) continue;
    if (item.auxiliary_to) {
      add(name_of_auxiliary(item));
    } else if (!item.is_hidden && parts.count(id) == 0) {
      ++others;
    }
  }
  if (others > 0) names.insert(names.begin(), counted(others, "more picture"));
  for (const Box& box : boxes_in(items.file)) {
    if (box.type == "mpvd") add("a film");
    if (box.type != "moov") continue;
    for (const Box& track : boxes_in(box.content)) {
      if (track.type == "trak") add(name_of_track(track.content));
    }
  }
  return names;
}

}  // namespace gpufilter
