// ICC profiles and conversions between them, by Little CMS: --to-srgb and --profile.
#pragma once

#include <memory>
#include <stdexcept>
#include <string>

#include "codec/read_limits.hpp"
#include "image/icc.hpp"
#include "image/metadata.hpp"
#include "image/pixel_format.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {

// Why colours cannot be converted, where any result would be wrong: "its colours are ...".
class RefusedColors : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

enum class ProfileColors { grey, rgb, cmyk };

// Rendering intents in the order of ICC.1.
enum class RenderingIntent { perceptual, relative, saturation, absolute };

struct ProfileUse {
  RenderingIntent intent = RenderingIntent::relative;
  bool black_point_compensation = true;
};

// "2.14"
[[nodiscard]] std::string little_cms_version();
// The version of the build: "Little CMS 2.14". Loads nothing.
[[nodiscard]] std::string little_cms_of_build();

// The sRGB profile, whose bytes never change.
[[nodiscard]] const IccProfile& srgb_profile();

// The colour space of a profile's pixels. Throws UnusableProfile if it is damaged or not for
// pixels.
[[nodiscard]] ProfileColors colors_of(const IccProfile& profile);

// The profile's own name, for messages; empty if it has none.
[[nodiscard]] std::string name_of(const IccProfile& profile);

// A profile made for the colours of a picture of `format` that code points name, or, if it has no
// profile of its own, gamma and chromaticity (PNG); nullptr if nothing does, and for sRGB. Throws
// UnusableProfile for code points without a curve or primaries, and RefusedColors for HDR.
[[nodiscard]] std::shared_ptr<const IccProfile> profile_of_named_colors(const Metadata& metadata,
                                                                        const PixelFormat& format);

// The profile of a picture of `format`: the one of its named colours, otherwise its own; nullptr,
// which means sRGB, if it has neither. Throws as profile_of_named_colors().
[[nodiscard]] std::shared_ptr<const IccProfile> profile_of(const Metadata& metadata,
                                                           const PixelFormat& format);

// The pixel format at one end of a conversion.
struct ProfilePixels {
  ProfileColors colors = ProfileColors::rgb;
  bool alpha = false;  // copied
  int depth = 8;
  bool inverted_ink = false;  // 255 is no ink
};

class ProfileConversion {
 public:
  // Throws UnusableProfile if one of the profiles cannot be used that way.
  ProfileConversion(const IccProfile& from, const ProfilePixels& source, const IccProfile& to,
                    const ProfilePixels& target, const ProfileUse& use);

  // Safe to call from several threads.
  void convert(const std::uint8_t* from, std::uint8_t* to, std::size_t pixels) const;

 private:
  std::shared_ptr<void> transform_;
};

// To sRGB. Pictures without a profile count as sRGB; they do not change.
[[nodiscard]] std::shared_ptr<const Stage> make_to_srgb(const ProfileUse& use);
// To `profile`, of grey or RGB; `label` is its file. Throws UnusableProfile.
[[nodiscard]] std::shared_ptr<const Stage> make_to_profile(IccProfile profile,
                                                           const ProfileUse& use,
                                                           std::string label);

// The conversion that readers of CMYK apply, so that rows arrive in the colours that the first of
// these stages yields; empty if the chain has none of them.
[[nodiscard]] ChooseInk ink_choice(const StageChain& chain);

}  // namespace gpufilter
