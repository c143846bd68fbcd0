// How JPEG files are written: their settings, which libjpeg and this program hold in different
// structs, their strips, and coefficients that are only cropped and turned.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "codec/byte_sink.hpp"
#include "codec/codec.hpp"
#include "codec/jpeg/library.hpp"
#include "codec/jpeg/metadata.hpp"
#include "codec/jpeg/read/decompressor.hpp"
#include "image/color.hpp"
#include "image/jpeg_coding.hpp"
#include "image/placement.hpp"
#include "image/rows.hpp"

namespace gpufilter {

// How many samples of luma there are for one of chroma, along rows and along columns.
struct ChromaSubsampling {
  int horizontal = 1;
  int vertical = 1;

  friend bool operator==(const ChromaSubsampling&, const ChromaSubsampling&) = default;
};

// In the usual notation: "4:4:4", "4:2:2", "4:2:0", "4:4:0", "4:1:1"; "3x1" if it has no name.
[[nodiscard]] std::string chroma_notation(const ChromaSubsampling& subsampling);

// The divisors for the coefficients of an 8x8 block, row by row, 1 to 255 as in baseline JPEG.
using QuantizationTable = std::array<std::uint8_t, 64>;

struct JpegQuantization {
  std::array<QuantizationTable, 3> tables{};  // of Y, Cb and Cr; for grey all the same
  int quality = 0;        // the one for which libjpeg makes these tables, or the nearest
  bool standard = false;  // whether libjpeg makes exactly these tables for `quality`

  friend bool operator==(const JpegQuantization&, const JpegQuantization&) = default;
};

// The settings of a JPEG file. A member is absent if a new file cannot have the same.
struct JpegEncoding final : StoredSettings {
  std::optional<JpegQuantization> quantization;
  std::optional<ChromaSubsampling> subsampling;
  JpegMetadataLayout metadata_layout;

  [[nodiscard]] std::vector<std::string> private_metadata() const override;
  [[nodiscard]] std::string coding() const override;
};

// A table of Huffman codes of libjpeg in our own form.
[[nodiscard]] JpegHuffmanTable table_of(const JHUFF_TBL& from);

// The encoding of the file that the header was read from; nullptr if that is not a JPEG.
[[nodiscard]] const JpegEncoding* stored_jpeg_encoding(const PictureHeader& header);

// How a JPEG is written.
struct JpegSettings {
  JpegQuantization quantization;  // if `standard`, its tables are not needed
  std::string quantization_reason;
  std::optional<ChromaSubsampling> subsampling;  // absent for grey
  std::string subsampling_reason;
  bool progressive = false;
};

// For reports: "quality 90 (requested), 4:2:0 (kept from the input)"; if libjpeg makes the tables
// for no quality: "own tables, about quality 92 (kept from the input)".
[[nodiscard]] EncodingNotes notes_on(const JpegSettings& settings);

// Chooses settings from what the user requested and from `input`, which is nullptr if it is not a
// JPEG. Settings that the user did not request are kept from the input: then the picture loses no
// more quality, and no bytes are spent on lost detail. If libjpeg makes the input's tables for no
// quality, the tables themselves are kept (like Pillow's quality="keep"): tables of an estimated
// quality would coarsen some frequencies and refine others. Without a JPEG input the quality is 90,
// and chroma is 4:2:0 below quality 90 and 4:4:4 from 90 on, as in libvips.
[[nodiscard]] JpegSettings choose_jpeg_settings(const JpegEncoding* input, bool is_grey,
                                                std::optional<int> quality,
                                                std::optional<ChromaSubsampling> subsampling);

// The settings of a file whose header has been read.
[[nodiscard]] std::shared_ptr<const JpegEncoding> read_jpeg_encoding(
    const jpeg_decompress_struct& jpeg, JpegErrors& errors);

// The picture to write, and the settings of the file.
struct JpegPicture {
  ImageSize size;
  PixelFormat format;  // of the rows to be written: any depth, with or without alpha
  Color background;    // behind alpha
  JpegSettings settings;
};

// Creates `jpeg` for rows of 8 bits without alpha, up to jpeg_start_compress(). Calls libjpeg, so
// only within JpegErrors::run().
void create_compressor(jpeg_compress_struct& jpeg, const JpegPicture& picture);

[[nodiscard]] McuGrid mcu_grid(const JpegPicture& picture);

// Bytes of the coefficients that libjpeg holds while it writes a progressive file.
[[nodiscard]] std::uint64_t coefficient_bytes(const JpegPicture& picture);

[[nodiscard]] JpegPicture jpeg_picture(const PictureHeader& header, const WriteOptions& options);

// Rows of MCUs between two restart markers of its file; 0: there are none.
[[nodiscard]] int restart_rows(const JpegPicture& picture, const WriteOptions& options);

// See Codec::coding.
[[nodiscard]] std::optional<JpegCoding> jpeg_coding(const PictureHeader& header,
                                                    const WriteOptions& options);

// libjpeg's destination manager for a ByteSink.
class JpegOutput : public jpeg_destination_mgr {
 public:
  JpegOutput(ByteSink& sink, JpegErrors& errors);

  // Writes the rest of the buffer. Call only within JpegErrors::run().
  void flush();

 private:
  static JpegOutput& of(j_compress_ptr jpeg) { return *static_cast<JpegOutput*>(jpeg->dest); }
  void rewind();
  void write(std::size_t count);

  ByteSink& sink_;
  JpegErrors& errors_;
  std::vector<JOCTET> buffer_;
};

// How many rows of MCUs each strip of a picture has, except the last one, which may have fewer; 0
// if the picture is too small to be divided. It depends only on size and subsampling. A strip costs
// at most 10 bytes (the marker, bits up to a whole byte, three coefficients that refer to nothing)
// and has 256 Ki pixels, which take 3 KB even in a single colour. So strips cost at most 0.3 %,
// including the segment that announces the markers.
[[nodiscard]] int mcu_rows_a_strip(const McuGrid& grid);

// Whether the coefficients are in the range of 8-bit samples; Huffman tables have no codes for
// larger ones.
[[nodiscard]] bool are_in_range(std::span<const JBLOCK> blocks);

// The coefficients of one JPEG, to be written as another. All of it outlives the writer.
struct JpegMove {
  const Decompressor& source;
  Placement placement;
  // The rows of blocks of each component; needed when the writer finishes.
  const std::vector<std::vector<JBLOCKROW>>& rows;
};

// As StoredPicture::create() says. The bytes do not depend on the number of threads.
[[nodiscard]] std::unique_ptr<RowWriter> create_moved_jpeg(ByteSink& sink,
                                                           const PictureHeader& header,
                                                           const WriteOptions& options,
                                                           const JpegMove& move);

}  // namespace gpufilter
