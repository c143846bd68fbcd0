#include "codec/tiff/metadata.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string_view>

#include "base/format.hpp"
#include "image/tiff.hpp"

namespace gpufilter {
namespace {

constexpr std::uint16_t exif_pointer = 34665;
constexpr std::uint16_t gps_pointer = 34853;
constexpr std::uint16_t interoperability_pointer = 40965;
constexpr std::uint64_t longest_value = std::uint64_t{16} << 20U;
constexpr std::uint64_t longest_directory = std::uint64_t{64} << 20U;

class ContentReader {
 public:
  explicit ContentReader(const Tiff& tiff) : tiff_(tiff) {}

  TiffContent content() {
    TiffContent content{tiff_.order(), fields_at(tiff_.first_directory()), {}, {}};
    content.exif = fields_behind(content.find(exif_pointer));
    content.gps = fields_behind(content.find(gps_pointer));
    return content;
  }

 private:
  TiffFields fields_behind(const TiffField* pointer) {
    const auto offset = pointer == nullptr ? std::nullopt : number_in(*pointer, tiff_.order());
    return fields_at(offset.value_or(0));
  }

  TiffFields fields_at(std::uint64_t directory) {
    TiffFields fields;
    if (directory == 0) return fields;
    for (const TiffEntry& entry : tiff_.entries(directory)) {
      const std::uint64_t size = entry.value.end - entry.value.begin;
      if (entry.count > longest_value || size == 0 || size > longest_value || size > left_)
        continue;
      TiffField field{static_cast<std::uint16_t>(entry.tag), static_cast<std::uint16_t>(entry.type),
                      static_cast<std::uint32_t>(entry.count),
                      tiff_.bytes_at(entry.value.begin, size)};
      left_ -= size;
      if (field.value.size() == size) fields.push_back(std::move(field));
    }
    return fields;
  }

