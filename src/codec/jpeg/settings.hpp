// How a JPEG stores its pixels: what a file's settings are, and what those of a new one become.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "codec/codec.hpp"

namespace gpufilter {

// How many samples of luma stand beside one of chroma, along rows and along columns.
struct ChromaSubsampling {
  int horizontal = 1;
  int vertical = 1;

  friend bool operator==(const ChromaSubsampling&, const ChromaSubsampling&) = default;
};

// In the usual notation: "4:4:4", "4:2:2", "4:2:0", "4:4:0", "4:1:1"; "3x1" where that has no name.
[[nodiscard]] std::string chroma_notation(const ChromaSubsampling& subsampling);

// What the coefficients of an 8x8 block are divided by, row by row, 1 to 255 as in baseline JPEG.
using QuantizationTable = std::array<std::uint8_t, 64>;

struct JpegQuantization {
  std::array<QuantizationTable, 3> tables{};  // of Y, Cb and Cr; those of grey are alike
  int quality = 0;        // whose tables in libjpeg these are; else, whose are the nearest
  bool standard = false;  // whether libjpeg makes exactly these tables for `quality`

  friend bool operator==(const JpegQuantization&, const JpegQuantization&) = default;
};

// What a JPEG file holds. A member is absent where a new file cannot be made alike.
struct JpegEncoding final : StoredSettings {
  std::optional<JpegQuantization> quantization;
  std::optional<ChromaSubsampling> subsampling;
};

// Of the file that the header was read from; nullptr where that was not a JPEG.
[[nodiscard]] const JpegEncoding* stored_jpeg_encoding(const PictureHeader& header);

// How a JPEG is written.
struct JpegSettings {
  JpegQuantization quantization;  // where `standard`, its tables are not needed
  std::string quantization_reason;
  std::optional<ChromaSubsampling> subsampling;  // none: grey
  std::string subsampling_reason;
  bool progressive = false;
};

// For reports: "quality 90 (asked for), 4:2:0 (kept from the input)"; where the tables are none of
// libjpeg's: "own tables, about quality 92 (kept from the input)".
[[nodiscard]] EncodingNotes notes_on(const JpegSettings& settings);

// What a value of --subsampling asks for: "444", "422" or "420"; nothing for "auto".
[[nodiscard]] std::optional<ChromaSubsampling> chroma_option(std::string_view name);

// Decides from what was asked for and from `input`, which is nullptr where it is not a JPEG. What
// is not asked for is kept from the input: the picture then loses no more than it has lost before,
// and no bytes are spent on what is lost already. An input whose tables libjpeg makes for no
// quality passes on the tables themselves (as Pillow's quality="keep"): an estimated quality would
// coarsen some frequencies and refine others. Otherwise quality is 90 and chroma, as in libvips,
// 4:2:0 below quality 90, 4:4:4 from 90 on.
[[nodiscard]] JpegSettings choose_jpeg_settings(const JpegEncoding* input, bool is_grey,
                                                std::optional<int> quality,
                                                std::optional<ChromaSubsampling> subsampling);

}  // namespace gpufilter
