#include "image/exif.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <span>
#include <string_view>
#include <vector>

#include "base/printable.hpp"
#include "image/tiff.hpp"

namespace gpufilter {
namespace {

constexpr std::uint32_t gps_directory_tag = 0x8825;
constexpr std::uint32_t interoperability_tag = 0xa005;
constexpr std::uint32_t jpeg_offset_tag = 0x0201;
constexpr std::uint32_t jpeg_length_tag = 0x0202;
constexpr std::uint32_t strip_offsets_tag = 0x0111;
constexpr std::uint32_t strip_lengths_tag = 0x0117;

constexpr std::size_t tiff_header_bytes = 8;
constexpr std::size_t max_directories = 8;  // EXIF has five
constexpr std::size_t max_strips = 65536;

using Ranges = std::vector<ByteRange>;

// Gathers which bytes directories use.
class Uses {
 public:
  Uses(const Tiff& tiff, std::size_t size) : tiff_(tiff), size_(size) {}

  // The directory's entries and their values.
  void add_directory(std::size_t directory) {
    add(directory, tiff_.link_of(directory) + 4 - directory);
    for (const TiffEntry& entry : tiff_.entries(directory))
      ranges_.push_back(entry.value);
  }

  // Adds a directory and the directories to which it points, except the one of the tag `without`.
  void add_tree(std::size_t directory, std::uint32_t without = 0) {
    if (++directories_ > max_directories) return;
    add_directory(directory);
    for (const TiffEntry& entry : tiff_.entries(directory)) {
      if (entry.tag == without) continue;
      const bool points = entry.tag == Tiff::exif_directory_tag || entry.tag == gps_directory_tag ||
                          entry.tag == interoperability_tag;
      const auto child = points ? tiff_.value(entry) : std::nullopt;
      if (child) add_tree(*child);
    }
  }

  // Adds the picture whose parts the directory's entries with these tags locate.
  void add_data(std::size_t directory, std::uint32_t offsets_tag, std::uint32_t lengths_tag) {
    const auto offsets = tiff_.find(directory, offsets_tag);
    const auto lengths = tiff_.find(directory, lengths_tag);
    if (!offsets || !lengths) return;
    for (std::size_t i = 0; i < max_strips; ++i) {
      const auto offset = tiff_.value(*offsets, i);
      const auto length = tiff_.value(*lengths, i);
      if (!offset || !length) return;
      add(*offset, *length);
    }
  }

  // In order, none touching another.
  [[nodiscard]] Ranges merged() const {
    Ranges sorted = ranges_;
    std::ranges::sort(sorted);
    Ranges merged;
    for (const ByteRange& range : sorted) {
      if (range.begin == range.end) continue;
      if (!merged.empty() && range.begin <= merged.back().end) {
        merged.back().end = std::max(merged.back().end, range.end);
      } else {
        merged.push_back(range);
      }
    }
    return merged;
  }

 private:
  // Adds the part of a range that is within the bytes.
  void add(std::size_t offset, std::size_t length) {
    const std::size_t begin = std::min(offset, size_);
    ranges_.push_back({begin, begin + std::min(length, size_ - begin)});
  }

