#include "stages/pixel_function.hpp"

#include "base/format.hpp"

namespace gpufilter {

std::string color_expression(const PixelFormat& format, int channel) {
  if (channel == 3 && !format.has_alpha()) return "MAX_SAMPLE";
  const int index =
      channel == 3 ? format.channels - 1 : (format.color_channels() == 1 ? 0 : channel);
  return formatted("in[i].at[{}]", index);
}

std::string float_literal(float number) {
  return formatted("{:a}f", number);
}

}  // namespace gpufilter
