// Picture formats that are recognised, but not read.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace gpufilter {

// The extension of the file's name, with the dot and in lower case; empty if it has none.
[[nodiscard]] std::string extension_of(const std::string& path);

// Whether `head` begins with `signature`, in which '?' is any byte.
[[nodiscard]] bool begins_with(std::span<const std::uint8_t> head, std::string_view signature);

// The name of the format whose extension `path` has, ignoring case: "GIF", "camera RAW"; empty if
// there is none. A format of codec_table.hpp under an extension that its codec does not have is
// "JPEG not named .jpg".
[[nodiscard]] std::string other_format_of_name(const std::string& path);

// The format of a file that begins with `head`, of which `recognition_size()` bytes are enough for
// this and for codec_of_content(). Formats of text (SVG, XPM) and those without a signature (TGA)
// are known by their extensions alone.
[[nodiscard]] std::string other_format_of_content(std::span<const std::uint8_t> head);
[[nodiscard]] std::size_t recognition_size();

// What to do about `format`, one of those names, if the program could read it but was built without
// its library; otherwise empty.
[[nodiscard]] std::string missing_format(const std::string& format);

// Why a file that begins with `head`, which no codec reads, fails: "not a PNG or JPEG picture",
// "GIF is not supported", "the file is empty".
[[nodiscard]] std::string no_picture(std::span<const std::uint8_t> head);

}  // namespace gpufilter