  const Tiff& tiff_;
  std::size_t size_;
  Ranges ranges_;
  std::size_t directories_ = 0;
};

// `from` without `taken`, both as merged() yields them.
Ranges difference(const Ranges& from, const Ranges& taken) {
  Ranges rest;
  auto next = taken.begin();
  for (ByteRange range : from) {
    while (next != taken.end() && next->end <= range.begin)
      ++next;
    for (auto cut = next; cut != taken.end() && cut->begin < range.end; ++cut) {
      if (range.begin < cut->begin) rest.push_back({range.begin, cut->begin});
      range.begin = std::min(range.end, cut->end);
    }
    if (range.begin < range.end) rest.push_back(range);
  }
  return rest;
}

void clear(Bytes& bytes, const ByteRange& range) {
  std::fill(bytes.begin() + static_cast<std::ptrdiff_t>(range.begin),
            bytes.begin() + static_cast<std::ptrdiff_t>(range.end), std::uint8_t{0});
}

// The entries behind it, and the link to the next directory, move up.
void remove_entry(Bytes& exif, std::size_t directory, const TiffEntry& entry) {
  const Tiff tiff(exif);
  const std::size_t count = tiff.entry_count(directory) - 1;
  const std::size_t end = tiff.link_of(directory) + 4;
  std::copy(exif.begin() + static_cast<std::ptrdiff_t>(entry.place + tiff.entry_size()),
            exif.begin() + static_cast<std::ptrdiff_t>(end),
            exif.begin() + static_cast<std::ptrdiff_t>(entry.place));
  clear(exif, {end - tiff.entry_size(), end});
  store_number(count, std::span(exif).subspan(directory, 2), tiff.order());
}

// The size without `unused` ranges at the end; a padding byte may lie between them.
std::size_t size_without(const Ranges& unused, std::size_t used_end, std::size_t size) {
  for (auto range = unused.rbegin(); range != unused.rend() && range->end + 1 >= size; ++range)
    size = std::max(range->begin, used_end);
  return size;
}

// The tags of one side, in the first directory and in EXIF's own.
struct Tags {
  std::uint32_t picture;
  std::uint32_t exif;
};
constexpr Tags width_tags{0x0100, 0xa002};
constexpr Tags height_tags{0x0101, 0xa003};

void set_entry(Bytes& exif, std::size_t directory, std::uint32_t tag, int value) {
  const Tiff tiff(exif);
  const auto entry = tiff.find(directory, tag);
  if (entry && tiff.integer(*entry)) set_integer(exif, *entry, static_cast<std::uint32_t>(value));
}

void set_side(Bytes& exif, const Tags& tags, int value) {
  const Tiff tiff(exif);
  if (!tiff.is_valid()) return;
  set_entry(exif, tiff.first_directory(), tags.picture, value);
  if (const auto directory = tiff.exif_directory()) set_entry(exif, *directory, tags.exif, value);
}

constexpr std::uint32_t type_ascii = 2;
constexpr std::uint32_t type_utf8 = 129;

enum Tag : std::uint32_t {
  make = 0x010f,
  model = 0x0110,
  date = 0x0132,
  date_original = 0x9003,
  lens_model = 0xa434,
};

class Fields {
 public:
  explicit Fields(const Bytes& exif) : bytes_(exif), tiff_(exif) {
    if (!tiff_.is_valid()) return;
    first_ = tiff_.first_directory();
    second_ = tiff_.exif_directory().value_or(0);
  }

  [[nodiscard]] std::string main(std::uint32_t tag) const { return text(first_, tag); }
  [[nodiscard]] std::string photo(std::uint32_t tag) const { return text(second_, tag); }

 private:
  [[nodiscard]] std::string text(std::size_t directory, std::uint32_t tag) const {
    const auto entry = directory == 0 ? std::nullopt : tiff_.find(directory, tag);
    if (!entry || (entry->type != type_ascii && entry->type != type_utf8)) return "";
    std::string text(bytes_.begin() + static_cast<std::ptrdiff_t>(entry->value.begin),
                     bytes_.begin() + static_cast<std::ptrdiff_t>(entry->value.end));
    text.erase(std::min(text.find('\0'), text.size()));
    text.erase(text.find_last_not_of(' ') + 1);
    text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
    return is_utf8(text) ? text : "";
  }

