// TIFF by libtiff.
#pragma once

#include <memory>

#include "codec/codec_table.hpp"

namespace gpufilter {

// The entry for TIFF in the table of codecs, and its option.
[[nodiscard]] const Codec& tiff_codec();
[[nodiscard]] const WriteOption& tiff_compression_option();

// The first page of classic and big TIFF files: grey, palettes, RGB, CMYK, Lab and YCbCr, of whole
// and floating-point numbers, in strips and tiles, with every compression of the installed libtiff.
// A file is read where its rows are, so a pipe is copied to a temporary file first. Rows are
// streamed; of tiles and of separate planes, a row of blocks is held in memory.
[[nodiscard]] std::unique_ptr<RowReader> open_tiff(std::unique_ptr<ByteSource> source,
                                                   const ReadLimits& limits);

// As create_picture(): strips, compressed as tiff_compression_option() says. They are collected in
// a temporary file, because the bytes of a TIFF are not written front to back.
[[nodiscard]] std::unique_ptr<RowWriter> create_tiff(ByteSink& sink, const PictureHeader& header,
                                                     const WriteOptions& options);

}  // namespace gpufilter
