#include "codec/unread.hpp"

#include <algorithm>
#include <string_view>

#include "base/format.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"

namespace gpufilter {

void BytesBehind::add(std::span<const std::uint8_t> bytes) {
  constexpr std::array<std::uint8_t, 5> padding{0, 255, '\n', '\r', ' '};
  for (std::size_t i = 0; i < bytes.size() && count_ + i < first_.size(); ++i)
    first_.at(count_ + i) = bytes[i];
  count_ += bytes.size();
  any_ = any_ || std::any_of(bytes.begin(), bytes.end(), [&](std::uint8_t byte) {
           return std::find(padding.begin(), padding.end(), byte) == padding.end();
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

}  // namespace gpufilter
