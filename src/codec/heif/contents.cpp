#include "codec/heif/contents.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <set>

#include "base/format.hpp"
#include "base/words.hpp"

namespace gpufilter {
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
