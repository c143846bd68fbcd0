#include "image/tiff.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace gpufilter {
namespace {

constexpr std::uint32_t last_classic_type = 13;
constexpr std::uint64_t most_entries = 65535;

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

Tiff::Tiff(ByteSpan bytes)
    : Tiff(
          [bytes](std::uint64_t offset, std::span<std::uint8_t> into) {
            const auto rest = bytes.subspan(std::min<std::uint64_t>(offset, bytes.size()));
            const std::size_t count = std::min(into.size(), rest.size());
            std::copy_n(rest.begin(), count, into.begin());
            return count;
          },
          bytes.size()) {}

Tiff::Tiff(TiffReadAt read, std::uint64_t size) : read_(std::move(read)), size_(size) {
  order_ = tiff_byte_order(bytes_at(0, 1));
  is_big_ = number(2, 2) == 43U;
}

bool Tiff::is_valid() const {
  return number(0, 2) == (order_ == ByteOrder::little ? 0x4949U : 0x4D4DU) && number(2, 2) == 42U &&
         number(4, 4);
}

Bytes Tiff::bytes_at(std::uint64_t offset, std::uint64_t size) const {
  Bytes bytes(size);
  bytes.resize(read_(offset, bytes));
  return bytes;
}

std::optional<std::uint64_t> Tiff::number(std::uint64_t offset, std::size_t size) const {
  std::array<std::uint8_t, 8> memory{};
  const auto bytes = std::span(memory).first(size);
  return read_(offset, bytes) == size ? std::optional(number_of(bytes, order_)) : std::nullopt;
}

// A value no larger than an offset is stored instead of the offset.
std::vector<TiffEntry> Tiff::entries(std::uint64_t directory) const {
  std::vector<TiffEntry> entries;
  const std::uint64_t count = entry_count(directory);
  if (count > most_entries) return entries;
  std::uint64_t place = directory + count_size();
  const Bytes block = bytes_at(place, count * entry_size());
  for (ByteCursor cursor(block, order_); cursor.rest().size() >= entry_size();) {
    TiffEntry entry;
    entry.place = place;
    place += entry_size();
    entry.tag = static_cast<std::uint32_t>(cursor.number(2));
    entry.type = static_cast<std::uint32_t>(cursor.number(2));
    entry.count = cursor.number(offset_size());
    const std::uint64_t offset = cursor.number(offset_size());
    const std::uint64_t size =
        entry.type > last_classic_type && !is_big_ ? 0 : entry.count * tiff_type_bytes(entry.type);
    const std::uint64_t begin = size <= offset_size() ? place - offset_size() : offset;
    if (begin <= size_ && size <= size_ - begin) entry.value = {begin, begin + size};
    entries.push_back(entry);
  }
  return entries;
}

std::optional<TiffEntry> Tiff::find(std::uint64_t directory, std::uint32_t tag) const {
  for (const TiffEntry& entry : entries(directory)) {
    if (entry.tag == tag) return entry;
  }
  return std::nullopt;
}

std::optional<std::uint32_t> Tiff::value(const TiffEntry& entry, std::size_t index) const {
  const std::size_t size = tiff_type_bytes(entry.type);
  if (size == 0 || size > 4 || index >= (entry.value.end - entry.value.begin) / size) {
    return std::nullopt;
  }
  const auto found = number(entry.value.begin + index * size, size);
  return found ? std::optional(static_cast<std::uint32_t>(*found)) : std::nullopt;
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
  // Elsewhere, the value may lie in bytes that mean something else too.
  const bool is_in_entry = entry.value.begin == entry.place + 8;
  if (is_in_entry && std::uint64_t{value} >> bits == 0) return set(entry.value.begin, size, value);
  set(entry.place + 2, 2, Tiff::type_long);
  set(entry.place + 4, 4, 1);
  set(entry.place + 8, 4, value);
}

}  // namespace gpufilter
