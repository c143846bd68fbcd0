#include "codec/tiff/metadata.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "base/format.hpp"
#include "image/metadata.hpp"

namespace gpufilter {
namespace {

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

TiffReadAt reader_of(const Bytes& bytes) {
  return [&bytes](std::uint64_t offset, std::span<std::uint8_t> into) -> std::size_t {
    if (offset >= bytes.size()) return 0;
    const std::size_t count = std::min(into.size(), bytes.size() - offset);
    std::copy_n(bytes.begin() + static_cast<std::ptrdiff_t>(offset), count, into.begin());
    return count;
  };
}

class ExifWriter {
 public:
  ExifWriter(TiffFile& file, const TiffAppend& append, LeftOut& left_out)
      : file_(file), append_(append), left_out_(left_out) {}

  void write(const Bytes& exif) {
    const TiffContent content = read_tiff_content(reader_of(exif));
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

  // The first of several texts for one tag counts.
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
