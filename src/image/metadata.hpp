// Metadata of a picture. It is carried over from the input to the output if the output's format can
// hold it; nothing here changes a sample.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/byte_cursor.hpp"

namespace gpufilter {

struct IccProfile {
  std::string name = "icc";
  Bytes data;
};

struct Density {
  enum class Unit { aspect_ratio, per_metre };
  Unit unit = Unit::aspect_ratio;
  std::uint32_t x = 1;
  std::uint32_t y = 1;
};

// Keyword and text, both UTF-8. `language` and `translated_keyword` are PNG's (iTXt), often empty.
struct TextEntry {
  std::string keyword;
  std::string text;
  std::string language;
  std::string translated_keyword;
  bool compressed = false;  // in a PNG
  bool operator==(const TextEntry&) const = default;
};

struct Metadata {
  std::optional<IccProfile> icc_profile;
  // TIFF structure, without "Exif\0\0". Readers remove its thumbnail, as of `image_resources`: it
  // shows the picture as it was.
  Bytes exif;
  Bytes image_resources;                                    // Photoshop's, with IPTC; "8BIM..."
  Bytes xmp;                                                // XML packet
  bool xmp_compressed = false;                              // in a PNG
  std::optional<std::int32_t> gamma;                        // PNG gAMA: times 100000
  std::optional<std::array<std::int32_t, 8>> chromaticity;  // PNG cHRM: white, red, green, blue x y
  std::optional<int> srgb_intent;                           // PNG sRGB: rendering intent 0..3
  std::optional<std::array<std::uint8_t, 4>> coding_points;  // PNG cICP, as in ITU-T H.273
  std::optional<Density> density;
  std::vector<TextEntry> text;  // PNG tEXt, zTXt, iTXt; JPEG comments under "Comment"
};

// The kinds of metadata that users choose from.
enum class MetadataKind {
  location,  // what of EXIF, XMP and text says where the picture was taken
  exif,
  xmp,
  iptc,  // all of Photoshop's image resources
  icc,   // the profile, and whatever else says what colours the samples mean
  text,
  density,
  other  // what only the format that it comes from can hold
};

class MetadataKinds {
 public:
  MetadataKinds(std::initializer_list<MetadataKind> kinds) {
    for (const MetadataKind kind : kinds)
      add(kind);
  }
  [[nodiscard]] static MetadataKinds all() {
    using enum MetadataKind;
    return {location, exif, xmp, iptc, icc, text, density, other};
  }

  void add(MetadataKind kind) { bits_ |= bit(kind); }
  [[nodiscard]] bool has(MetadataKind kind) const { return (bits_ & bit(kind)) != 0; }

 private:
  [[nodiscard]] static unsigned bit(MetadataKind kind) { return 1U << static_cast<unsigned>(kind); }

  unsigned bits_ = 0;
};

// The part of `metadata` of these kinds. If EXIF is dropped, its orientation stays: otherwise the
// picture would be shown turned.
[[nodiscard]] Metadata kept_part(const Metadata& metadata, const MetadataKinds& kinds);

// Replaces all that says what colours the samples mean.
void set_profile(Metadata& metadata, const IccProfile& profile);

// Adds the metadata in `late`, found after the pixels, that `metadata` lacks.
void add_late_metadata(Metadata& metadata, Metadata late);

// Removes EXIF's GPS directory, and properties of XMP and texts whose names begin with GPS
// ("exif:GPSLatitude"), in any case.
void remove_location(Metadata& metadata);

// In Photoshop's image resources, in which IPTC travels (blocks of "8BIM", a number, a name, a
// length and data): removes thumbnails (resources 0x0409 and 0x040C), which show the picture before
// it was filtered. Other resources do not change, nor does anything from the first damaged one on.
void remove_resource_thumbnails(Bytes& resources);

// Converts `iptc`, bare IPTC (IIM) or already image resources, to image resources.
[[nodiscard]] Bytes resources_from_iptc(Bytes iptc);

// Other parts of the file that XMP announces: a film, a gain map, depth.
struct XmpParts {
  bool gain_map = false;
  bool depth_map = false;
};

// Removes what announces such parts, so that nobody looks for them in a file without them: Google's
// motion photo and its directory of parts, and the version of a gain map. Returns what was
// announced.
XmpParts remove_announced_parts(Bytes& xmp);

// The first whole number that the XMP has for the property, "tiff:Orientation". XMP writes it as an
// attribute, tiff:Orientation="6", or as an element, <tiff:Orientation>6</tiff:Orientation>.
[[nodiscard]] std::optional<int> xmp_number(const Bytes& xmp, std::string_view property);

// Sets the property wherever the XMP has a whole number for it.
void set_xmp_number(Bytes& xmp, std::string_view property, int number);

}  // namespace gpufilter
