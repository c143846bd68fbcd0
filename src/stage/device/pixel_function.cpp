#include "stage/device/pixel_function.hpp"

#include "base/format.hpp"

namespace gpufilter {

std::string color_expression(const PixelFormat& format, int channel) {
  if (channel == 3 && !format.has_alpha()) return "from_sample(MAX_SAMPLE)";
  const int index =
      channel == 3 ? format.channels - 1 : (format.color_channels() == 1 ? 0 : channel);
  return formatted("NUMBER(in[i], {})", index);
}

std::string for_each_pixel(const std::string& statements) {
  return "#pragma unroll\n  for (int i = 0; i < PIXELS; ++i) {\n" + statements + "  }\n";
}

std::string copy_alpha(const PixelFormat& format, int target) {
  return format.has_alpha()
             ? formatted("COPY_SAMPLE(out[i], {}, in[i], {});\n", target, format.channels - 1)
             : formatted("SET_SAMPLE(out[i], {}, MAX_SAMPLE);\n", target);
}

std::string float_literal(float number) {
  return formatted("{:a}f", number);
}

}  // namespace gpufilter