  const Bytes& bytes_;
  Tiff tiff_;
  std::size_t first_ = 0;
  std::size_t second_ = 0;
};

// Many cameras repeat the maker's name in the model's.
std::string camera_of(const std::string& maker, const std::string& name) {
  const std::string first = maker.substr(0, maker.find(' '));
  if (maker.empty() || name.starts_with(first)) return name;
  return name.empty() ? maker : maker + " " + name;
}

constexpr std::uint32_t orientation_tag = 0x0112;

// The entry in the first directory, if it holds an orientation.
std::optional<TiffEntry> orientation_entry(const Tiff& tiff) {
  if (!tiff.is_valid()) return std::nullopt;
  const auto entry = tiff.find(tiff.first_directory(), orientation_tag);
  const auto value = entry ? tiff.integer(*entry) : std::nullopt;
  return value && 1 <= *value && *value <= 8 ? entry : std::nullopt;
}

// EXIF that holds an orientation alone: header, number of entries, the entry (tag, type, count,
// value), no next directory.
Bytes exif_of(int orientation) {
  return {'M',  'M',  0, 42, 0, 0, 0, 8, 0, 1,
          0x01, 0x12, 0, 3,  0, 0, 0, 1, 0, static_cast<std::uint8_t>(orientation),
          0,    0,    0, 0,  0, 0};
}

// A copy of the first directory with the orientation is added at the end, so that all offsets stay
// right. EXIF that is damaged, or has a directory of other orientations, is replaced.
Bytes with_orientation_added(const Bytes& exif, int orientation) {
  const Tiff tiff(exif);
  const std::size_t directory = tiff.first_directory();
  const std::size_t end = tiff.link_of(directory);
  if (!tiff.is_valid() || directory == 0 || !tiff.number(end, 4) ||
      exif.size() > std::size_t{1} << 30U) {
    return exif_of(orientation);
  }
  Bytes result = exif;
  const auto append = [&](std::size_t value, std::size_t size) {
    put_number(result, value, size, tiff.order());
  };
  const auto copy = [&](std::size_t from, std::size_t to) {
    result.insert(result.end(), exif.begin() + static_cast<std::ptrdiff_t>(from),
                  exif.begin() + static_cast<std::ptrdiff_t>(to));
  };
  if (result.size() % 2 != 0) result.push_back(0);
  const std::size_t at = result.size();
  std::size_t place = directory + 2;  // entries are in the order of their tags
  while (place < end && *tiff.number(place, 2) < orientation_tag)
    place += tiff.entry_size();
  const bool replaces = place < end && *tiff.number(place, 2) == orientation_tag;
  append(tiff.entry_count(directory) + (replaces ? 0 : 1), 2);
  copy(directory + 2, place);
  append(orientation_tag, 2);
  append(Tiff::type_short, 2);
  append(1, 4);
  append(static_cast<std::size_t>(orientation), 2);
  append(0, 2);
  copy(place + (replaces ? tiff.entry_size() : 0), end + 4);
  store_number(at, std::span(result).subspan(4, 4), tiff.order());
  return result;
}

std::optional<int> orientation_in_exif(const Bytes& exif) {
  const Tiff tiff(exif);
  const auto entry = orientation_entry(tiff);
  return entry ? tiff.integer(*entry) : std::nullopt;
}

constexpr std::string_view xmp_property = "tiff:Orientation";

}  // namespace

void remove_exif_thumbnail(Bytes& exif) {
  const Tiff tiff(exif);
  if (!tiff.is_valid()) return;
  const std::size_t first = tiff.first_directory();
  const std::size_t second = tiff.next_directory(first);
  if (second == 0 || !tiff.number(second, 2)) return;

  Uses picture(tiff, exif.size());
  picture.add_tree(first);
  Uses thumbnail(tiff, exif.size());
  thumbnail.add_directory(second);
  thumbnail.add_data(second, jpeg_offset_tag, jpeg_length_tag);
  thumbnail.add_data(second, strip_offsets_tag, strip_lengths_tag);
  Ranges used = picture.merged();
  used.insert(used.begin(), {0, tiff_header_bytes});
  const Ranges unused = difference(thumbnail.merged(), used);

  const std::size_t link = tiff.link_of(first);
  clear(exif, {link, link + 4});
  for (const ByteRange& range : unused)
    clear(exif, range);
  exif.resize(size_without(unused, used.back().end, exif.size()));
}

void remove_exif_location(Bytes& exif) {
  const Tiff tiff(exif);
  if (!tiff.is_valid()) return;
  const std::size_t first = tiff.first_directory();
  while (const auto pointer = tiff.find(first, gps_directory_tag)) {
    if (!tiff.number(tiff.link_of(first), 4)) return;
    Uses rest(tiff, exif.size());
    rest.add_tree(first, gps_directory_tag);
    if (const std::size_t second = tiff.next_directory(first); second != 0) rest.add_tree(second);
    Uses location(tiff, exif.size());
    if (const auto directory = tiff.value(*pointer); directory && tiff.number(*directory, 2))
      location.add_directory(*directory);
    Ranges used = rest.merged();
    used.insert(used.begin(), {0, tiff_header_bytes});
    for (const ByteRange& range : difference(location.merged(), used))
      clear(exif, range);
    remove_entry(exif, first, *pointer);
    if (tiff.entry_count(first) == 0) return exif.clear();
  }
}

void remove_exif_prefix(Bytes& exif) {
  while (as_text(exif).starts_with(exif_prefix))
    exif.erase(exif.begin(), exif.begin() + exif_prefix.size());
}

void set_exif_color_space(Metadata& metadata, bool is_srgb) {
  constexpr std::uint16_t srgb = 1;
  constexpr std::uint16_t uncalibrated = 65535;
  constexpr std::uint32_t color_space_tag = 0xa001;
  const std::uint16_t value = is_srgb ? srgb : uncalibrated;
  set_xmp_number(metadata.xmp, "exif:ColorSpace", value);
  const Tiff tiff(metadata.exif);
  const auto directory = tiff.exif_directory();
  const auto entry = directory ? tiff.find(*directory, color_space_tag) : std::nullopt;
  if (entry && tiff.integer(*entry)) set_integer(metadata.exif, *entry, value);
}

void set_exif_size(Metadata& metadata, const ImageSize& size) {
  set_side(metadata.exif, width_tags, size.width);
  set_side(metadata.exif, height_tags, size.height);
  for (const char* property : {"tiff:ImageWidth", "exif:PixelXDimension"})
    set_xmp_number(metadata.xmp, property, size.width);
  for (const char* property : {"tiff:ImageLength", "exif:PixelYDimension"})
    set_xmp_number(metadata.xmp, property, size.height);
}

ExifSummary exif_summary(const Bytes& exif) {
  const Fields fields(exif);
  ExifSummary summary{.camera = camera_of(fields.main(make), fields.main(model)),
                      .lens = fields.photo(lens_model),
                      .taken = fields.photo(date_original)};
  if (summary.taken.empty()) summary.taken = fields.main(date);
  return summary;
}

int exif_orientation(const Bytes& exif) {
  return orientation_in_exif(exif).value_or(1);
}

std::optional<int> stored_orientation(const Metadata& metadata) {
  if (const auto orientation = orientation_in_exif(metadata.exif)) return orientation;
  const auto orientation = xmp_number(metadata.xmp, xmp_property);
  return orientation && 1 <= *orientation && *orientation <= 8 ? orientation : std::nullopt;
}

void set_orientation(Metadata& metadata, int orientation) {
  set_xmp_number(metadata.xmp, xmp_property, orientation);
  const Tiff tiff(metadata.exif);
  if (const auto entry = orientation_entry(tiff)) {
    set_integer(metadata.exif, *entry, static_cast<std::uint32_t>(orientation));
  } else if (orientation != 1) {
    metadata.exif = with_orientation_added(metadata.exif, orientation);
  }
}

Bytes exif_with_orientation_alone(const Bytes& exif) {
  const int orientation = exif_orientation(exif);
  return orientation == 1 ? Bytes() : exif_of(orientation);
}

}  // namespace gpufilter
