#include "image/exif_summary.hpp"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "base/printable.hpp"
#include "image/tiff.hpp"

namespace gpufilter {
namespace {

constexpr std::uint32_t type_ascii = 2;
constexpr std::uint32_t type_utf8 = 129;

enum Tag : std::uint32_t {
  make = 0x010f,
  model = 0x0110,
  date = 0x0132,
  date_original = 0x9003,
  lens_model = 0xa434,
};

class Fields {
 public:
  explicit Fields(const Bytes& exif) : bytes_(exif), tiff_(exif) {
    if (!tiff_.is_valid()) return;
    first_ = tiff_.first_directory();
    const auto link = tiff_.find(first_, Tiff::exif_directory_tag);
    if (link) second_ = tiff_.value(*link).value_or(0);
  }

  [[nodiscard]] std::string main(std::uint32_t tag) const { return text(first_, tag); }
  [[nodiscard]] std::string photo(std::uint32_t tag) const { return text(second_, tag); }

 private:
  [[nodiscard]] std::string text(std::size_t directory, std::uint32_t tag) const {
    const auto entry = directory == 0 ? std::nullopt : tiff_.find(directory, tag);
    if (!entry || (entry->type != type_ascii && entry->type != type_utf8)) return "";
    std::string text(bytes_.begin() + static_cast<std::ptrdiff_t>(entry->value.begin),
                     bytes_.begin() + static_cast<std::ptrdiff_t>(entry->value.end));
    text.erase(std::min(text.find('\0'), text.size()));
    text.erase(text.find_last_not_of(' ') + 1);
    text.erase(0, std::min(text.find_first_not_of(' '), text.size()));
    for (std::size_t i = 0; i < text.size();) {
      const std::size_t length = utf8_length(std::string_view(text).substr(i));
      if (length == 0) return "";
      i += length;
    }
    return text;
  }

  const Bytes& bytes_;
  Tiff tiff_;
  std::size_t first_ = 0;
  std::size_t second_ = 0;
};

// Many cameras repeat the maker's name in the model's.
std::string camera_of(const std::string& maker, const std::string& name) {
  const std::string first = maker.substr(0, maker.find(' '));
  if (maker.empty() || name.starts_with(first)) return name;
  return name.empty() ? maker : maker + " " + name;
}

}  // namespace

ExifSummary exif_summary(const Bytes& exif) {
  const Fields fields(exif);
  ExifSummary summary{.camera = camera_of(fields.main(make), fields.main(model)),
                      .lens = fields.photo(lens_model),
                      .taken = fields.photo(date_original)};
  if (summary.taken.empty()) summary.taken = fields.main(date);
  return summary;
}

}  // namespace gpufilter
