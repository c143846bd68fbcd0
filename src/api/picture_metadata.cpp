// The metadata of a public Picture, one by one and all in one.
#include <cmath>
#include <concepts>
#include <optional>
#include <type_traits>
#include <utility>

#include <gpufilter/picture.hpp>

#include "api/picture_state.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "codec/codec_table.hpp"
#include "image/exif.hpp"
#include "image/icc.hpp"

namespace gpufilter {
namespace {

constexpr double metres_per_inch = 0.0254;

// Metadata, including those behind the pixels of the file.
Metadata all_metadata(const PictureState* picture) {
  if (picture == nullptr) return {};
  Metadata metadata = picture->header.metadata;
  add_late_metadata(metadata, picture->trailing);
  return metadata;
}

// The metadata, to be changed. Those that the file has behind the pixels are moved into them first.
Metadata& changed_metadata(Picture& picture) {
  PictureState& state = existing(picture);
  add_late_metadata(state.header.metadata, std::exchange(state.trailing, {}));
  return state.header.metadata;
}

// Writes values into bytes, or reads them from there, in one order.
class Archive {
 public:
  explicit Archive(Bytes& target) : target_(&target), cursor_({}) {}
  explicit Archive(ByteSpan source) : cursor_(source) {}

  template <typename Number>
  requires std::integral<Number> || std::is_enum_v<Number>
  void operator()(Number& number) {
    if (target_ != nullptr) {
      put_number(*target_, static_cast<std::uint64_t>(number), 8);
    } else {
      number = static_cast<Number>(take(8).second);
    }
  }
  template <typename Text>
  requires std::same_as<Text, Bytes> || std::same_as<Text, std::string>
  void operator()(Text& text) {
    std::uint64_t size = text.size();
    (*this)(size);
    if (target_ != nullptr) {
      target_->insert(target_->end(), text.begin(), text.end());
    } else {
      const ByteSpan bytes = take(size).first;
      text.assign(bytes.begin(), bytes.end());
    }
  }
  template <typename Value, std::size_t size>
  void operator()(std::array<Value, size>& values) {
    for (Value& value : values)
      (*this)(value);
  }
  template <typename Value>
  void operator()(std::optional<Value>& value) {
    bool exists = value.has_value();
    (*this)(exists);
    if (target_ == nullptr) value = exists ? std::optional<Value>(std::in_place) : std::nullopt;
    if (exists) (*this)(*value);
  }
  void operator()(std::vector<TextEntry>& entries) {
    std::uint64_t count = entries.size();
    (*this)(count);
    if (target_ == nullptr) entries.clear();
    for (std::uint64_t i = 0; i < count; ++i)
      (*this)(target_ != nullptr ? entries[i] : entries.emplace_back());
  }
  void operator()(IccProfile& profile) { each(profile.name, profile.data); }
  void operator()(Density& density) { each(density.unit, density.x, density.y); }
  void operator()(TextEntry& entry) {
    each(entry.keyword, entry.text, entry.language, entry.translated_keyword, entry.compressed);
  }
  void operator()(Metadata& metadata) {
    each(metadata.icc_profile, metadata.exif, metadata.image_resources, metadata.xmp,
         metadata.xmp_compressed, metadata.gamma, metadata.chromaticity, metadata.srgb_intent,
         metadata.coding_points, metadata.density, metadata.text);
  }

  // The name of a format, "PNG".
  void operator()(const Codec*& format) {
    std::string name = format == nullptr ? "" : format->name;
    (*this)(name);
    if (target_ != nullptr) return;
    const auto all = codecs();
    const auto known = std::ranges::find(all, name, [](const Codec* codec) { return codec->name; });
    format = known == all.end() ? nullptr : *known;
  }

  template <typename... Values>
  void each(Values&... values) {
    ((*this)(values), ...);
  }

 private:
  // The next bytes, and the number that they are.
  std::pair<ByteSpan, std::uint64_t> take(std::uint64_t size) {
    if (size > cursor_.rest().size()) throw UsageError("metadata of a picture end too early");
    const ByteSpan bytes = cursor_.take(static_cast<std::size_t>(size));
    return {bytes, size == 8 ? number_of(bytes) : 0};
  }

