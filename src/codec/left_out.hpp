// What of a picture's metadata an output cannot hold, by names for the user.
#pragma once

#include <optional>
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

// The profile that describes pixels of `format`; nullptr if there is none, or if it is for other
// colours, which is then added to `left_out`.
[[nodiscard]] const IccProfile* profile_for(const PixelFormat& format, const Metadata& metadata,
                                            LeftOut& left_out);

}  // namespace gpufilter
