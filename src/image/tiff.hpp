// The structure of TIFF (TIFF 6.0, section 2), which EXIF uses: directories of entries that may
// point anywhere. No access leaves the bytes, whatever offsets they contain.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "base/byte_cursor.hpp"

namespace gpufilter {

// The bytes from `begin` to before `end`.
struct ByteRange {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
  friend auto operator<=>(const ByteRange&, const ByteRange&) = default;
};

// Bytes of a value of each type; 0: unknown type. Types from 16 on are BigTIFF's.
[[nodiscard]] std::uint64_t tiff_type_bytes(std::uint32_t type);

// The byte order, read from the first bytes of a structure.
[[nodiscard]] inline ByteOrder tiff_byte_order(ByteSpan bytes) {
  return !bytes.empty() && bytes[0] == 'I' ? ByteOrder::little : ByteOrder::big;
}

// Reads at an offset, fewer bytes only at the end.
using TiffReadAt = std::function<std::size_t(std::uint64_t offset, std::span<std::uint8_t>)>;

struct TiffEntry {
  std::uint32_t tag = 0;
  std::uint32_t type = 0;
  std::uint64_t count = 0;
  std::uint64_t place = 0;  // where the entry begins
  ByteRange value;          // empty if the type is unknown or the value is not within the bytes
};

class Tiff {
 public:
  static constexpr std::uint32_t type_short = 3;
  static constexpr std::uint32_t type_long = 4;
  static constexpr std::uint32_t exif_directory_tag = 0x8769;  // in the first directory

  // `bytes`, and what `read` refers to, have to outlive this object.
  explicit Tiff(ByteSpan bytes);
  // A file of unknown size: values may lie outside.
  explicit Tiff(TiffReadAt read) : Tiff(std::move(read), UINT64_MAX) {}

  // Whether there is the header of a classic structure, as in EXIF.
  [[nodiscard]] bool is_valid() const;
  [[nodiscard]] ByteOrder order() const { return order_; }

  // Bytes of an offset, of the number of entries, and of an entry: BigTIFF has larger ones.
  [[nodiscard]] std::size_t offset_size() const { return is_big_ ? 8 : 4; }
  [[nodiscard]] std::size_t count_size() const { return is_big_ ? 8 : 2; }
  [[nodiscard]] std::size_t entry_size() const { return 4 + 2 * offset_size(); }

  // The bytes at `offset`; fewer at the end.
  [[nodiscard]] Bytes bytes_at(std::uint64_t offset, std::uint64_t size) const;
  // The number in the `size` bytes at `offset`; nothing if they are not all within the bytes.
  [[nodiscard]] std::optional<std::uint64_t> number(std::uint64_t offset, std::size_t size) const;

  // The position of the first directory's offset; that offset; and the offset of the directory
  // after the one at `directory`, 0 if there is none.
  [[nodiscard]] std::uint64_t first_link() const { return offset_size(); }
  [[nodiscard]] std::uint64_t first_directory() const {
    return number(first_link(), offset_size()).value_or(0);
  }
  [[nodiscard]] std::uint64_t next_directory(std::uint64_t directory) const {
    return number(link_of(directory), offset_size()).value_or(0);
  }

  // The offset of EXIF's own directory, to which the first one points.
  [[nodiscard]] std::optional<std::uint32_t> exif_directory() const {
    const auto pointer = is_valid() ? find(first_directory(), exif_directory_tag) : std::nullopt;
    return pointer ? value(*pointer) : std::nullopt;
  }

  // The position of the next directory's offset, by the number of entries that the directory
  // declares.
  [[nodiscard]] std::uint64_t link_of(std::uint64_t directory) const {
    return directory + count_size() + entry_count(directory) * entry_size();
  }
  [[nodiscard]] std::uint64_t entry_count(std::uint64_t directory) const {
    return number(directory, count_size()).value_or(0);
  }

  // The entries up to the first that is not within the bytes; empty if the directory has more than
  // 65535, which no classic structure can.
  [[nodiscard]] std::vector<TiffEntry> entries(std::uint64_t directory) const;
  // The first entry with this tag.
  [[nodiscard]] std::optional<TiffEntry> find(std::uint64_t directory, std::uint32_t tag) const;

  // The entry's number `index`; nothing if it has no such whole number of up to 32 bits.
  [[nodiscard]] std::optional<std::uint32_t> value(const TiffEntry& entry,
                                                   std::size_t index = 0) const;
  // The first number of an entry of integers. Programs write the fields of EXIF with any type of
  // them.
  [[nodiscard]] std::optional<std::uint32_t> integer(const TiffEntry& entry) const;

 private:
  Tiff(TiffReadAt read, std::uint64_t size);

  TiffReadAt read_;
  std::uint64_t size_;
  ByteOrder order_ = ByteOrder::big;
  bool is_big_ = false;
};

// Changes that number in `bytes`, where Tiff(bytes) found the entry. Its type changes if it is too
// small.
void set_integer(Bytes& bytes, const TiffEntry& entry, std::uint32_t value);

}  // namespace gpufilter
