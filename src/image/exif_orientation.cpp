#include "image/exif_orientation.hpp"

#include <cstddef>
#include <optional>

namespace gpufilter {
namespace {

constexpr std::uint32_t orientation_tag = 0x0112;
constexpr std::uint32_t short_type = 3;
constexpr std::size_t entry_bytes = 12;

// Numbers in the byte order given by the structure's first two bytes.
class Tiff {
 public:
  explicit Tiff(const Bytes& bytes) : bytes_(bytes), little_(!bytes.empty() && bytes[0] == 'I') {}

  [[nodiscard]] bool is_valid() const {
    const std::uint8_t order = little_ ? 'I' : 'M';
    return bytes_.size() >= 8 && bytes_[0] == order && bytes_[1] == order && number(2, 2) == 42;
  }

  // The `size` bytes at `offset`; nothing past the end.
  [[nodiscard]] std::optional<std::uint32_t> number(std::size_t offset, std::size_t size) const {
    if (offset > bytes_.size() || size > bytes_.size() - offset) return std::nullopt;
    std::uint32_t value = 0;
    for (std::size_t i = 0; i < size; ++i)
      value = value << 8U | bytes_[offset + (little_ ? size - 1 - i : i)];
    return value;
  }

 private:
  const Bytes& bytes_;
  bool little_;
};

}  // namespace

int exif_orientation(const Bytes& exif) {
  const Tiff tiff(exif);
  if (!tiff.is_valid()) return 1;
  const std::size_t directory = tiff.number(4, 4).value_or(0);
  const std::size_t entries = tiff.number(directory, 2).value_or(0);
  for (std::size_t i = 0; i < entries; ++i) {
    const std::size_t entry = directory + 2 + i * entry_bytes;
    if (tiff.number(entry, 2) != orientation_tag) continue;
    if (tiff.number(entry + 2, 2) != short_type || tiff.number(entry + 4, 4) != 1U) return 1;
    const auto value = tiff.number(entry + 8, 2).value_or(1);
    return 1 <= value && value <= 8 ? static_cast<int>(value) : 1;
  }
  return 1;
}

}  // namespace gpufilter
