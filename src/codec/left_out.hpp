// What of a picture's metadata an output cannot hold, by names for the user.
#pragma once

#include <string>
#include <vector>

#include "image/metadata.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

class LeftOut {
 public:
  // "XMP", "gamma", "text \"Title\" (70000 bytes are too many)". A name that was added before
  // counts once.
  void add(std::string name);

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

// For formats that hold no description of colours but ICC profiles: adds gamma, chromaticity and
// code points, unless they are those of sRGB or a profile is there.
void note_color_description(const Metadata& metadata, bool has_profile, LeftOut& left_out);

// Adds the density and, if pixels are not square, that.
void note_density(const Metadata& metadata, LeftOut& left_out);

// Adds EXIF, XMP, IPTC and text, those that there are: "EXIF" and `where`.
void note_content(const Metadata& metadata, LeftOut& left_out, const std::string& where = "");

// The profile that describes pixels of `format`; nullptr if there is none, or if it is for other
// colours, which is then added to `left_out`.
[[nodiscard]] const IccProfile* profile_for(const PixelFormat& format, const Metadata& metadata,
                                            LeftOut& left_out);

}  // namespace gpufilter
