#include "codec/png/read/stream.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <utility>

#include <isa-l/crc.h>

#include "base/byte_cursor.hpp"
#include "base/error.hpp"
#include "base/format.hpp"

namespace gpufilter {
namespace {

using namespace std::string_view_literals;

constexpr std::size_t chunk_at = 8;  // after the signature
constexpr std::size_t data_at = chunk_at + 8;
constexpr std::uint32_t data_size = 13;
constexpr std::uint32_t longest_side = 0x7fffffff;
constexpr int palette_color_type = 3;

bool depth_fits(int color_type, int depth) {
  const bool is_small = depth == 1 || depth == 2 || depth == 4;
  if (color_type == palette_color_type) return is_small || depth == 8;
  if (color_type == 0 && is_small) return true;
  return color_type <= 6 && color_type % 2 == 0 && (depth == 8 || depth == 16);
}

// A palette's colours are RGB.
int channels_of(int color_type) {
  return ((color_type & 2) != 0 ? 3 : 1) + ((color_type & 4) != 0 ? 1 : 0);
}

// Yields bytes that were read before, then the rest of another source.
class ReturnedSource final : public ByteSource {
 public:
  ReturnedSource(Bytes returned, std::unique_ptr<ByteSource> rest)
      : returned_(std::move(returned)), rest_(std::move(rest)) {}

  [[nodiscard]] const std::string& name() const override { return rest_->name(); }

  std::size_t read(std::span<std::uint8_t> buffer) override {
    const std::size_t count = std::min(buffer.size(), returned_.size() - position_);
    std::copy_n(returned_.data() + position_, count, buffer.data());
    position_ += count;
    return count == buffer.size() ? count : count + rest_->read(buffer.subspan(count));
  }

  std::span<const std::uint8_t> peek(std::size_t count) override {
    if (position_ == returned_.size()) return rest_->peek(count);
    if (returned_.size() - position_ < count) {
      const auto more = rest_->peek(count - (returned_.size() - position_));
      peeked_.assign(returned_.begin() + static_cast<std::ptrdiff_t>(position_), returned_.end());
      peeked_.insert(peeked_.end(), more.begin(), more.end());
      return peeked_;
    }
    return std::span<const std::uint8_t>(returned_).subspan(position_, count);
  }

