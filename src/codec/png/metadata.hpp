// Converts metadata from and to PNG's ancillary chunks, without libpng: some of its versions change
// or refuse the contents of these chunks, and metadata has to be carried unchanged.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec/png/read/chunk.hpp"
#include "codec/unread.hpp"
#include "image/metadata.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

// Moves EXIF, XMP, IPTC and an ICC profile from texts that ImageMagick and ExifTool store, with a
// keyword such as "Raw profile type iptc" and hexadecimal digits, to their own fields. A text stays
// if it is damaged, or if `metadata` already has that field.
void take_raw_profiles(Metadata& metadata);

// The text that holds `resources`, Photoshop's image resources with IPTC.
[[nodiscard]] TextEntry raw_profile_of(const Bytes& resources);

// Whether chunks come before or after the pixels. After them only text, XMP and EXIF are valid.
enum class PngPlace { before_pixels, after_pixels };

// The chunks that metadata_from_chunks() understands.
[[nodiscard]] bool is_metadata_chunk(std::string_view type);

// The metadata in `chunks`, which are in the order of the file. Damaged chunks are added to
// `skipped`. Chunks without effect (a second gAMA, a density of 0) are ignored, with a line in the
// debug log; `name` is the file's.
[[nodiscard]] Metadata metadata_from_chunks(std::span<const PngChunk> chunks, PngPlace place,
                                            const std::string& name, SkippedChunks& skipped);

// The chunks that hold `metadata` for a picture of `format`, in the order of the file. Metadata
// that PNG cannot hold are added to `left_out`: a profile of another colour space, text with an
// invalid keyword.
[[nodiscard]] std::vector<PngChunk> chunks_from_metadata(const Metadata& metadata, PngPlace place,
                                                         const PixelFormat& format,
                                                         LeftOut& left_out);

}  // namespace gpufilter
