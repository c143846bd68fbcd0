// The order in which a JPEG of several scans stores its coefficients, for tests: usual and odd
// ones.
#pragma once

#include <vector>

#include "support/jpeg.hpp"

namespace gpufilter::test {

using ScanScript = std::vector<jpeg_scan_info>;

// A scan of a component: coefficients, then the bits before and after.
[[nodiscard]] jpeg_scan_info scan_of(int component, int first, int last, int high, int low);

[[nodiscard]] jpeg_scan_info scan_of_all(int high, int low);

[[nodiscard]] ScanScript spectral_selection();

// Bit by bit, as deep as libjpeg allows.
[[nodiscard]] ScanScript deep_approximation();

// Bands of the first approximation that later ones cross.
[[nodiscard]] ScanScript crossing_bands();

[[nodiscard]] ScanScript components_apart();

// Every coefficient in a scan of its own: too many decoders at a time.
[[nodiscard]] ScanScript endless();

// Without the last bits, which libjpeg makes up for by smoothing.
[[nodiscard]] ScanScript incomplete();

// For sequential files: all coefficients of one component, and of two, which are in order.
[[nodiscard]] jpeg_scan_info whole_scan_of(int component);
[[nodiscard]] jpeg_scan_info whole_scan_of(int first, int second);

// A textured picture.
[[nodiscard]] Bytes encode_textured(const JpegRecipe& recipe, int width, int height,
                                    int channels = 3);

}  // namespace gpufilter::test