  const Tiff& tiff_;
  std::uint64_t left_ = longest_directory;  // for all values
};

// Directories that cannot be moved alone, and types that EXIF does not have, are left out.
void remove_unmovable(TiffFields& fields) {
  std::erase_if(fields, [](const TiffField& field) {
    return field.tag == interoperability_pointer || field.type > 12;
  });
}

// An orientation that is the usual one, or none.
bool says_nothing(const TiffField& field, ByteOrder order) {
  const auto orientation = number_in(field, order).value_or(1);
  return field.tag == 274 && (orientation < 2 || orientation > 8);
}

struct TagRange {
  std::uint16_t first;
  std::uint16_t last;
};

// Tags that are not copied: storage of pixels, planes, pages and thumbnails, tags that become
// metadata, and Photoshop's layers, which show the unfiltered picture.
constexpr std::array handled{
    TagRange{254, 266},     TagRange{273, 284},     TagRange{288, 293},     TagRange{296, 297},
    TagRange{301, 301},     TagRange{317, 330},     TagRange{332, 347},     TagRange{400, 405},
    TagRange{512, 532},     TagRange{559, 559},     TagRange{700, 700},     TagRange{32995, 32998},
    TagRange{33421, 33422}, TagRange{33723, 33723}, TagRange{34377, 34377}, TagRange{34665, 34665},
    TagRange{34675, 34675}, TagRange{34853, 34853}, TagRange{37724, 37724}, TagRange{40965, 40965},
    TagRange{50674, 50674}};

// Types that both kinds of files have, apart from offsets of directories.
constexpr std::uint16_t last_type = 12;

bool is_foreign(const TiffField& field) {
  return field.type <= last_type && !is_description(field.tag) &&
         std::ranges::none_of(handled, [&](const TagRange& range) {
           return range.first <= field.tag && field.tag <= range.last;
         });
}

std::string name_of(std::uint16_t tag) {
  static const std::map<std::uint16_t, const char*> names{
      {285, "PageName"},  {286, "XPosition"},       {287, "YPosition"},
      {33550, "GeoTIFF"}, {33920, "GeoTIFF"},       {33922, "GeoTIFF"},
      {34264, "GeoTIFF"}, {34735, "GeoTIFF"},       {34736, "GeoTIFF"},
      {34737, "GeoTIFF"}, {42112, "GDAL metadata"}, {42113, "GDAL no-data value"}};
  const auto found = names.find(tag);
  return found == names.end() ? formatted("tag {}", tag) : found->second;
}

constexpr std::uint16_t type_ascii = 2;
constexpr double inches_a_metre = 10000.0 / 254;

std::optional<Density> read_density(const TiffFile& file) {
  float x = 0;
  float y = 0;
  if (libtiff().TIFFGetField(file.get(), TIFFTAG_XRESOLUTION, &x) != 1 ||
      libtiff().TIFFGetField(file.get(), TIFFTAG_YRESOLUTION, &y) != 1) {
    return std::nullopt;
  }
  const auto unit = file.field<std::uint16_t>(TIFFTAG_RESOLUTIONUNIT);
  const double scale = unit == RESUNIT_INCH ? inches_a_metre : unit == RESUNIT_CENTIMETER ? 100 : 1;
  const auto rounded = [scale](float value) -> std::uint32_t {
    const double number = std::round(double{value} * scale);
    return number >= 1 && number <= 1e9 ? static_cast<std::uint32_t>(number) : 0;
  };
  const Density density{
      unit == RESUNIT_NONE ? Density::Unit::aspect_ratio : Density::Unit::per_metre, rounded(x),
      rounded(y)};
  return density.x == 0 || density.y == 0 ? std::nullopt : std::optional(density);
}

// In inches if both values are whole there, otherwise in centimetres.
void write_density(TiffFile& file, const Density& density) {
  double scale = 1;
  std::uint16_t unit = RESUNIT_NONE;
  if (density.unit == Density::Unit::per_metre) {
    const auto is_whole = [](std::uint32_t per_metre) {
      return std::round(std::round(per_metre / inches_a_metre) * inches_a_metre) == per_metre;
    };
    const bool inches = is_whole(density.x) && is_whole(density.y);
    unit = inches ? RESUNIT_INCH : RESUNIT_CENTIMETER;
    scale = inches ? 1 / inches_a_metre : 0.01;
  }
  const auto value = [&](std::uint32_t number) {
    return unit == RESUNIT_INCH ? std::round(number * scale) : number * scale;
  };
  file.check(libtiff().TIFFSetField(file.get(), TIFFTAG_RESOLUTIONUNIT, unit) == 1 &&
             libtiff().TIFFSetField(file.get(), TIFFTAG_XRESOLUTION, value(density.x)) == 1 &&
             libtiff().TIFFSetField(file.get(), TIFFTAG_YRESOLUTION, value(density.y)) == 1);
}

void set_bytes(TiffFile& file, std::uint32_t tag, const Bytes& bytes) {
  if (bytes.empty()) return;
  file.check(libtiff().TIFFSetField(file.get(), tag, static_cast<std::uint32_t>(bytes.size()),
                                    bytes.data()) == 1);
}

class ExifWriter {
 public:
  ExifWriter(TiffFile& file, const TiffAppend& append, LeftOut& left_out)
      : file_(file), append_(append), left_out_(left_out) {}

  void write(const Bytes& exif) {
    const TiffContent content = read_tiff_content(Tiff(exif));
    for (const TiffField& field : content.first)
      write_field(field, content.order);
    write_directory(TIFFTAG_EXIFIFD, content.exif);
    write_directory(TIFFTAG_GPSIFD, content.gps);
  }

  // PNG's keywords that TIFF has a tag for; false for all others.
  bool write_text(const TextEntry& entry) {
    static const std::map<std::string, std::uint16_t> tags{
        {"Title", TIFFTAG_DOCUMENTNAME},
        {"Author", TIFFTAG_ARTIST},
        {"Description", TIFFTAG_IMAGEDESCRIPTION},
        {"Copyright", TIFFTAG_COPYRIGHT},
        {"Software", TIFFTAG_SOFTWARE},
        {"Comment", TIFFTAG_IMAGEDESCRIPTION}};
    const auto found = tags.find(entry.keyword);
    return found != tags.end() && set_text(found->second, entry.text);
  }

 private:
  void write_field(const TiffField& field, ByteOrder order) {
    if (!is_description(field.tag)) return;
    if (field.tag == TIFFTAG_ORIENTATION) {
      const auto orientation = number_in(field, order).value_or(1);
      if (orientation < 1 || orientation > 8) return;
      file_.check(libtiff().TIFFSetField(file_.get(), TIFFTAG_ORIENTATION,
                                         static_cast<int>(orientation)) == 1);
    } else if (field.type == type_ascii) {
      set_text(field.tag, {field.value.begin(), field.value.end()});
    }
  }

