// Metadata as PNG's ancillary chunks, both ways. libpng has no part in it: some of its versions
// change or refuse what they find in these chunks, and metadata is to be carried as it is.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "codec/left_out.hpp"
#include "codec/png/ancillary.hpp"
#include "codec/png/chunk.hpp"
#include "image/metadata.hpp"
#include "image/pixel_format.hpp"

namespace gpufilter {

// Where chunks stand in the file: after the pixels only text, XMP and EXIF mean anything.
enum class PngPlace { before_pixels, after_pixels };

// The chunks that metadata_from_chunks() understands.
[[nodiscard]] bool is_metadata_chunk(std::string_view type);

// What `chunks`, in the order of the file, say. Damaged ones are added to `skipped`. Those that
// mean nothing where they stand (a second gAMA, a density of 0) are left out with a debug line in
// the log; `name` is the file's.
[[nodiscard]] Metadata metadata_from_chunks(std::span<const PngChunk> chunks, PngPlace place,
                                            const std::string& name, SkippedChunks& skipped);

// The chunks that say `metadata` about a picture of `format`, in the order in which they are to
// stand. What PNG cannot hold is added to `left_out`: a profile of another colour space, text whose
// keyword is none.
[[nodiscard]] std::vector<PngChunk> chunks_from_metadata(const Metadata& metadata, PngPlace place,
                                                         const PixelFormat& format,
                                                         LeftOut& left_out);

}  // namespace gpufilter
