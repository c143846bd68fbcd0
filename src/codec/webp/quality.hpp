// The quality that a WebP was probably written with.
#pragma once

#include <cstdint>
#include <optional>
#include <span>

namespace gpufilter {

// On libwebp's scale, from the quantisers in the header of a lossy picture (RFC 6386, section 9).
// `file` is the whole file. Nothing if there is no such picture.
[[nodiscard]] std::optional<int> webp_quality(std::span<const std::uint8_t> file);

}  // namespace gpufilter
