#include "codec/left_out.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstdlib>
#include <utility>

#include "base/format.hpp"
#include "image/icc_profile.hpp"

namespace gpufilter {
void LeftOut::add(std::string name) {
  if (std::find(names_.begin(), names_.end(), name) == names_.end()) {
    names_.push_back(std::move(name));
  }
}

void note_color_description(const Metadata& metadata, bool has_profile, LeftOut& left_out) {
  constexpr std::int32_t srgb_gamma = 45455;
  constexpr std::array<std::int32_t, 8> srgb_chromaticity{31270, 32900, 64000, 33000,
                                                          30000, 60000, 15000, 6000};
  constexpr std::array<std::uint8_t, 4> srgb_points{1, 13, 0, 1};
  if (metadata.coding_points && *metadata.coding_points != srgb_points) {
    left_out.add("code points of its colours (cICP)");
  }
  // Both mean nothing beside what was carried over or is usual.
  if (has_profile || metadata.srgb_intent) return;
  const auto gamma = metadata.gamma.value_or(srgb_gamma);
  if (std::abs(gamma - srgb_gamma) > srgb_gamma / 100) left_out.add("gamma");
  if (metadata.chromaticity && *metadata.chromaticity != srgb_chromaticity) {
    left_out.add("chromaticity");
  }
}

void note_density(const Metadata& metadata, LeftOut& left_out) {
  if (!metadata.density) return;
  const bool is_absolute = metadata.density->unit == Density::Unit::per_metre;
  if (is_absolute) left_out.add("density");
  if (metadata.density->x != metadata.density->y) left_out.add("non-square pixels");
}

void note_content(const Metadata& metadata, LeftOut& left_out, const std::string& where) {
  const auto note = [&](bool is_there, const char* what) {
    if (is_there) left_out.add(what + where);
  };
  note(!metadata.exif.empty(), "EXIF");
  note(!metadata.xmp.empty(), "XMP");
  note(!metadata.image_resources.empty(), "IPTC");
  note(!metadata.text.empty(), "text");
}

const IccProfile* profile_for(const PixelFormat& format, const Metadata& metadata,
                              LeftOut& left_out) {
  if (!metadata.icc_profile) return nullptr;
  const std::string space = icc_color_space(metadata.icc_profile->data);
  const bool is_grey = format.color_channels() == 1;
  if (space == (is_grey ? "GRAY" : "RGB")) return &*metadata.icc_profile;
  if (space.empty()) {
    left_out.add("the ICC profile (it is damaged)");
  } else {
    left_out.add(formatted("the {} ICC profile (the result is {})",
                           space == "GRAY" ? "grey" : space, is_grey ? "grey" : "RGB"));
  }
  return nullptr;
}

}  // namespace gpufilter
