// Text with keywords, as PNG has it, in the two forms that JPEG has: comments and XMP.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "image/metadata.hpp"

namespace gpufilter {

// The keyword of a JPEG's comments.
inline constexpr std::string_view comment_keyword = "Comment";

struct JpegText {
  std::string xmp;                    // a packet; empty if there is nothing for it
  std::vector<std::string> comments;  // each for a segment of its own
  std::vector<std::string> left_out;  // names of texts that are too long
};

// "Comment" becomes a comment. PNG's keywords that XMP has a property for (Title, Author,
// Description, Copyright, Source, Software, and Creation Time if it is a date in XMP's form) become
// that property, unless the picture `has_xmp`, which stays as it is. All others become comments
// with the keyword before the text: "Warning: not for sale".
[[nodiscard]] JpegText jpeg_text(const std::vector<TextEntry>& text, bool has_xmp);

}  // namespace gpufilter
