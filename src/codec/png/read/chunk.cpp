#include "codec/png/read/chunk.hpp"

#include <algorithm>
#include <array>
#include <memory>
#include <new>
#include <utility>

#include <isa-l/crc.h>
#define ZLIB_CONST  // zlib's input is const
#include <zlib.h>

#include "base/error.hpp"
#include "base/format.hpp"
#include "codec/formats.hpp"
#include "codec/png/metadata.hpp"

namespace gpufilter {
namespace {

constexpr std::uint8_t index_version = 1;

// Limits of metadata: bytes of one chunk, bytes of all chunks together, number of chunks.
constexpr std::size_t max_chunk_bytes = std::size_t{16} << 20U;
constexpr std::size_t max_metadata_bytes = std::size_t{32} << 20U;
constexpr std::size_t max_chunks = 1000;

constexpr std::uint32_t animation_size = 8;  // of acTL, which begins with the number of frames

constexpr std::size_t max_listed = 5;  // skipped chunks that the warning names

bool is_letter(char c) {
  return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

// The checksum at the end of a chunk covers its type and data.
std::uint32_t checksum_of(std::string_view type) {
  return crc32_gzip_refl(0, as_bytes(type).data(), type.size());
}

// Reads the ancillary chunks between the pixels and the end.
void read_late_chunks(ByteSource& source, PngAncillary& ancillary) {
  constexpr std::uint64_t signature_bytes = 8;
  constexpr std::uint64_t checksum_bytes = 4;
  source.skip(signature_bytes);
  std::array<std::uint8_t, 8> head{};  // length and type
  bool after_pixels = false;
  while (source.read(head) == head.size()) {
    const std::string_view type = as_text(std::span(head).subspan(4));
    const std::uint32_t length = get_u32(head);
    if (type == "IEND") return;
    after_pixels = after_pixels || type == "IDAT";
    if (after_pixels && is_ancillary(type)) {
      ancillary.read(type, length, source);
    } else {
      source.skip(length + checksum_bytes);
    }
  }
}

// The number of rows in each IDAT chunk. Nothing if the data is of another version or damaged. The
// number may be wrong: files are not trusted.
std::optional<std::uint32_t> parse_png_index(std::span<const std::uint8_t> data) {
  if (data.size() != png_index_size || data[0] != index_version) return std::nullopt;
  const std::uint32_t rows = get_u32(data.subspan(1));
  if (rows == 0) return std::nullopt;
  return rows;
}

}  // namespace

std::optional<Bytes> zlib_inflate(std::span<const std::uint8_t> compressed, std::size_t& budget) {
  z_stream stream{};
  stream.next_in = compressed.data();
  stream.avail_in = static_cast<uInt>(compressed.size());
  if (inflateInit(&stream) != Z_OK) throw std::bad_alloc();
  const std::unique_ptr<z_stream, int (*)(z_stream*)> owner(&stream, inflateEnd);
  std::array<std::uint8_t, 16384> piece{};
  Bytes plain;
  for (int result = Z_OK; result != Z_STREAM_END;) {
    stream.next_out = piece.data();
    stream.avail_out = static_cast<uInt>(piece.size());
    result = inflate(&stream, Z_NO_FLUSH);
    const std::size_t count = piece.size() - stream.avail_out;
    if ((result != Z_OK && result != Z_STREAM_END) || count > budget) return std::nullopt;
    budget -= count;
    plain.insert(plain.end(), piece.begin(), piece.begin() + static_cast<std::ptrdiff_t>(count));
  }
  return plain;
}

Bytes zlib_deflate(std::span<const std::uint8_t> plain) {
  uLongf size = compressBound(plain.size());
  Bytes compressed(size);
  if (compress2(compressed.data(), &size, plain.data(), plain.size(), Z_BEST_COMPRESSION) != Z_OK) {
    throw std::bad_alloc();
  }
  compressed.resize(size);
  return compressed;
}

Bytes make_png_index(std::uint32_t rows_a_piece) {
  Bytes data{index_version};
  put_number(data, rows_a_piece, 4);
  return data;
}

bool is_ancillary(std::string_view type) {
  return type.at(0) >= 'a' && type.at(0) <= 'z' && type != "tRNS";
}

void SkippedChunks::add(std::string_view type, std::string_view reason) {
  ++count_;
  const std::string entry = formatted("{} ({})", type, reason);
  if (entries_.size() < max_listed && std::ranges::find(entries_, entry) == entries_.end()) {
    entries_.push_back(entry);
  }
}

std::string SkippedChunks::list() const {
  std::string text;
  for (const std::string& entry : entries_)
    text += (text.empty() ? "" : ", ") + entry;
  if (count_ > entries_.size()) text += formatted(", {} more", count_ - entries_.size());
  return text;
}

bool PngAncillary::fits(std::uint32_t length) {
  if (length > max_chunk_bytes || chunk_bytes_ + length > max_metadata_bytes ||
      chunk_count_ == max_chunks) {
    return false;
  }
  chunk_bytes_ += length;
  ++chunk_count_;
  return true;
}

void PngAncillary::read(std::string_view type, std::uint32_t length, ByteSource& source) {
  if (!std::ranges::all_of(type, is_letter) || length > longest_chunk) {
    throw PictureError(source.name(), "damaged PNG: no chunk follows where one should");
  }
  const bool is_metadata = is_metadata_chunk(type);
  const bool is_index = type == png_index_type && length == png_index_size && !rows_a_piece_;
  const bool is_animation = type == "acTL" && length == animation_size;
  const bool keep = is_index || is_animation || (is_metadata && fits(length));
  PngChunk chunk{std::string(type), {}};
  std::uint32_t checksum = checksum_of(type);
  std::uint32_t as_transparency = checksum_of("tRNS");
  // Read in pieces, because the length may be larger than the rest of the file.
  std::array<std::uint8_t, 16384> piece{};
  for (std::size_t left = length; left > 0;) {
    const auto part = std::span(piece).first(std::min(left, piece.size()));
    read_all(source, part);
    checksum = crc32_gzip_refl(checksum, part.data(), part.size());
    as_transparency = crc32_gzip_refl(as_transparency, part.data(), part.size());
    if (keep) chunk.data.insert(chunk.data.end(), part.begin(), part.end());
    left -= part.size();
  }
  std::array<std::uint8_t, 4> stored{};
  read_all(source, stored);
  if (get_u32(stored) == checksum) {
    if (is_index) {
      rows_a_piece_ = parse_png_index(chunk.data);
    } else if (is_animation) {
      frames_ = get_u32(chunk.data);
    } else if (type == "fcTL") {
      picture_is_frame_ = true;
    } else if (keep) {
      chunks_.push_back(std::move(chunk));
    }
    if (is_metadata && !keep) skipped_.add(type, "too much metadata");
    return;
  }
  // tRNS with a damaged name: without it the picture would lose its transparency.
  if (get_u32(stored) == as_transparency) {
    throw PictureError(source.name(), "damaged PNG: tRNS: CRC error");
  }
  skipped_.add(type, "CRC error");
}

std::vector<PngChunk> PngAncillary::take_chunks() {
  return std::exchange(chunks_, {});
}

Metadata read_late_png_metadata(ByteSource& source) {
  PngAncillary ancillary;
  try {
    read_late_chunks(source, ancillary);
  } catch (const PictureError&) {
    // The reader of the whole picture reports the error.
  }
  return metadata_from_chunks(ancillary.take_chunks(), PngPlace::after_pixels, source.name(),
                              ancillary.skipped());
}

}  // namespace gpufilter