  Bytes* target_ = nullptr;  // nullptr: values are read
  ByteCursor cursor_;
};

}  // namespace

int Picture::orientation() const {
  return stored_orientation(all_metadata(state_.get())).value_or(1);
}

std::vector<std::uint8_t> Picture::exif() const {
  return all_metadata(state_.get()).exif;
}

std::vector<std::uint8_t> Picture::icc() const {
  const auto profile = all_metadata(state_.get()).icc_profile;
  return profile ? profile->data : Bytes();
}

std::vector<std::uint8_t> Picture::xmp() const {
  return all_metadata(state_.get()).xmp;
}

std::optional<PixelsPerInch> Picture::density() const {
  const auto density = all_metadata(state_.get()).density;
  if (!density || density->unit != Density::Unit::per_metre) return std::nullopt;
  // Files store whole numbers per metre: 300 per inch would be 299.9994.
  const auto an_inch = [](std::uint32_t a_metre) {
    return std::round(a_metre * metres_per_inch * 100) / 100;
  };
  return PixelsPerInch{an_inch(density->x), an_inch(density->y)};
}

void Picture::set_orientation(int orientation) {
  if (orientation < 1 || orientation > 8)
    throw UsageError(formatted("orientation {}: choose 1 (upright) to 8", orientation));
  gpufilter::set_orientation(changed_metadata(*this), orientation);
}

void Picture::set_exif(std::span<const std::uint8_t> exif) {
  Bytes bytes(exif.begin(), exif.end());
  remove_exif_prefix(bytes);
  const std::string_view text = as_text(bytes);
  if (!text.empty() && !text.starts_with("II") && !text.starts_with("MM"))
    throw UsageError("exif: not a TIFF structure, which begins with II or MM");
  remove_exif_thumbnail(bytes);
  changed_metadata(*this).exif = std::move(bytes);
}

void Picture::set_icc(std::span<const std::uint8_t> profile) {
  IccProfile given;
  given.data.assign(profile.begin(), profile.end());
  const std::string space = icc_color_space(given.data);
  const std::string own = existing(*this).shape.format.channels < 3 ? "GRAY" : "RGB";
  if (!profile.empty() && space != own) {
    throw UsageError(formatted("icc: {}, and the picture is {}",
                               space.empty() ? "not an ICC profile" : "a profile for " + space,
                               own));
  }
  Metadata& metadata = changed_metadata(*this);
  set_profile(metadata, given);
  if (profile.empty()) metadata.icc_profile.reset();
}

void Picture::set_xmp(std::span<const std::uint8_t> xmp) {
  if (as_text(xmp).find('<') == std::string_view::npos && !xmp.empty())
    throw UsageError("xmp: not an XMP packet, which is XML");
  changed_metadata(*this).xmp.assign(xmp.begin(), xmp.end());
}

void Picture::set_density(const std::optional<PixelsPerInch>& density) {
  const auto a_metre = [](double an_inch) {
    constexpr double most = 1e6;
    if (!(an_inch > 0 && an_inch <= most))
      throw UsageError(formatted("density {}: choose pixels per inch, up to {}", an_inch, most));
    return static_cast<std::uint32_t>(std::lround(an_inch / metres_per_inch));
  };
  Metadata& metadata = changed_metadata(*this);
  if (!density) return metadata.density.reset();
  metadata.density = Density{Density::Unit::per_metre, a_metre(density->x), a_metre(density->y)};
}

std::vector<std::uint8_t> Picture::metadata() const {
  Bytes bytes;
  if (!state_) return bytes;
  PictureState& state = *state_;
  Archive(bytes).each(state.header.file_format, state.header.metadata, state.trailing);
  return bytes;
}

void Picture::set_metadata(std::span<const std::uint8_t> metadata) {
  PictureState& state = existing(*this);
  PictureHeader header;
  Metadata trailing;
  Archive(metadata).each(header.file_format, header.metadata, trailing);
  header.set_shape(state.shape);
  header.file_pixels = file_pixels(state.shape.format);
  state.header = std::move(header);
  state.trailing = std::move(trailing);
}

}  // namespace gpufilter
