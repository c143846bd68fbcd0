#include "codec/ink_conversion.hpp"

#include "base/format.hpp"
#include "image/icc.hpp"

namespace gpufilter {

std::shared_ptr<const InkConversion> chosen_ink(const ChooseInk& choose, const InkSamples& samples,
                                                Metadata& metadata, std::string& warning) {
  if (!metadata.icc_profile) return nullptr;
  try {
    const std::string space = icc_color_space(metadata.icc_profile->data);
    if (space.empty()) throw UnusableProfile("is damaged");
    if (space != "CMYK")
      throw UnusableProfile(formatted("is for {}, but the picture is CMYK", space));
    if (!choose) return nullptr;
    auto conversion = choose(*metadata.icc_profile, samples);
    set_profile(metadata, conversion->result());
    return conversion;
  } catch (const UnusableProfile& error) {
    warning = formatted("the ICC profile {}; it is left out", error.what());
    metadata.icc_profile.reset();
    return nullptr;
  }
}

}  // namespace gpufilter
