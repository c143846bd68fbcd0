#include "codec/jpeg/read/restart_intervals.hpp"

#include <algorithm>
#include <cstring>

#include "codec/jpeg/library.hpp"

namespace gpufilter {

RestartIntervals::RestartIntervals(ByteSource& source, std::span<const std::uint8_t> read,
                                   std::uint64_t count)
    : input_(source, read), count_(count) {}

bool RestartIntervals::reach(std::uint64_t end, std::size_t max_bytes) {
  while (!failed_ && first_ + begins_.size() - 1 < end) {
    if (!find_next()) failed_ = input_.bytes().size() > max_bytes || !input_.read_more();
  }
  return !failed_;
}

// Looks for the marker that ends the interval; false if it has not been read yet.
bool RestartIntervals::find_next() {
  const std::uint64_t index = first_ + begins_.size() - 1;
  const std::span<const std::uint8_t> bytes = input_.bytes();
  while (scanned_ < bytes.size()) {
    const void* found = std::memchr(bytes.data() + scanned_, 0xFF, bytes.size() - scanned_);
    if (found == nullptr) {
      scanned_ = bytes.size();
      return false;
    }
    scanned_ = static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - bytes.data());
    // Any number of such bytes may precede a marker.
    const auto code = std::find_if(bytes.begin() + static_cast<std::ptrdiff_t>(scanned_),
                                   bytes.end(), [](std::uint8_t byte) { return byte != 0xFF; });
    if (code == bytes.end()) return false;
    scanned_ = static_cast<std::size_t>(code - bytes.begin()) + 1;
    if (*code == 0) continue;  // an 0xFF of the data
    const auto due = index + 1 == count_ ? std::uint64_t{JPEG_EOI} : JPEG_RST0 + index % 8;
    failed_ = *code != due;
    begins_.push_back(scanned_);
    return true;
  }
  return false;
}

std::size_t RestartIntervals::place_of(std::uint64_t interval) const {
  return begins_.at(static_cast<std::size_t>(interval - first_));
}

std::span<const std::uint8_t> RestartIntervals::bytes(std::uint64_t begin,
                                                      std::uint64_t end) const {
  return input_.bytes().subspan(place_of(begin), place_of(end) - place_of(begin));
}

void RestartIntervals::drop_before(std::uint64_t interval) {
  const std::size_t dropped = place_of(interval);
  input_.drop(dropped);
  scanned_ -= dropped;
  begins_.erase(begins_.begin(), begins_.begin() + static_cast<std::ptrdiff_t>(interval - first_));
  for (std::size_t& begin : begins_)
    begin -= dropped;
  first_ = interval;
}

}  // namespace gpufilter
