// How the pictures of a HEIC or AVIF file make the one that it shows.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "codec/heif/items.hpp"
#include "codec/read_limits.hpp"
#include "image/placement.hpp"
#include "image/rows.hpp"

namespace gpufilter {

// What the headers of a picture's bit stream say. The decoder follows them, whatever the boxes say.
struct CodedHeader {
  ImageSize size;
  int depth = 8;
  bool is_grey = false;
  // AV1's of 0 to 255, HEVC's of 0 to 51; nothing if the headers are of a rare kind.
  std::optional<int> quantiser;
  bool may_be_lossless = false;  // as far as the samples of the stream are concerned
};

// From a decoder's configuration ("av1C", "hvcC") and the picture's data. Nothing if neither has
// the headers.
[[nodiscard]] std::optional<CodedHeader> av1_header(ByteSpan configuration, ByteSpan data);
[[nodiscard]] std::optional<CodedHeader> hevc_header(ByteSpan configuration, ByteSpan data);

struct HeifPicture;
using HeifPicturePointer = std::shared_ptr<const HeifPicture>;

struct HeifPicture {
  const HeifItem* item = nullptr;
  ImageSize stored;     // as it is decoded or put together
  Placement placement;  // of the picture in that
  int depth = 8;        // the largest of its parts
  bool is_grey = false;
  bool has_alpha = false;
  std::uint64_t pictures = 1;      // that are decoded or put together for it
  std::uint64_t largest = 0;       // pixels of one of those
  std::uint64_t coded_pixels = 0;  // that are decoded for it
  HeifPicturePointer alpha;
  // The header of a coded picture.
  CodedHeader header;
  // The parts of a derived picture: what it is made of, where each part begins, and the ground of
  // an overlay, whose samples have 16 bits.
  std::vector<HeifPicturePointer> parts;
  std::vector<PixelPosition> positions;
  std::array<std::uint16_t, 3> ground{};

  [[nodiscard]] ImageSize size() const { return placement.result_size(); }
};

// The primary picture. All of its parts are there, none contains itself, and it has at most 65,536
// of them. Throws PictureError; `format` is the file's in messages, `name` its name.
[[nodiscard]] HeifPicturePointer heif_picture(const HeifItems& items, const std::string& name,
                                              const std::string& format, const ReadLimits& limits);

// The content of the "colr" box that has code points; empty if there is none.
[[nodiscard]] ByteSpan code_points_of(const HeifItem& item);

}  // namespace gpufilter
