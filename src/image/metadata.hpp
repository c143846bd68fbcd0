// Metadata of a picture. It is carried over from the input to the output if the output's format can
// hold it; nothing here changes a sample.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace gpufilter {

using Bytes = std::vector<std::uint8_t>;

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
  Bytes exif;                                               // TIFF structure, without "Exif\0\0"
  Bytes xmp;                                                // XML packet
  bool xmp_compressed = false;                              // in a PNG
  std::optional<std::int32_t> gamma;                        // PNG gAMA: times 100000
  std::optional<std::array<std::int32_t, 8>> chromaticity;  // PNG cHRM: white, red, green, blue x y
  std::optional<int> srgb_intent;                           // PNG sRGB: rendering intent 0..3
  std::optional<Density> density;
  std::vector<TextEntry> text;  // PNG tEXt, zTXt, iTXt; JPEG comments under "Comment"
};

}  // namespace gpufilter
