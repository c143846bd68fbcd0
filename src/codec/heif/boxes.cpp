#include "codec/heif/boxes.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <optional>
#include <string_view>
#include <vector>

namespace gpufilter {
namespace {

using ByteSpan = std::span<const std::uint8_t>;

// Reads numbers from the front; 0 past the end.
class Cursor {
 public:
  explicit Cursor(ByteSpan bytes) : bytes_(bytes) {}
  [[nodiscard]] ByteSpan rest() const { return bytes_; }

  std::uint64_t number(std::size_t size) {
    std::uint64_t value = 0;
    for (const std::uint8_t byte : take(size))
      value = value << 8U | byte;
    return value;
  }

  ByteSpan take(std::size_t size) {
    const ByteSpan taken = bytes_.first(std::min(size, bytes_.size()));
    bytes_ = bytes_.subspan(taken.size());
    return taken;
  }

 private:
  ByteSpan bytes_;
};

struct Box {
  std::string_view type;
  ByteSpan content;
};

std::vector<Box> boxes_in(ByteSpan bytes) {
  constexpr std::size_t header_size = 8;
  std::vector<Box> boxes;
  Cursor cursor(bytes);
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
    boxes.push_back({{reinterpret_cast<const char*>(name.data()), 4}, cursor.take(count)});
  }
  return boxes;
}

// The content of the first box of a type; empty if there is none.
ByteSpan find(const std::vector<Box>& boxes, std::string_view type) {
  const auto found =
      std::find_if(boxes.begin(), boxes.end(), [type](const Box& box) { return box.type == type; });
  return found == boxes.end() ? ByteSpan() : found->content;
}

// "Full" boxes begin with a version and flags.
struct Full {
  explicit Full(ByteSpan content)
      : cursor(content),
        version(static_cast<unsigned>(cursor.number(1))),
        flags(static_cast<unsigned>(cursor.number(3))) {}
  Cursor cursor;
  unsigned version;
  unsigned flags;
};

// The first picture that a grid is made of.
std::optional<std::uint64_t> first_tile(ByteSpan references, std::uint64_t grid) {
  Full iref(references);
  const std::size_t id_size = iref.version == 0 ? 2 : 4;
  for (const Box& box : boxes_in(iref.cursor.rest())) {
    Cursor cursor(box.content);
    if (box.type == "dimg" && cursor.number(id_size) == grid && cursor.number(2) > 0)
      return cursor.number(id_size);
  }
  return std::nullopt;
}

// The pictures that each picture is made of: its tiles and the like, in order, and its alpha.
using Parts = std::map<std::uint64_t, std::vector<std::uint64_t>>;

Parts parts_in(ByteSpan references) {
  Parts parts;
  Full iref(references);
  const std::size_t id_size = iref.version == 0 ? 2 : 4;
  for (const Box& box : boxes_in(iref.cursor.rest())) {
    if (box.type != "dimg" && box.type != "auxl") continue;
    Cursor cursor(box.content);
    const std::uint64_t from = cursor.number(id_size);
    for (auto left = cursor.number(2); left > 0 && !cursor.rest().empty(); --left) {
      const std::uint64_t to = cursor.number(id_size);
      if (box.type == "dimg") {
        parts[from].push_back(to);
      } else {
        parts[to].push_back(from);  // an alpha names the picture that it belongs to
      }
    }
  }
  return parts;
}

std::vector<Box> content_of_meta(ByteSpan file) {
  return boxes_in(Full(find(boxes_in(file), "meta")).cursor.rest());
}

// Of `item`, counted as often as they are decoded; more than `limit` if it contains itself.
std::size_t count_parts(const Parts& parts, std::uint64_t item, std::size_t limit,
                        std::size_t depth = 0) {
  constexpr std::size_t max_depth = 16;
  const auto own = parts.find(item);
  if (own == parts.end()) return 1;
  if (depth == max_depth) return limit + 1;
  std::size_t count = 1;
  for (const std::uint64_t part : own->second) {
    if (count > limit) break;
    count += count_parts(parts, part, limit - std::min(limit, count), depth + 1);
  }
  return count;
}

// The numbers, from 1, of the properties of `item`.
std::vector<std::size_t> properties_of(ByteSpan associations, std::uint64_t item) {
  Full ipma(associations);
  const std::size_t id_size = ipma.version == 0 ? 2 : 4;
  const std::size_t size = (ipma.flags & 1U) != 0 ? 2 : 1;
  std::vector<std::size_t> numbers;
  for (auto left = ipma.cursor.number(4); left > 0 && !ipma.cursor.rest().empty(); --left) {
    const bool is_own = ipma.cursor.number(id_size) == item;
    for (auto count = ipma.cursor.number(1); count > 0; --count) {
      const std::uint64_t essential_bit = std::uint64_t{1} << (8 * size - 1);
      const std::uint64_t number = ipma.cursor.number(size) & ~essential_bit;
      if (is_own) numbers.push_back(static_cast<std::size_t>(number));
    }
  }
  return numbers;
}

// Whether a decoder's configuration is that of a grey picture; nothing for other properties.
std::optional<bool> is_grey_configuration(const Box& box) {
  constexpr std::size_t av1_flags = 2;     // in 'av1C'
  constexpr std::size_t hevc_chroma = 16;  // in 'hvcC'
  if (box.type == "av1C" && box.content.size() > av1_flags)
    return (box.content[av1_flags] & 0x10U) != 0;
  if (box.type == "hvcC" && box.content.size() > hevc_chroma)
    return (box.content[hevc_chroma] & 3U) == 0;
  return std::nullopt;
}

}  // namespace

bool is_grey_heif(ByteSpan file) {
  const auto meta = content_of_meta(file);
  Full pitm(find(meta, "pitm"));
  const std::uint64_t primary = pitm.cursor.number(pitm.version == 0 ? 2 : 4);
  const std::uint64_t coded = first_tile(find(meta, "iref"), primary).value_or(primary);
  const auto iprp = boxes_in(find(meta, "iprp"));
  const auto properties = boxes_in(find(iprp, "ipco"));
  for (const std::size_t number : properties_of(find(iprp, "ipma"), coded)) {
    if (number == 0 || number > properties.size()) continue;
    if (const auto is_grey = is_grey_configuration(properties[number - 1])) return *is_grey;
  }
  return false;
}

bool has_bounded_parts(ByteSpan file) {
  constexpr std::size_t max_parts = 65536;
  const Parts parts = parts_in(find(content_of_meta(file), "iref"));
  std::size_t count = 0;
  for (const auto& [item, own] : parts) {
    count += count_parts(parts, item, max_parts - count);
    if (count > max_parts) return false;
  }
  return true;
}

}  // namespace gpufilter
