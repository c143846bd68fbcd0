// Contents of a file besides the picture that is read: pages, frames, a film, a gain map.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "codec/byte_source.hpp"
#include "image/metadata.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

// The bytes behind a picture's end, which are given in pieces.
class BytesBehind {
 public:
  void add(std::span<const std::uint8_t> bytes);
  // All that `source` still has.
  void add_rest(ByteSource& source);

  // Whether there are others than padding: zeros, 255 and white space.
  [[nodiscard]] bool any() const { return any_; }
  // Whether they begin as a JPEG does.
  [[nodiscard]] bool begins_jpeg() const;
  // Whether an MP4 or QuickTime file begins somewhere.
  [[nodiscard]] bool holds_film() const { return holds_film_; }

 private:
  static constexpr std::size_t overlap = 7;  // bytes of a film's beginning, less one

  bool any_ = false;
  bool holds_film_ = false;
  std::uint64_t count_ = 0;
  std::array<std::uint8_t, 3> first_{};
  std::vector<std::uint8_t> window_;  // the end of the last piece, and the new one
};

// For PictureHeader::unread.
inline constexpr const char* film_behind = "a film";
inline constexpr const char* data_behind = "data behind the picture";

// Adds to `unread` what the rest of `source` is, behind the end of its picture.
void note_rest(ByteSource& source, std::vector<std::string>& unread);

// PictureHeader::unread, for a warning: "not read: 2 more pages"; empty if there is nothing.
[[nodiscard]] std::string unread_warning(const std::vector<std::string>& unread);

// Logs that warning about the file `name`, unless there is nothing to say. Quiet runs show it too.
void warn_of_unread(const std::string& name, const std::vector<std::string>& unread);

class LeftOut {
 public:
  // "XMP", "gamma", "text \"Title\" (70000 bytes are too many)". A name that was added before
  // counts once.
  void add(std::string name);

  [[nodiscard]] const std::vector<std::string>& names() const { return names_; }

 private:
  std::vector<std::string> names_;
};

// For formats that describe colours only by ICC profiles: adds gamma, chromaticity and code points,
// unless they are sRGB's or there is a profile.
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
