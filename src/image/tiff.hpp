// The structure of TIFF (TIFF 6.0, section 2), which EXIF uses: directories of entries that may
// point anywhere. Nothing outside the bytes is ever read, whatever they say.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/byte_cursor.hpp"
#include "image/metadata.hpp"

namespace gpufilter {

// The bytes from `begin` to before `end`.
struct ByteRange {
  std::size_t begin = 0;
  std::size_t end = 0;
  friend auto operator<=>(const ByteRange&, const ByteRange&) = default;
};

// Bytes of a value of each type; 0: there is no such type. Those from 16 on are BigTIFF's.
[[nodiscard]] std::uint64_t tiff_type_bytes(std::uint32_t type);

// The byte order of a structure, which begins with it.
[[nodiscard]] inline ByteOrder tiff_byte_order(ByteSpan bytes) {
  return !bytes.empty() && bytes[0] == 'I' ? ByteOrder::little : ByteOrder::big;
}

struct TiffEntry {
  std::uint32_t tag = 0;
  std::uint32_t type = 0;
  std::uint32_t count = 0;
  std::size_t place = 0;  // where the entry begins
  ByteRange value;        // empty if the type is unknown or the value is not within the bytes
};

class Tiff {
 public:
  static constexpr std::uint32_t type_short = 3;
  static constexpr std::uint32_t type_long = 4;
  static constexpr std::uint32_t exif_directory_tag = 0x8769;  // in the first directory
  static constexpr std::size_t entry_bytes = 12;

  // `bytes` has to outlive this object.
  explicit Tiff(ByteSpan bytes)
      : bytes_(bytes), order_(tiff_byte_order(bytes)), cursor_(bytes, order_) {}

  // Whether there is a header.
  [[nodiscard]] bool is_valid() const;
  [[nodiscard]] ByteOrder order() const { return order_; }

  // The number in the `size` bytes at `offset`; nothing if they are not all within the bytes.
  [[nodiscard]] std::optional<std::uint32_t> number(std::size_t offset, std::size_t size) const {
    return cursor_.number_at(offset, size);
  }

  // The offset of the first directory, and of the one after that at `directory`; 0 if there is
  // none.
  [[nodiscard]] std::size_t first_directory() const { return number(4, 4).value_or(0); }
  [[nodiscard]] std::size_t next_directory(std::size_t directory) const;

  // The offset of EXIF's own directory, to which the first one points.
  [[nodiscard]] std::optional<std::uint32_t> exif_directory() const {
    const auto pointer = is_valid() ? find(first_directory(), exif_directory_tag) : std::nullopt;
    return pointer ? value(*pointer) : std::nullopt;
  }

  // Where the offset of the next directory stands. The number of entries counts those that the
  // directory declares.
  [[nodiscard]] std::size_t link_of(std::size_t directory) const;
  [[nodiscard]] std::size_t entry_count(std::size_t directory) const {
    return number(directory, 2).value_or(0);
  }

  // Nothing if the entry is not within the bytes.
  [[nodiscard]] std::optional<TiffEntry> entry(std::size_t directory, std::size_t index) const;
  // The directory's first entry with this tag, if it is within the bytes.
  [[nodiscard]] std::optional<TiffEntry> find(std::size_t directory, std::uint32_t tag) const;

  // The entry's number `index`; nothing if it has no such whole number.
  [[nodiscard]] std::optional<std::uint32_t> value(const TiffEntry& entry,
                                                   std::size_t index = 0) const;
  // The first number of an entry of integers. Programs write the fields of EXIF with any type of
  // them.
  [[nodiscard]] std::optional<std::uint32_t> integer(const TiffEntry& entry) const;

 private:
  ByteSpan bytes_;
  ByteOrder order_;
  ByteCursor cursor_;
};

// Changes that number in `bytes`, where Tiff(bytes) found the entry. Its type changes if it is too
// small.
void set_integer(Bytes& bytes, const TiffEntry& entry, std::uint32_t value);

}  // namespace gpufilter
