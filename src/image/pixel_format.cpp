#include "image/pixel_format.hpp"

#include <array>

namespace gpufilter {

std::string to_string(const PixelFormat& format) {
  return to_string(file_pixels(format));
}

FilePixels file_pixels(const PixelFormat& format) {
  static constexpr std::array names{"grey", "grey+alpha", "RGB", "RGBA"};
  return {names.at(static_cast<std::size_t>(format.channels) - 1), format.channels, format.depth,
          format.is_float()};
}

std::string to_string(const FilePixels& pixels) {
  return pixels.color + ", " + std::to_string(pixels.depth) + "-bit" +
         (pixels.floating ? " float" : "");
}

std::vector<std::string> channel_names(const PixelFormat& format) {
  std::vector<std::string> names = format.color_channels() == 1
                                       ? std::vector<std::string>{"grey"}
                                       : std::vector<std::string>{"red", "green", "blue"};
  if (format.has_alpha()) names.emplace_back("alpha");
  return names;
}

}  // namespace gpufilter
