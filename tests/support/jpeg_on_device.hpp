// JPEGs decoded by the decoder for devices, and files to decode.
#pragma once

#include "device/session.hpp"
#include "support/jpeg.hpp"

namespace gpufilter::test {

// The samples of the picture, decoded in bands of `band_rows` rows into poisoned memory; nothing if
// the device leaves it to libjpeg. Throws PictureError if the header is refused.
[[nodiscard]] std::optional<Bytes> decode_on_device(Session& session, const Bytes& jpeg,
                                                    int band_rows);

// A baseline JPEG of any size up to `max_side`, sampling, quality, restart interval and content:
// smooth, noisy, partly of one colour.
[[nodiscard]] Bytes random_jpeg(std::mt19937& random, int max_side);

}  // namespace gpufilter::test
