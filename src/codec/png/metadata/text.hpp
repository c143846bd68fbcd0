// Text in PNG files: tEXt and zTXt in Latin-1, iTXt in UTF-8.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "codec/png/read/chunk.hpp"

namespace gpufilter {

// `keyword` (UTF-8) as PNG takes it: 1 to 79 printable Latin-1 characters; else nothing.
[[nodiscard]] std::optional<std::string> png_keyword(std::string_view keyword);

// The text of a tEXt, zTXt or iTXt chunk. Nothing if the chunk is damaged or if its text exceeds
// `budget`, in bytes. The size of inflated text is subtracted from the budget.
[[nodiscard]] std::optional<TextEntry> parse_text(const PngChunk& chunk, std::size_t& budget);

// The chunk for `entry`: tEXt or zTXt if its characters are Latin-1, otherwise iTXt. It is
// compressed if the text is long or was compressed in the input file. Nothing if PNG cannot hold
// the keyword.
[[nodiscard]] std::optional<PngChunk> make_text(const TextEntry& entry);

// XMP travels as an iTXt chunk. Its standard wants it plain, so that tools find it without
// inflating; a file that has it compressed keeps it so.
inline constexpr std::string_view xmp_keyword = "XML:com.adobe.xmp";
[[nodiscard]] PngChunk make_xmp(std::span<const std::uint8_t> packet, bool compressed);

}  // namespace gpufilter