 private:
  Bytes returned_;
  std::unique_ptr<ByteSource> rest_;
  std::size_t position_ = 0;
  Bytes peeked_;
};

std::string_view type_of(std::span<const std::uint8_t> chunk_head) {
  return as_text(chunk_head.subspan(4, 4));
}

// A complete IDAT chunk whose zlib stream is empty.
Bytes empty_idat() {
  Bytes chunk{0, 0, 0, 8, 'I', 'D', 'A', 'T', 0x78, 0x9c, 0x03, 0, 0, 0, 0, 1};
  put_number(chunk, crc32_gzip_refl(0, chunk.data() + 4, chunk.size() - 4), 4);
  return chunk;
}

// Replaces an ancillary chunk after the first IDAT chunk, so that libpng sees the end of the IDAT
// chunks.
Bytes empty_ancillary() {
  Bytes chunk{0, 0, 0, 0, 'g', 'a', 'P', 's'};
  put_number(chunk, crc32_gzip_refl(0, chunk.data() + 4, 4), 4);
  return chunk;
}

// Whether a zlib stream has the full window of 32 KiB and no dictionary. With a smaller window,
// zlib refuses matches that reach back farther; ISA-L ignores the window.
bool is_usual_zlib_head(std::span<const std::uint8_t> head) {
  return head.size() >= 2 && head[0] == 0x78 && (head[1] & 0x20U) == 0 &&
         (head[0] * 256U + head[1]) % 31 == 0;
}

// Reads the signature and the IHDR chunk that follows it.
PngHeader read_png_header(ByteSource& source) {
  PngHeader header;
  const auto refuse = [&source](const std::string& why) {
    throw PictureError(source.name(), "damaged PNG: " + why);
  };
  read_all(source, header.bytes);
  const std::span<const std::uint8_t> chunk = std::span(header.bytes).subspan(chunk_at);
  const auto type = chunk.subspan(4, 4);
  if (std::equal(type.begin(), type.end(), "CgBI"sv.begin())) {
    throw PictureError(source.name(),
                       "it is a PNG in Apple's own format for iPhones (CgBI): convert it with "
                       "\"pngcrush -revert-iphone-optimizations\"");
  }
  if (!std::equal(type.begin(), type.end(), "IHDR"sv.begin()))
    refuse("IHDR is not the first chunk");
  if (get_u32(chunk) != data_size) refuse("IHDR: invalid length");
  const auto checked = chunk.subspan(4, 4 + data_size);
  if (get_u32(chunk.last(4)) != crc32_gzip_refl(0, checked.data(), checked.size())) {
    refuse("IHDR: CRC error");
  }
  const std::span<const std::uint8_t> data = std::span(header.bytes).subspan(data_at, data_size);
  header.width = get_u32(data);
  header.height = get_u32(data.subspan(4));
  header.depth = data[8];
  header.color_type = data[9];
  header.interlaced = data[12] == 1;
  const auto is_side = [](std::uint32_t side) { return side > 0 && side <= longest_side; };
  if (!is_side(header.width) || !is_side(header.height)) {
    refuse(formatted("IHDR: no picture has {} x {} pixels", header.width, header.height));
  }
  if (!depth_fits(header.color_type, header.depth)) {
    refuse(formatted("IHDR: colour type {} has no samples of {} bits", header.color_type,
                     header.depth));
  }
  header.format = {channels_of(header.color_type), header.depth == 16 ? 16 : 8};
  header.file_pixels = file_pixels({channels_of(header.color_type), header.depth});
  if (header.color_type == palette_color_type) header.file_pixels = {"palette", 1, header.depth};
  if (data[10] != 0) refuse("IHDR: unknown compression method");
  if (data[11] != 0) refuse("IHDR: unknown filter method");
  if (data[12] > 1) refuse("IHDR: unknown interlace method");
  return header;
}

}  // namespace

PngStream::PngStream(std::unique_ptr<ByteSource> source, PngDecoder decoder)
    : source_(std::move(source)), decoder_(decoder), header_(read_png_header(*source_)) {
  serve(header_.bytes);
}

std::size_t PngStream::read(std::span<std::uint8_t> buffer) {
  std::size_t done = 0;
  while (done < buffer.size()) {
    const auto rest = buffer.subspan(done);
    if (served_at_ < served_.size()) {
      const std::size_t count = std::min(rest.size(), served_.size() - served_at_);
      std::memcpy(rest.data(), served_.data() + served_at_, count);
      served_at_ += count;
      done += count;
    } else if (left_ == 0) {
      if (!begin_chunk()) break;
    } else {
      const auto wanted = rest.first(std::min<std::uint64_t>(rest.size(), left_));
      const std::size_t count = source_->read(wanted);
      left_ -= count;
      done += count;
      if (count < wanted.size()) break;
    }
  }
  return done;
}

// Reads a chunk's length and type. A chunk for libpng is passed on, an ancillary chunk is read
// whole. False if the file ends.
bool PngStream::begin_chunk() {
  ChunkHead head{};
  std::size_t count = head.size();
  if (next_head_) {
    head = *std::exchange(next_head_, std::nullopt);
  } else {
    count = source_->read(head);
  }
  serve(std::span(head).first(count));
  if (count < head.size()) return count > 0;
  const std::uint32_t length = get_u32(head);
  if (is_ancillary(type_of(head))) {
    serve(has_pixels_ ? empty_ancillary() : Bytes{});
    ancillary_.read(type_of(head), length, *source_);
    return true;
  }
  left_ = std::uint64_t{length} + checksum_size;
  if (type_of(head) == "tRNS") has_transparency_ = true;
  if (type_of(head) == "IDAT" && !std::exchange(has_pixels_, true)) begin_first_idat(head);
  return true;
}

void PngStream::begin_first_idat(const ChunkHead& head) {
  const std::uint32_t length = get_u32(head);
  if (length > longest_chunk || length < 2 || !suits_pixel_reader()) return;
  keeps_pixels_ = true;
  serve(empty_idat());
  left_ = 0;
  begin_idat(head);
}

// The only function that decides which files libpng decodes: interlaced ones, palettes, less than 8
// bits, transparent colours, unusual compression. The source is at the data of the first IDAT
// chunk.
bool PngStream::suits_pixel_reader() {
  const bool plain =
      header_.depth >= 8 && header_.color_type != palette_color_type && !header_.interlaced;
  return decoder_ != PngDecoder::libpng && plain && !has_transparency_ &&
         is_usual_zlib_head(source_->peek(2));
}

void PngStream::serve(std::span<const std::uint8_t> bytes) {
  served_.assign(bytes.begin(), bytes.end());
  served_at_ = 0;
}

std::size_t PngStream::read_idat(std::span<std::uint8_t> buffer) {
  std::size_t done = 0;
  try {
    while (done < buffer.size() && in_idat_) {
      if (idat_left_ == 0) {
        end_idat();
        begin_next_idat();
        continue;
      }
      const std::size_t rest = buffer.size() - done;
      const auto part = buffer.subspan(done, std::min<std::uint64_t>(rest, idat_left_));
      const std::size_t count = take_idat_bytes(part);
      done += count;
      if (count < part.size()) throw PictureError(name(), file_ends_early);
    }
  } catch (const PictureError&) {
    note_damage();
  }
  return done;
}

// Called while an exception is handled.
void PngStream::note_damage() {
  if (!keeps_damaged_) throw;
  damage_ = std::current_exception();
  in_idat_ = false;
}

void PngStream::leave_idat() {
  if (!in_idat_) return;
  std::array<std::uint8_t, 4096> ignored{};
  while (idat_left_ > 0) {
    const auto part = std::span(ignored).first(std::min<std::uint64_t>(ignored.size(), idat_left_));
    if (take_idat_bytes(part) < part.size()) throw PictureError(name(), file_ends_early);
  }
  end_idat();
}

bool PngStream::take_idat(Bytes& bytes, std::size_t longest) {
  ChunkHead head{};
  std::size_t count = head.size();
  if (in_idat_) {
    bytes.clear();
    put_number(bytes, idat_left_, 4);
    std::copy(bytes.begin(), bytes.end(), head.begin());
    std::copy_n("IDAT", 4, head.begin() + 4);
    in_idat_ = false;
  } else {
    count = source_->read(head);
  }
  const std::size_t length = count == head.size() ? get_u32(head) : 0;
  const bool suits = count == head.size() && type_of(head) == "IDAT" && length <= longest;
  bytes.resize(suits ? head.size() + length + checksum_size : count);
  std::copy_n(head.begin(), count, bytes.begin());
  if (!suits) return false;
  const std::size_t behind = source_->read(std::span(bytes).subspan(head.size()));
  bytes.resize(head.size() + behind);
  return behind == length + checksum_size;
}

void PngStream::put_back(Bytes bytes) {
  source_ = std::make_unique<ReturnedSource>(std::move(bytes), std::move(source_));
  try {
    begin_next_idat();
  } catch (const PictureError&) {
    note_damage();
  }
}

std::size_t PngStream::take_idat_bytes(std::span<std::uint8_t> bytes) {
  const std::size_t count = source_->read(bytes);
  idat_crc_ = crc32_gzip_refl(idat_crc_, bytes.data(), count);
  idat_left_ -= count;
  return count;
}

void PngStream::end_idat() {
  std::array<std::uint8_t, checksum_size> checksum{};
  read_all(*source_, checksum);
  if (get_u32(checksum) != idat_crc_) throw PictureError(name(), "damaged PNG: IDAT: CRC error");
  in_idat_ = false;
}

// If the next chunk is of another kind, begin_chunk() continues with it.
void PngStream::begin_next_idat() {
  ChunkHead head{};
  read_all(*source_, head);
  if (type_of(head) == "IDAT" && get_u32(head) <= longest_chunk) {
    begin_idat(head);
  } else {
    next_head_ = head;
  }
}

void PngStream::begin_idat(const ChunkHead& head) {
  in_idat_ = true;
  idat_left_ = get_u32(head);
  idat_crc_ = crc32_gzip_refl(0, head.data() + 4, 4);
}

}  // namespace gpufilter
