#include "codec/jpeg/read_ahead.hpp"

#include <algorithm>
#include <cstring>

namespace gpufilter {
namespace {

constexpr std::size_t step = std::size_t{64} << 10U;

}  // namespace

JpegReadAhead::JpegReadAhead(ByteSource& source, std::span<const std::uint8_t> read)
    : source_(source), bytes_(read.begin(), read.end()) {}

bool JpegReadAhead::read_more() {
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

void JpegReadAhead::drop(std::size_t count) {
  bytes_.erase(bytes_.begin(), bytes_.begin() + static_cast<std::ptrdiff_t>(count));
}

std::size_t JpegReadAhead::read_on(std::span<std::uint8_t> buffer) {
  const std::size_t kept = std::min(buffer.size(), bytes_.size() - given_);
  if (kept < buffer.size() && failure_) std::rethrow_exception(failure_);
  std::memcpy(buffer.data(), bytes_.data() + given_, kept);
  given_ += kept;
  return ended_ ? kept : kept + source_.read(buffer.subspan(kept));
}

}  // namespace gpufilter