  // Of several texts for one tag, the first is used.
  bool set_text(std::uint32_t tag, std::string text) {
    text.resize(std::string_view(text).find('\0') == std::string_view::npos ? text.size()
                                                                            : text.find('\0'));
    const char* there = nullptr;
    if (libtiff().TIFFGetField(file_.get(), tag, &there) == 1) return false;
    file_.check(libtiff().TIFFSetField(file_.get(), tag, text.c_str()) == 1);
    return true;
  }

  void write_directory(std::uint32_t tag, const TiffFields& fields) {
    if (fields.empty()) return;
    if (libtiff().TIFFIsBigTIFF(file_.get()) != 0)
      return left_out_.add("EXIF (in a TIFF of this size)");
    const std::uint64_t offset = append_.end();
    append_.write(directory_bytes(fields, static_cast<std::uint32_t>(offset), append_.order));
    file_.check(libtiff().TIFFSetField(file_.get(), tag, offset) == 1);
  }

  TiffFile& file_;
  const TiffAppend& append_;
  LeftOut& left_out_;
};

}  // namespace

const TiffField* TiffContent::find(std::uint16_t tag) const {
  const auto found =
      std::ranges::find_if(first, [tag](const TiffField& field) { return field.tag == tag; });
  return found == first.end() ? nullptr : &*found;
}

TiffContent read_tiff_content(const Tiff& tiff) {
  TiffContent content = ContentReader(tiff).content();
  remove_unmovable(content.exif);
  remove_unmovable(content.gps);
  return content;
}

std::optional<std::uint64_t> number_in(const TiffField& field, ByteOrder order) {
  const bool is_number = field.type == 3 || field.type == 4 || field.type == 13 ||
                         field.type == 16 || field.type == 18;
  if (!is_number || field.count != 1) return std::nullopt;
  return number_of(field.value, order);
}

Bytes directory_bytes(TiffFields fields, std::uint32_t offset, ByteOrder order) {
  std::ranges::stable_sort(fields,
                           [](const TiffField& a, const TiffField& b) { return a.tag < b.tag; });
  Bytes directory;
  Bytes values;
  const std::size_t values_at = offset + 2 + 12 * fields.size() + 4;
  put_number(directory, fields.size(), 2, order);
  for (const TiffField& field : fields) {
    put_number(directory, field.tag, 2, order);
    put_number(directory, field.type, 2, order);
    put_number(directory, field.count, 4, order);
    if (field.value.size() <= 4) {
      directory.insert(directory.end(), field.value.begin(), field.value.end());
      directory.insert(directory.end(), 4 - field.value.size(), 0);
      continue;
    }
    put_number(directory, values_at + values.size(), 4, order);
    values.insert(values.end(), field.value.begin(), field.value.end());
    if (values.size() % 2 == 1) values.push_back(0);
  }
  put_number(directory, 0, 4, order);  // no next directory
  directory.insert(directory.end(), values.begin(), values.end());
  return directory;
}

void add_fields(const TiffFields& fields, const TiffReadAt& read, const TiffWriteAt& write,
                std::uint64_t end) {
  const Tiff file(read);
  const ByteOrder order = file.order();
  const std::size_t offset_size = file.offset_size();
  std::map<std::uint32_t, Bytes> entries;
  for (const TiffEntry& entry : file.entries(file.first_directory()))
    entries[entry.tag] = file.bytes_at(entry.place, file.entry_size());
  Bytes added;  // values, then the directory
  for (const TiffField& field : fields) {
    if (entries.contains(field.tag)) continue;
    Bytes& entry = entries[field.tag];
    put_number(entry, field.tag, 2, order);
    put_number(entry, field.type, 2, order);
    put_number(entry, field.count, offset_size, order);
    if (field.value.size() <= offset_size) {
      entry.insert(entry.end(), field.value.begin(), field.value.end());
      entry.resize(file.entry_size());
      continue;
    }
    put_number(entry, end + added.size(), offset_size, order);
    added.insert(added.end(), field.value.begin(), field.value.end());
    if (added.size() % 2 == 1) added.push_back(0);
  }
  Bytes pointer;
  put_number(pointer, end + added.size(), offset_size, order);
  put_number(added, entries.size(), file.count_size(), order);
  for (const auto& [tag, entry] : entries)
    added.insert(added.end(), entry.begin(), entry.end());
  put_number(added, 0, offset_size, order);  // no next directory
  write(end, added);
  write(file.first_link(), pointer);
}

void swap_bytes(TiffField& field) {
  const bool is_rational = field.type == 5 || field.type == 10;
  const auto size = static_cast<std::ptrdiff_t>(is_rational ? 4 : tiff_type_bytes(field.type));
  for (auto at = field.value.begin(); at != field.value.end(); at += size)
    std::reverse(at, at + size);
}

Bytes exif_of(const TiffContent& content) {
  const ByteOrder order = content.order;
  TiffFields first;
  for (const TiffField& field : content.first) {
    if (is_description(field.tag) && field.type <= 12 && !says_nothing(field, order))
      first.push_back(field);
  }
  if (first.empty() && content.exif.empty() && content.gps.empty()) return {};
  constexpr std::size_t header_size = 8;
  constexpr std::size_t pointer_size = 12;
  const std::array<std::pair<std::uint16_t, const TiffFields*>, 2> further{
      {{exif_pointer, &content.exif}, {gps_pointer, &content.gps}}};
  std::size_t end = header_size + directory_bytes(first, header_size, order).size();
  for (const auto& [tag, fields] : further)
    end += fields->empty() ? 0 : pointer_size;
  Bytes rest;
  for (const auto& [tag, fields] : further) {
    if (fields->empty()) continue;
    put_number(first.emplace_back(TiffField{tag, Tiff::type_long, 1, {}}).value, end, 4, order);
    const Bytes bytes = directory_bytes(*fields, static_cast<std::uint32_t>(end), order);
    rest.insert(rest.end(), bytes.begin(), bytes.end());
    end += bytes.size();
  }
  Bytes exif(2, order == ByteOrder::little ? 'I' : 'M');
  put_number(exif, 42, 2, order);
  put_number(exif, header_size, 4, order);
  const Bytes directory = directory_bytes(first, header_size, order);
  exif.insert(exif.end(), directory.begin(), directory.end());
  exif.insert(exif.end(), rest.begin(), rest.end());
  return exif;
}

bool is_description(std::uint16_t tag) {
  constexpr std::array<std::uint16_t, 10> tags{269, 270, 271, 272, 274, 305, 306, 315, 316, 33432};
  return std::ranges::find(tags, tag) != tags.end();
}

TiffTags foreign_tags(const TiffContent& content) {
  TiffTags tags{{}, content.order};
  std::copy_if(content.first.begin(), content.first.end(), std::back_inserter(tags.fields),
               is_foreign);
  return tags;
}

std::vector<std::string> names_of(const TiffTags& tags) {
  std::vector<std::string> names;
  for (const TiffField& field : tags.fields) {
    std::string name = name_of(field.tag);
    if (std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }
  return names;
}

Metadata read_tiff_metadata(const TiffFile& file, const TiffContent& content) {
  const auto bytes_of = [&](std::uint16_t tag) {
    const TiffField* field = content.find(tag);
    return field == nullptr ? Bytes() : field->value;
  };
  Metadata metadata;
  if (Bytes profile = bytes_of(TIFFTAG_ICCPROFILE); !profile.empty())
    metadata.icc_profile.emplace().data = std::move(profile);
  metadata.xmp = bytes_of(TIFFTAG_XMLPACKET);
  metadata.image_resources = bytes_of(TIFFTAG_PHOTOSHOP);
  if (metadata.image_resources.empty())
    metadata.image_resources = resources_from_iptc(bytes_of(TIFFTAG_RICHTIFFIPTC));
  metadata.exif = exif_of(content);
  metadata.density = read_density(file);
  remove_resource_thumbnails(metadata.image_resources);
  return metadata;
}

void write_tiff_metadata(TiffFile& file, const Metadata& metadata, const PixelFormat& format,
                         const TiffAppend& append, LeftOut& left_out) {
  const IccProfile* profile = profile_for(format, metadata, left_out);
  if (profile != nullptr) set_bytes(file, TIFFTAG_ICCPROFILE, profile->data);
  note_color_description(metadata, profile != nullptr, left_out);
  set_bytes(file, TIFFTAG_XMLPACKET, metadata.xmp);
  set_bytes(file, TIFFTAG_PHOTOSHOP, metadata.image_resources);
  if (metadata.density) write_density(file, *metadata.density);
  ExifWriter exif(file, append, left_out);
  if (!metadata.exif.empty()) exif.write(metadata.exif);
  for (const TextEntry& entry : metadata.text) {
    if (!exif.write_text(entry)) left_out.add(formatted("text \"{}\"", entry.keyword));
  }
}

}  // namespace gpufilter
