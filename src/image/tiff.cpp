#include "image/tiff.hpp"

#include <array>
#include <span>

namespace gpufilter {
namespace {

constexpr std::uint32_t last_classic_type = 13;

bool is_signed(std::uint32_t type) {
  return type == 6 || type == 8 || type == 9;
}

// BYTE, SHORT, LONG, their signed forms, and IFD.
bool is_integer(std::uint32_t type) {
  return type == 1 || type == Tiff::type_short || type == Tiff::type_long || is_signed(type) ||
         type == 13;
}

}  // namespace

std::uint64_t tiff_type_bytes(std::uint32_t type) {
  static constexpr std::array<std::uint8_t, 19> sizes{0, 1, 1, 2, 4, 8, 1, 1, 2, 4,
                                                      8, 4, 8, 4, 0, 0, 8, 8, 8};
  return type < sizes.size() ? sizes.at(type) : 0;
}

bool Tiff::is_valid() const {
  const std::uint8_t order = order_ == ByteOrder::little ? 'I' : 'M';
  return bytes_.size() >= 8 && bytes_[0] == order && bytes_[1] == order && number(2, 2) == 42;
}

std::size_t Tiff::link_of(std::size_t directory) const {
  return directory + 2 + entry_count(directory) * entry_bytes;
}

std::size_t Tiff::next_directory(std::size_t directory) const {
  return number(link_of(directory), 4).value_or(0);
}

std::optional<TiffEntry> Tiff::entry(std::size_t directory, std::size_t index) const {
  const std::size_t at = directory + 2 + index * entry_bytes;
  if (!number(at + 8, 4)) return std::nullopt;
  TiffEntry entry{*number(at, 2), *number(at + 2, 2), *number(at + 4, 4), at, {}};
  const std::uint64_t size =
      entry.type > last_classic_type ? 0 : tiff_type_bytes(entry.type) * entry.count;
  const std::size_t begin = size <= 4 ? at + 8 : *number(at + 8, 4);
  if (begin <= bytes_.size() && size <= bytes_.size() - begin) entry.value = {begin, begin + size};
  return entry;
}

std::optional<TiffEntry> Tiff::find(std::size_t directory, std::uint32_t tag) const {
  for (std::size_t i = 0; i < entry_count(directory); ++i) {
    const auto found = entry(directory, i);
    if (!found || found->tag == tag) return found;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Tiff::value(const TiffEntry& entry, std::size_t index) const {
  const std::size_t size = tiff_type_bytes(entry.type);
  if (size == 0 || size > 4 || index >= (entry.value.end - entry.value.begin) / size) {
    return std::nullopt;
  }
  return number(entry.value.begin + index * size, size);
}

std::optional<std::uint32_t> Tiff::integer(const TiffEntry& entry) const {
  return is_integer(entry.type) ? value(entry) : std::nullopt;
}

void set_integer(Bytes& bytes, const TiffEntry& entry, std::uint32_t value) {
  const auto set = [&bytes](std::size_t at, std::size_t size, std::uint32_t number) {
    store_number(number, std::span(bytes).subspan(at, size), tiff_byte_order(bytes));
  };
  const std::uint64_t size = tiff_type_bytes(entry.type);
  const std::uint64_t bits = 8 * size - (is_signed(entry.type) ? 1 : 0);
  if (std::uint64_t{value} >> bits == 0) return set(entry.value.begin, size, value);
  set(entry.place + 2, 2, Tiff::type_long);
  set(entry.place + 4, 4, 1);
  set(entry.place + 8, 4, value);
}

}  // namespace gpufilter
