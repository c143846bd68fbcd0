// Properties of a file that libheif does not report before decoding.
#pragma once

#include <cstdint>
#include <span>

namespace gpufilter {

// Whether the primary picture of a HEIC or AVIF file has no colours: the configuration of its coded
// picture, or of the first of its tiles, says so. False if the file is damaged.
[[nodiscard]] bool is_grey_heif(std::span<const std::uint8_t> file);

// Whether the pictures of a file are made of at most 65,536 parts in all, such as the tiles of a
// grid. A picture that contains itself is not: some versions of libheif decode it until they run
// out of threads or stack.
[[nodiscard]] bool has_bounded_parts(std::span<const std::uint8_t> file);

}  // namespace gpufilter
