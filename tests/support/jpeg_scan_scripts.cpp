#include "support/jpeg_scan_scripts.hpp"

namespace gpufilter::test {

jpeg_scan_info scan_of(int component, int first, int last, int high, int low) {
  return {1, {component, 0, 0, 0}, first, last, high, low};
}

jpeg_scan_info scan_of_all(int high, int low) {
  return {3, {0, 1, 2, 0}, 0, 0, high, low};
}

ScanScript spectral_selection() {
  ScanScript script{scan_of_all(0, 0)};
  for (const int component : {2, 0, 1}) {
    script.push_back(scan_of(component, 1, 5, 0, 0));
    script.push_back(scan_of(component, 6, 20, 0, 0));
    script.push_back(scan_of(component, 21, 63, 0, 0));
  }
  return script;
}

ScanScript deep_approximation() {
  ScanScript script{scan_of_all(0, 10)};
  for (int component = 0; component < 3; ++component)
    script.push_back(scan_of(component, 1, 63, 0, 10));
  for (int bit = 10; bit > 0; --bit) {
    for (int component = 2; component >= 0; --component)
      script.push_back(scan_of(component, 1, 63, bit, bit - 1));
    script.push_back(scan_of_all(bit, bit - 1));
  }
  return script;
}

ScanScript crossing_bands() {
  ScanScript script{scan_of_all(0, 1)};
  for (int component = 0; component < 3; ++component) {
    script.push_back(scan_of(component, 1, 9, 0, 2));
    script.push_back(scan_of(component, 10, 40, 0, 2));
    script.push_back(scan_of(component, 41, 63, 0, 1));
    script.push_back(scan_of(component, 5, 40, 2, 1));
    script.push_back(scan_of(component, 1, 4, 2, 1));
    script.push_back(scan_of(component, 1, 63, 1, 0));
  }
  script.push_back(scan_of_all(1, 0));
  return script;
}

ScanScript components_apart() {
  ScanScript script;
  for (const int component : {1, 2, 0}) {
    script.push_back(scan_of(component, 0, 0, 0, 1));
    script.push_back(scan_of(component, 1, 63, 0, 1));
    script.push_back(scan_of(component, 1, 63, 1, 0));
    script.push_back(scan_of(component, 0, 0, 1, 0));
  }
  return script;
}

ScanScript endless() {
  ScanScript script{scan_of_all(0, 0)};
  for (int i = 1; i < 64; ++i) {
    for (int component = 0; component < 3; ++component)
      script.push_back(scan_of(component, i, i, 0, 0));
  }
  return script;
}

ScanScript incomplete() {
  ScanScript script{scan_of_all(0, 0)};
  for (int component = 0; component < 3; ++component)
    script.push_back(scan_of(component, 1, 63, 0, 2));
  return script;
}

jpeg_scan_info whole_scan_of(int component) {
  return {1, {component, 0, 0, 0}, 0, 63, 0, 0};
}

jpeg_scan_info whole_scan_of(int first, int second) {
  return {2, {first, second, 0, 0}, 0, 63, 0, 0};
}

Bytes encode_textured(const JpegRecipe& recipe, int width, int height, int channels) {
  return encode_with_libjpeg(textured_raster(width, height, channels), recipe);
}

}  // namespace gpufilter::test
