// The rows of the table of formats with their own options, and their readers and writers, which
// work as open_picture() and create_picture() say. A format's folder has the code.
#pragma once

#include <memory>

#include "codec/codec_table.hpp"

namespace gpufilter {

// PNG. libpng reads all but the pixels, and the pixels of uncommon files. The level is 0 (fastest)
// to 9 (smallest).
[[nodiscard]] const Codec& png_codec();
[[nodiscard]] const WriteOption& png_level_option();

// Who decodes the pixels. automatic: this program if it can, with several threads for large files
// that have an index, otherwise libpng. pieces: likewise, but with several threads for small files
// too, which is slower. libpng: always libpng.
enum class PngDecoder { automatic, libpng, pieces };

// The signature is the next thing in `source`. A picture that is not interlaced is streamed; an
// interlaced one is decoded into memory at the first read(). Both decoders accept the same files
// and yield the same samples.
[[nodiscard]] std::unique_ptr<RowReader> open_png(std::unique_ptr<ByteSource> source,
                                                  const ReadLimits& limits,
                                                  PngDecoder decoder = PngDecoder::automatic);

// For Codec::read_late_metadata. The signature is the next thing in `source`.
[[nodiscard]] Metadata read_late_png_metadata(ByteSource& source);

// The bytes depend on the picture and the options alone, not on how rows are passed.
[[nodiscard]] std::unique_ptr<RowWriter> create_png(ByteSink& sink, const PictureHeader& header,
                                                    const WriteOptions& options);

// JPEG through libjpeg-turbo; choose_jpeg_settings() in jpeg/write/encoding.hpp has its options.
[[nodiscard]] const Codec& jpeg_codec();
[[nodiscard]] const WriteOption& jpeg_subsampling_option();
[[nodiscard]] const WriteOption& jpeg_restart_option();
[[nodiscard]] const WriteOption& jpeg_progressive_option();

// Baseline and progressive JPEG of 8 bits: grey files yield grey, all others (YCbCr, RGB, CMYK,
// YCCK) RGB. A truncated or damaged file, for which libjpeg would make up pixels, is refused, at
// the latest by finish().
[[nodiscard]] std::unique_ptr<RowReader> open_jpeg(std::unique_ptr<ByteSource> source,
                                                   const ReadLimits& limits);

// Baseline or progressive JPEG, grey or YCbCr. All threads encode a baseline file of several strips
// (jpeg/write/writer.cpp), with restart markers between the strips, unless jpeg_restart_option() is
// off.
[[nodiscard]] std::unique_ptr<RowWriter> create_jpeg(ByteSink& sink, const PictureHeader& header,
                                                     const WriteOptions& options);

// Netpbm, by our own code. PPM holds colours, PGM grey, PNM ("any map") either: it is written as
// whichever the picture needs, and bitmaps (PBM) are read as PNM. PAM holds alpha too. Binary and
// plain files of any maximum are read: 255 and 65535 are samples as stored, others are scaled to
// the next of the two, (v * max + maxval / 2) / maxval. Files are written binary, with a maximum of
// 255 or 65535.
[[nodiscard]] const Codec& ppm_codec();
[[nodiscard]] const Codec& pgm_codec();
[[nodiscard]] const Codec& pnm_codec();
[[nodiscard]] const Codec& pam_codec();
// PFM, grey or RGB of floats. Either byte order is read; the magnitude of the scale is ignored, as
// samples are taken as stored. Rows lie in the file from the bottom up, so a pipe is copied to a
// temporary file first, and a picture that is written is held in memory as a whole.
[[nodiscard]] const Codec& pfm_codec();

// TIFF by libtiff. The first page of classic and big files is read: grey, palettes, RGB, CMYK, Lab
// and YCbCr, of whole and floating-point numbers, in strips and tiles, with every compression of
// the installed libtiff. Rows are read wherever they lie in the file, so a pipe is copied to a
// temporary file first. Rows are streamed; of tiles and of separate planes, a row of blocks is held
// in memory.
[[nodiscard]] const Codec& tiff_codec();
[[nodiscard]] const WriteOption& tiff_compression_option();
[[nodiscard]] std::unique_ptr<RowReader> open_tiff(std::unique_ptr<ByteSource> source,
                                                   const ReadLimits& limits);
// Strips, compressed as tiff_compression_option() says. They are collected in a temporary file,
// because the bytes of a TIFF are not written front to back.
[[nodiscard]] std::unique_ptr<RowWriter> create_tiff(ByteSink& sink, const PictureHeader& header,
                                                     const WriteOptions& options);

// WebP by libwebp. Files yield RGB or RGBA of 8 bits, of an animation the first frame. A file and
// its pixels are held in memory as a whole, and so are the pixels of a file that is written.
[[nodiscard]] const Codec& webp_codec();

// JPEG XL by libjxl. Files yield grey or RGB, with or without alpha. Up to 8 bits become samples of
// 8 bits, more and floating point samples of 16: (v * 65535 + max / 2) / max for v in 0..max. The
// orientation becomes EXIF's. A file and its pixels are held in memory as a whole, and so are the
// pixels of a file that is written; of an animation the first frame is read.
[[nodiscard]] const Codec& jxl_codec();
[[nodiscard]] const WriteOption& jxl_effort_option();

// HEIC and AVIF by libheif; they differ in compression, HEVC or AV1. The primary picture of a file
// is read, turned, mirrored and cropped as the file says: its orientation is 1. Grey or RGB, with
// or without alpha; 8 bits stay 8, more become 16: (v * 65535 + max / 2) / max for v in 0..max. The
// file and its pixels are held in memory as a whole.
[[nodiscard]] const Codec& heic_codec();
[[nodiscard]] const Codec& avif_codec();
[[nodiscard]] std::unique_ptr<RowReader> open_heif(std::unique_ptr<ByteSource> source,
                                                   const ReadLimits& limits);
// 16-bit samples get the bits of a HEIC or AVIF input, otherwise the format's maximum. The EXIF
// orientation becomes the file's. The pixels are held in memory as a whole. Throw PictureError if
// libheif has no encoder.
[[nodiscard]] std::unique_ptr<RowWriter> create_heic(ByteSink& sink, const PictureHeader& header,
                                                     const WriteOptions& options);
[[nodiscard]] std::unique_ptr<RowWriter> create_avif(ByteSink& sink, const PictureHeader& header,
                                                     const WriteOptions& options);

}  // namespace gpufilter
