#include "image/pixel_format.hpp"

#include <array>

namespace gpufilter {

std::string to_string(const PixelFormat& format) {
  static constexpr std::array names{"grey", "grey+alpha", "RGB", "RGBA"};
  return std::string(names.at(static_cast<std::size_t>(format.channels) - 1)) + ", " +
         std::to_string(format.depth) + "-bit";
}

std::vector<std::string> channel_names(const PixelFormat& format) {
  std::vector<std::string> names = format.color_channels() == 1
                                       ? std::vector<std::string>{"grey"}
                                       : std::vector<std::string>{"red", "green", "blue"};
  if (format.has_alpha()) names.emplace_back("alpha");
  return names;
}

}  // namespace gpufilter
