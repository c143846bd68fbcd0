#include "codec/unread.hpp"

#include <algorithm>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "base/format.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "image/icc.hpp"

namespace gpufilter {

void BytesBehind::add(std::span<const std::uint8_t> bytes) {
  constexpr std::array<std::uint8_t, 5> padding{0, 255, '\n', '\r', ' '};
  for (std::size_t i = 0; i < bytes.size() && count_ + i < first_.size(); ++i)
    first_.at(count_ + i) = bytes[i];
  count_ += bytes.size();
  any_ = any_ || std::ranges::any_of(bytes, [&](std::uint8_t byte) {
           return std::ranges::find(padding, byte) == padding.end();
         });
  window_.insert(window_.end(), bytes.begin(), bytes.end());
  // A box "ftyp", whose length is less than 512 bytes.
  constexpr std::string_view type = "ftyp";
  for (auto at = window_.begin(); !holds_film_; ++at) {
    at = std::search(at, window_.end(), type.begin(), type.end());
    if (at == window_.end()) break;
    holds_film_ = at - window_.begin() >= 4 && at[-4] == 0 && at[-3] == 0 && at[-2] < 2;
  }
  if (window_.size() > overlap) window_.erase(window_.begin(), window_.end() - overlap);
}

bool BytesBehind::begins_jpeg() const {
  return first_ == std::array<std::uint8_t, 3>{0xFF, 0xD8, 0xFF};
}

void BytesBehind::add_rest(ByteSource& source) {
  constexpr std::size_t step = std::size_t{256} << 10U;
  if (source.peek(1).empty()) return;
  std::vector<std::uint8_t> piece(step);
  for (std::size_t got = step; got == step;) {
    got = source.read(piece);
    add(std::span(piece).first(got));
  }
}

void note_rest(ByteSource& source, std::vector<std::string>& unread) {
  BytesBehind behind;
  behind.add_rest(source);
  if (behind.any()) unread.emplace_back(behind.holds_film() ? film_behind : data_behind);
}

std::string unread_warning(const std::vector<std::string>& unread) {
  return unread.empty() ? "" : formatted("not read: {}", fmt::join(unread, ", "));
}

void warn_of_unread(const std::string& name, const std::vector<std::string>& unread) {
  if (unread.empty()) return;
  log::warn_of_fallback(printable(formatted("{}: {}", name, unread_warning(unread))));
}

void LeftOut::add(std::string name) {
  if (std::ranges::find(names_, name) == names_.end()) {
    names_.push_back(std::move(name));
  }
}

void note_color_description(const Metadata& metadata, bool has_profile, LeftOut& left_out) {
  constexpr std::int32_t srgb_gamma = 45455;
  constexpr std::array<std::int32_t, 8> srgb_chromaticity{31270, 32900, 64000, 33000,
                                                          30000, 60000, 15000, 6000};
  constexpr std::array<std::uint8_t, 4> srgb_points{1, 13, 0, 1};
  if (metadata.coding_points && *metadata.coding_points != srgb_points) {
    left_out.add("code points of its colours (cICP)");
  }
  // Gamma and chromaticities have no effect beside a profile, and sRGB's have none anyway.
  if (has_profile || metadata.srgb_intent) return;
  const auto gamma = metadata.gamma.value_or(srgb_gamma);
  if (std::abs(gamma - srgb_gamma) > srgb_gamma / 100) left_out.add("gamma");
  if (metadata.chromaticity && *metadata.chromaticity != srgb_chromaticity) {
    left_out.add("chromaticity");
  }
}

void note_density(const Metadata& metadata, LeftOut& left_out) {
  if (!metadata.density) return;
  const bool is_absolute = metadata.density->unit == Density::Unit::per_metre;
  if (is_absolute) left_out.add("density");
  if (metadata.density->x != metadata.density->y) left_out.add("non-square pixels");
}

void note_content(const Metadata& metadata, LeftOut& left_out, const std::string& where) {
  const auto note = [&](bool is_there, const char* what) {
    if (is_there) left_out.add(what + where);
  };
  note(!metadata.exif.empty(), "EXIF");
  note(!metadata.xmp.empty(), "XMP");
  note(!metadata.image_resources.empty(), "IPTC");
  note(!metadata.text.empty(), "text");
}

const IccProfile* profile_for(const PixelFormat& format, const Metadata& metadata,
                              LeftOut& left_out) {
  if (!metadata.icc_profile) return nullptr;
  const std::string space = icc_color_space(metadata.icc_profile->data);
  const bool is_grey = format.color_channels() == 1;
  if (space == (is_grey ? "GRAY" : "RGB")) return &*metadata.icc_profile;
  if (space.empty()) {
    left_out.add("the ICC profile (it is damaged)");
  } else {
    left_out.add(formatted("the {} ICC profile (the result is {})",
                           space == "GRAY" ? "grey" : space, is_grey ? "grey" : "RGB"));
  }
  return nullptr;
}

}  // namespace gpufilter
