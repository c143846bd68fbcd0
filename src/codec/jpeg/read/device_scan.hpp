// Hands a JPEG over to decoders on devices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "codec/jpeg/library.hpp"
#include "image/jpeg_scan.hpp"

namespace gpufilter {

// The scan of a picture whose header has been read, without its bytes: if it is the only one of a
// baseline file, and of a kind whose samples do not depend on the version of libjpeg.
[[nodiscard]] std::optional<JpegScan> device_scan(const jpeg_decompress_struct& jpeg);

// The length of the scan's data if they contain no marker but restart markers, and if the end
// marker follows them; otherwise 0.
[[nodiscard]] std::size_t plain_scan_bytes(std::span<const std::uint8_t> bytes);

}  // namespace gpufilter
