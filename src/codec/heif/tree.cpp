#include "codec/heif/tree.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
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
      std::ranges::find_if(boxes, [type](const Box& box) { return box.type == type; });
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
      if (std::ranges::find(names, name) == names.end()) continue;
      if (HeifItem* const master = item(*auxiliary.auxiliary_to)) master->alpha = id;
    }
  }

  HeifItems result_;
};

constexpr std::string_view gain_map = "a gain map";

bool is_picture(const HeifItem& item) {
  constexpr std::array<std::string_view, 7> others{"hev1", "avc1", "vvc1", "jpeg",
                                                   "j2k1", "unci", "hvt1"};
  return item.is_coded() || item.is_derived() ||
         std::ranges::find(others, item.type) != others.end();
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

std::vector<std::string> heif_contents(const HeifItems& items) {
  std::vector<std::string> names;
  const auto add = [&names](std::string_view name) {
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.emplace_back(name);
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

namespace {

constexpr std::uint64_t max_pictures = 65536;
constexpr int max_depth = 16;  // pictures made of pictures made of ...
constexpr std::uint32_t max_side = 1U << 30U;

class TreeBuilder {
 public:
  TreeBuilder(const HeifItems& items, const std::string& name, const std::string& format)
      : items_(items), name_(name), format_(format) {}

  HeifPicturePointer picture(HeifItemId id, int depth = 0) {
    const auto [found, is_new] = pictures_.try_emplace(id);
    // While it is put together, a picture is there, but empty.
    if (!is_new && !found->second) refuse("a picture in it contains itself");
    if (!is_new) return found->second;
    if (depth == max_depth) refuse("it has pictures made of too many others");
    auto made = std::make_shared<HeifPicture>(make(id, depth));
    pictures_[id] = made;
    return made;
  }

 private:
  [[noreturn]] void refuse(const std::string& why) const {
    throw PictureError(name_, formatted("damaged {}: {}", format_, why));
  }

  HeifPicture make(HeifItemId id, int depth) {
    HeifPicture made;
    made.item = items_.find(id);
    if (made.item == nullptr) refuse("a picture is missing in it");
    const HeifItem& item = *made.item;
    if (item.is_coded()) {
      read_header(made);
    } else if (item.is_derived()) {
      add_parts(made, depth);
    } else {
      throw PictureError(name_, formatted("it has a picture of the type \"{}\", which is not "
                                          "supported: save it in another format",
                                          printable(item.type)));
    }
    if (made.stored.width <= 0 || made.stored.height <= 0) refuse("its width or height is 0");
    made.placement = placement(item, made.stored);
    made.largest = std::max(made.largest, made.stored.pixels());
    if (item.alpha) {
      made.alpha = picture(*item.alpha, depth + 1);
      made.has_alpha = true;
      count(made, *made.alpha);
    }
    return made;
  }

  void count(HeifPicture& whole, const HeifPicture& part) const {
    whole.pictures += part.pictures;
    whole.largest = std::max(whole.largest, part.largest);
    whole.coded_pixels += part.coded_pixels;
    if (whole.pictures > max_pictures) refuse("it has pictures made of too many others");
  }

  void read_header(HeifPicture& made) {
    const HeifItem& item = *made.item;
    const bool is_av1 = item.type == "av01";
    const ByteSpan configuration = item.configuration();
    if (configuration.empty()) refuse("a picture in it lacks its decoder's configuration");
    const Bytes data = items_.data(item);
    if (data.empty()) refuse("the data of a picture in it is missing");
    constexpr std::size_t copies = 4;  // of the file
    data_size_ += data.size();
    if (data_size_ / copies > items_.file.size()) refuse("its pictures have their data in common");
    const auto header = is_av1 ? av1_header(configuration, data) : hevc_header(configuration, data);
    if (!header) refuse("a picture in it has no header");
    made.header = *header;
    made.stored = header->size;
    made.depth = header->depth;
    made.is_grey = header->is_grey;
    made.coded_pixels = made.stored.pixels();
  }

  void add_parts(HeifPicture& made, int depth) {
    const HeifItem& item = *made.item;
    if (item.parts.empty()) refuse("a picture in it is made of no other");
    made.depth = 0;
    made.is_grey = true;
    for (const HeifItemId id : item.parts) {
      const HeifPicturePointer part = picture(id, depth + 1);
      made.depth = std::max(made.depth, part->depth);
      made.is_grey = made.is_grey && part->is_grey;
      made.has_alpha = made.has_alpha || (part->has_alpha && item.type != "iovl");
      count(made, *part);
      made.parts.push_back(part);
    }
    if (item.type == "grid") {
      read_grid(made);
    } else if (item.type == "iovl") {
      read_overlay(made);
    } else {
      if (made.parts.size() > 1) refuse("a picture in it is a copy of several others");
      made.stored = made.parts.front()->size();
      made.positions = {{0, 0}};
    }
  }

  // Width and height, in numbers of `size` bytes.
  ImageSize size_from(ByteCursor& cursor, std::size_t size) const {
    const std::uint64_t width = cursor.number(size);
    const std::uint64_t height = cursor.number(size);
    if (width > max_side || height > max_side) refuse("a picture in it is too large");
    return {static_cast<int>(width), static_cast<int>(height)};
  }

  void read_grid(HeifPicture& made) const {
    const Bytes data = items_.data(*made.item);
    ByteCursor cursor(data);
    cursor.number(1);
    const std::size_t number_size = (cursor.number(1) & 1U) != 0 ? 4 : 2;
    const auto rows = static_cast<int>(cursor.number(1)) + 1;
    const auto columns = static_cast<int>(cursor.number(1)) + 1;
    made.stored = size_from(cursor, number_size);
    if (data.size() < 4 + 2 * number_size ||
        made.parts.size() != static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns))
      refuse("a grid has more or fewer tiles than cells");
    const ImageSize tile = made.parts.front()->size();
    for (int i = 0; i < rows * columns; ++i) {
      const int column = i % columns;
      const int row = i / columns;
      const std::int64_t x = std::int64_t{column} * tile.width;
      const std::int64_t y = std::int64_t{row} * tile.height;
      const ImageSize own = made.parts[static_cast<std::size_t>(i)]->size();
      const auto right = column + 1 < columns ? x + tile.width : std::int64_t{made.stored.width};
      const auto bottom = row + 1 < rows ? y + tile.height : std::int64_t{made.stored.height};
      if (x + own.width < right || y + own.height < bottom)
        refuse("a grid is not covered by its tiles");
      if (x >= made.stored.width || y >= made.stored.height)
        refuse("a grid has tiles outside of it");
      made.positions.push_back({static_cast<int>(x), static_cast<int>(y)});
    }
  }

  void read_overlay(HeifPicture& made) const {
    const Bytes data = items_.data(*made.item);
    ByteCursor cursor(data);
    cursor.number(1);
    const std::size_t number_size = (cursor.number(1) & 1U) != 0 ? 4 : 2;
    for (std::uint16_t& sample : made.ground)
      sample = static_cast<std::uint16_t>(cursor.number(2));
    cursor.number(2);
    made.stored = size_from(cursor, number_size);
    if (cursor.rest().size() < made.parts.size() * 2 * number_size)
      refuse("an overlay does not say where its parts are");
    const auto offset = [&cursor, number_size] {
      const std::uint64_t number = cursor.number(number_size);
      return number_size == 2 ? static_cast<int>(static_cast<std::int16_t>(number))
                              : static_cast<int>(static_cast<std::int32_t>(number));
    };
    for (std::size_t i = 0; i < made.parts.size(); ++i) {
      const int x = offset();
      made.positions.push_back({x, offset()});
    }
    const bool has_grey_ground = std::ranges::count(made.ground, made.ground.front()) == 3;
    made.is_grey = made.is_grey && has_grey_ground;
  }

  Placement placement(const HeifItem& item, const ImageSize& stored) const {
    Placement result{{0, 0}, stored, {}};
    const auto turn_by = [&result](const Turn& turn) {
      result = result.then({{0, 0}, result.result_size(), turn});
    };
    for (const Box& box : item.properties) {
      const unsigned value = box.content.empty() ? 0 : box.content.front();
      if (box.type == "irot") {
        for (unsigned left = value & 3U; left > 0; --left)
          turn_by(quarter_counterclockwise);
      }
      if (box.type == "imir") turn_by((value & 1U) != 0 ? left_right : upside_down);
      if (box.type == "clap") result = result.then(clean_aperture(box, result.result_size()));
    }
    return result;
  }

  // The clean aperture, rounded to whole pixels and clipped to the picture.
  Placement clean_aperture(const Box& box, const ImageSize& size) const {
    ByteCursor cursor(box.content);
    std::array<double, 4>
        fractions{};  // width, height, and how far its middle is from the picture's
    for (std::size_t i = 0; i < fractions.size(); ++i) {
      const auto above = static_cast<std::uint32_t>(cursor.number(4));
      const auto below = static_cast<std::uint32_t>(cursor.number(4));
      if (below == 0) refuse("it is cropped to nothing");
      fractions[i] = (i < 2 ? static_cast<double>(above)
                            : static_cast<double>(static_cast<std::int32_t>(above))) /
                     below;
    }
    const auto whole = [](double value) {
      return static_cast<std::int64_t>(std::clamp(std::floor(value), -2e9, 2e9));
    };
    const auto left = whole(fractions[2] + (size.width - fractions[0]) / 2);
    const auto top = whole(fractions[3] + (size.height - fractions[1]) / 2 + 0.5);
    const auto begin = [](std::int64_t at) { return std::max<std::int64_t>(at, 0); };
    const auto right = std::min<std::int64_t>(left + whole(fractions[0] + 0.5), size.width);
    const auto bottom = std::min<std::int64_t>(top + whole(fractions[1] + 0.5), size.height);
    if (begin(left) >= right || begin(top) >= bottom) refuse("it is cropped to nothing");
    return {{static_cast<int>(begin(left)), static_cast<int>(begin(top))},
            {static_cast<int>(right - begin(left)), static_cast<int>(bottom - begin(top))},
            {}};
  }

  const HeifItems& items_;
  const std::string& name_;
  const std::string& format_;
  std::map<HeifItemId, HeifPicturePointer> pictures_;
  std::size_t data_size_ = 0;  // of all coded pictures
};

}  // namespace

HeifPicturePointer heif_picture(const HeifItems& items, const std::string& name,
                                const std::string& format, const ReadLimits& limits) {
  if (items.items.empty() && !content_of(boxes_in(items.file), "moov").empty()) {
    throw PictureError(name,
                       "it has a sequence of pictures and no still one, which is not "
                       "supported: save one of its pictures");
  }
  const HeifPicturePointer picture = TreeBuilder(items, name, format).picture(items.primary);
  constexpr std::uint64_t repeats = 4;  // of pixels: tiles reach over the edge, alpha is another
  constexpr std::uint64_t always = std::uint64_t{1} << 16U;  // coders have a smallest size
  if (picture->coded_pixels / repeats > std::max(limits.max_pixels, always)) {
    throw PictureError(name, formatted("its parts have {} pixels, too many for the limit of {}: "
                                       "raise it with --max-pixels",
                                       picture->coded_pixels, limits.max_pixels));
  }
  return picture;
}

ByteSpan code_points_of(const HeifItem& item) {
  for (const Box& box : item.properties) {
    if (box.type == "colr" && as_text(ByteCursor(box.content).take(4)) == "nclx")
      return box.content;
  }
  return {};
}

}  // namespace gpufilter
