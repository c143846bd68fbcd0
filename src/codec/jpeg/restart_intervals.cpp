#include "codec/jpeg/restart_intervals.hpp"

#include <algorithm>
#include <cstring>

#include "codec/jpeg/library.hpp"

namespace gpufilter {
namespace {

constexpr std::size_t step = std::size_t{64} << 10U;

// libjpeg decodes an MCU in its fast way where the buffer has so many bytes for each of its blocks,
// up to ten.
constexpr std::size_t lookahead = std::size_t{512} * D_MAX_BLOCKS_IN_MCU;

}  // namespace

RestartIntervals::RestartIntervals(ByteSource& source, std::span<const std::uint8_t> read,
                                   std::uint64_t offset, std::uint64_t count)
    : source_(source),
      count_(count),
      bytes_(read.begin(), read.end()),
      bytes_offset_(offset),
      begins_{offset} {}

bool RestartIntervals::reach(std::uint64_t end, std::size_t max_bytes) {
  const auto is_full = [&] { return bytes_offset_ + bytes_.size() - begins_.front() > max_bytes; };
  while (!failed_ && first_ + begins_.size() - 1 < end) {
    if (!find_next()) failed_ = is_full() || !read_more();
  }
  if (failed_) return false;
  while (bytes_offset_ + bytes_.size() < offset(end) + lookahead && read_more()) {
  }
  return true;
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
    begins_.push_back(bytes_offset_ + scanned_);
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

std::uint64_t RestartIntervals::offset(std::uint64_t interval) const {
  return begins_.at(static_cast<std::size_t>(interval - first_));
}

std::span<const std::uint8_t> RestartIntervals::bytes(std::uint64_t begin,
                                                      std::uint64_t end) const {
  const auto from = static_cast<std::size_t>(offset(begin) - bytes_offset_);
  const auto to = static_cast<std::size_t>(offset(end) - bytes_offset_) + lookahead;
  return std::span(bytes_).subspan(from, std::min(to, bytes_.size()) - from);
}

void RestartIntervals::drop_before(std::uint64_t interval) {
  const auto dropped = static_cast<std::size_t>(offset(interval) - bytes_offset_);
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(dropped));
  bytes_offset_ += dropped;
  scanned_ -= dropped;
  begins_.erase(begins_.begin(), begins_.begin() + static_cast<std::ptrdiff_t>(interval - first_));
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
