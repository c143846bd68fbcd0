#include "codec/jpeg/metadata/parts_behind.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "base/words.hpp"
#include "codec/jpeg/metadata/metadata_layout.hpp"
#include "image/tiff.hpp"
#include "image/xmp_parts.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t read_bytes_at_once = std::size_t{256} << 10U;

std::string_view marker_text(const jpeg_marker_struct& marker) {
  return {reinterpret_cast<const char*>(marker.data), marker.data_length};
}

// Of an index of pictures (MPF): how many there are besides the first; nothing if it is damaged.
// Previews do not count: they show the same picture, as a thumbnail does.
std::optional<int> further_pictures(std::string_view index) {
  constexpr std::uint32_t entries_tag = 0xB002;
  constexpr std::size_t entry_bytes = 16;
  constexpr std::uint32_t preview = 1;  // in the third byte of the attributes
  const Bytes bytes(index.begin(), index.end());
  const Tiff tiff(bytes);
  const auto entries =
      tiff.is_valid() ? tiff.find(tiff.first_directory(), entries_tag) : std::nullopt;
  if (!entries) return std::nullopt;
  int count = 0;
  for (std::size_t at = entries->value.begin + entry_bytes; at + entry_bytes <= entries->value.end;
       at += entry_bytes) {
    const std::uint32_t attributes = tiff.number(at, 4).value_or(0);
    if ((attributes >> 16U & 0xFFU) != preview) ++count;
  }
  return count;
}

// Bytes of a file, read in pieces.
class Cursor {
 public:
  Cursor(ByteSource& source, std::uint64_t at)
      : source_(source), at_(at), buffer_(read_bytes_at_once) {}

  [[nodiscard]] std::uint64_t position() const { return at_ - (filled_ - next_); }
  [[nodiscard]] std::optional<std::uint8_t> next() {
    if (next_ == filled_ && !fill()) return std::nullopt;
    return buffer_[next_++];
  }
  // Behind the next byte 255.
  [[nodiscard]] bool find_marker() {
    for (;;) {
      const auto begin = buffer_.begin() + static_cast<std::ptrdiff_t>(next_);
      const auto end = buffer_.begin() + static_cast<std::ptrdiff_t>(filled_);
      const auto found = std::find(begin, end, 0xFF);
      next_ += static_cast<std::size_t>(found - begin);
      if (found != end) return next().has_value();
      if (!fill()) return false;
    }
  }
  void skip(std::uint64_t count) {
    at_ = position() + count;
    next_ = filled_ = 0;
  }

 private:
  bool fill() {
    filled_ = source_.read_at(at_, buffer_);
    at_ += filled_;
    next_ = 0;
    return filled_ > 0;
  }

  ByteSource& source_;
  std::uint64_t at_;  // behind the buffer
  std::vector<std::uint8_t> buffer_;
  std::size_t next_ = 0;
  std::size_t filled_ = 0;
};

}  // namespace

AnnouncedParts announced_parts(const jpeg_decompress_struct& jpeg, Bytes& xmp) {
  const std::size_t before = xmp.size();
  const XmpParts named = remove_announced_parts(xmp);
  AnnouncedParts parts{xmp.size() < before, named.gain_map, named.depth_map, std::nullopt};
  for (const jpeg_marker_struct* marker = jpeg.marker_list; marker != nullptr;
       marker = marker->next) {
    if (!announces_parts(marker->marker, marker_text(*marker))) continue;
    parts.any = true;
    if (const auto index = picture_index(marker_text(*marker))) {
      parts.pictures = further_pictures(*index);
    } else {
      parts.gain_map = true;
    }
  }
  return parts;
}

bool may_hold_more(ByteSource& source) {
  std::array<std::uint8_t, 64> last{};
  const std::uint64_t size = *source.size();
  const std::uint64_t begin = size - std::min<std::uint64_t>(size, last.size());
  const std::size_t count = source.read_at(begin, last);
  const auto end = std::find_if(last.rbegin() + static_cast<std::ptrdiff_t>(last.size() - count),
                                last.rend(), [](std::uint8_t byte) { return byte != 0; });
  return last.rend() - end < 2 || end[0] != 0xD9 || end[1] != 0xFF;
}

std::optional<std::uint64_t> end_of_jpeg(ByteSource& source, std::uint64_t scan) {
  Cursor cursor(source, scan);
  while (cursor.find_marker()) {
    auto code = cursor.next();
    while (code == 0xFF)
      code = cursor.next();
    if (!code) return std::nullopt;
    if (*code == 0xD9) return cursor.position();
    if (*code == 0 || (*code >= 0xD0 && *code <= 0xD7)) continue;
    const auto high = cursor.next();
    const auto low = cursor.next();
    if (!high || !low) return std::nullopt;
    const unsigned length = *high * 256U + *low;
    cursor.skip(std::max(length, 2U) - 2);
  }
  return std::nullopt;
}

BytesBehind bytes_from(ByteSource& source, std::uint64_t begin) {
  BytesBehind behind;
  std::vector<std::uint8_t> piece(read_bytes_at_once);
  for (std::size_t got = piece.size(); got == piece.size(); begin += got) {
    got = source.read_at(begin, piece);
    behind.add(std::span(piece).first(got));
  }
  return behind;
}

std::vector<std::string> names_of_parts(const AnnouncedParts& announced,
                                        const BytesBehind& behind) {
  if (!behind.any()) return {};
  std::vector<std::string> names;
  int pictures = announced.pictures.value_or(behind.begins_jpeg() ? 1 : 0);
  const auto take = [&](bool is_there, const char* name) {
    if (!is_there || pictures == 0) return;
    names.emplace_back(name);
    --pictures;
  };
  take(announced.gain_map, "a gain map");
  take(announced.depth_map, "a depth map");
  if (pictures > 0) names.push_back(counted(static_cast<std::uint64_t>(pictures), "more picture"));
  if (behind.holds_film()) names.emplace_back(film_behind);
  const bool has_previews = announced.pictures && behind.begins_jpeg();
  if (names.empty() && !has_previews) names.emplace_back(data_behind);
  return names;
}

}  // namespace gpufilter
