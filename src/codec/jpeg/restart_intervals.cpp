#include "codec/jpeg/restart_intervals.hpp"

#include <algorithm>
#include <cstring>

#include "codec/jpeg/library.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t step = std::size_t{64} << 10U;

}  // namespace

RestartIntervals::RestartIntervals(ByteSource& source, std::span<const std::uint8_t> read,
                                   std::uint64_t count)
    : source_(source), count_(count), bytes_(read.begin(), read.end()) {}

bool RestartIntervals::reach(std::uint64_t end, std::size_t max_bytes) {
  while (!failed_ && first_ + begins_.size() - 1 < end) {
    if (!find_next()) failed_ = bytes_.size() > max_bytes || !read_more();
  }
  return !failed_;
}

// Looks for the marker that ends the interval; false where it is not among the bytes.
bool RestartIntervals::find_next() {
  const std::uint64_t index = first_ + begins_.size() - 1;
  while (scanned_ < bytes_.size()) {
    const void* found = std::memchr(bytes_.data() + scanned_, 0xFF, bytes_.size() - scanned_);
    if (found == nullptr) {
      scanned_ = bytes_.size();
      return false;
    }
    scanned_ = static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - bytes_.data());
    // A marker may have any number of such bytes in front.
    const auto code = std::find_if(bytes_.begin() + static_cast<std::ptrdiff_t>(scanned_),
                                   bytes_.end(), [](std::uint8_t byte) { return byte != 0xFF; });
    if (code == bytes_.end()) return false;
    scanned_ = static_cast<std::size_t>(code - bytes_.begin()) + 1;
    if (*code == 0) continue;  // so that the byte before is no marker
    const auto due = index + 1 == count_ ? std::uint64_t{JPEG_EOI} : JPEG_RST0 + index % 8;
    failed_ = *code != due;
    begins_.push_back(scanned_);
    return true;
  }
  return false;
}

bool RestartIntervals::read_more() {
  if (ended_) return false;
  const std::size_t before = bytes_.size();
  bytes_.resize(before + step);
  std::size_t count = 0;
  try {
    count = source_.read(std::span(bytes_).subspan(before));
  } catch (...) {
    failure_ = std::current_exception();
  }
  bytes_.resize(before + count);
  ended_ = count < step;
  return count > 0;
}

std::size_t RestartIntervals::place_of(std::uint64_t interval) const {
  return begins_.at(static_cast<std::size_t>(interval - first_));
}

std::span<const std::uint8_t> RestartIntervals::bytes(std::uint64_t begin,
                                                      std::uint64_t end) const {
  return std::span(bytes_).subspan(place_of(begin), place_of(end) - place_of(begin));
}

void RestartIntervals::drop_before(std::uint64_t interval) {
  const std::size_t dropped = place_of(interval);
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(dropped));
  scanned_ -= dropped;
  begins_.erase(begins_.begin(), begins_.begin() + static_cast<std::ptrdiff_t>(interval - first_));
  for (std::size_t& begin : begins_)
    begin -= dropped;
  first_ = interval;
}

std::size_t RestartIntervals::read_on(std::span<std::uint8_t> buffer) {
  const std::size_t kept = std::min(buffer.size(), bytes_.size() - given_);
  if (kept < buffer.size() && failure_) std::rethrow_exception(failure_);
  std::memcpy(buffer.data(), bytes_.data() + given_, kept);
  given_ += kept;
  return ended_ ? kept : kept + source_.read(buffer.subspan(kept));
}

}  // namespace gpufilter
