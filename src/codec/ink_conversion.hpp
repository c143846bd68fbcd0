// How the CMYK of a picture with an ICC profile becomes RGB.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "codec/sample_conversion.hpp"
#include "image/metadata.hpp"

namespace gpufilter {

class InkConversion {
 public:
  virtual ~InkConversion() = default;

  // Pixels of the depth it was made for. Safe to call from several threads.
  virtual void to_rgb(const std::uint8_t* cmyk, std::uint8_t* rgb, std::size_t pixels) const = 0;

  // The profile of that RGB.
  [[nodiscard]] virtual const IccProfile& result() const = 0;
};

// The samples of ink: their polarity and their bits, 8 or 16, which the RGB has too.
struct InkSamples {
  CmykPolarity polarity = CmykPolarity::ink;
  int depth = 8;
};

// Makes the conversion for a picture with this profile. Throws UnusableProfile.
using ChooseInk = std::function<std::shared_ptr<const InkConversion>(const IccProfile& profile,
                                                                     const InkSamples& samples)>;

// For a reader of CMYK, once its header is known: by `choose` if the picture has a profile, which
// is then that of the RGB; otherwise nullptr, and cmyk_to_rgb() is the conversion. A profile that
// cannot be used is removed from `metadata`, and `warning` says why.
[[nodiscard]] std::shared_ptr<const InkConversion> chosen_ink(const ChooseInk& choose,
                                                              const InkSamples& samples,
                                                              Metadata& metadata,
                                                              std::string& warning);

}  // namespace gpufilter
