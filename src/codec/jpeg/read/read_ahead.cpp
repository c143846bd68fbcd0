#include "codec/jpeg/read/read_ahead.hpp"

#include <algorithm>
#include <new>

#include "codec/jpeg/read/input.hpp"

namespace gpufilter {
namespace {

// Bytes that a decompressor reads at a time: JpegScanDecoder relies on it.
constexpr std::size_t step = JpegInput::buffer_size;

}  // namespace

JpegReadAhead::JpegReadAhead(ByteSource& source, std::span<const std::uint8_t> read)
    : source_(source) {
  make_room(read.size());
  std::copy(read.begin(), read.end(), bytes_.get());
  size_ = read.size();
}

bool JpegReadAhead::read_more() {
  if (ended_) return false;
  make_room(step);
  std::size_t count = 0;
  try {
    count = source_.read({bytes_.get() + size_, step});
  } catch (...) {
    failure_ = std::current_exception();
  }
  size_ += count;
  ended_ = count < step;
  return count > 0;
}

void JpegReadAhead::drop(std::size_t count) {
  std::copy(bytes_.get() + count, bytes_.get() + size_, bytes_.get());
  size_ -= count;
}

std::size_t JpegReadAhead::read_on(std::span<std::uint8_t> buffer) {
  const auto kept = bytes().subspan(given_, std::min(buffer.size(), size_ - given_));
  if (kept.size() < buffer.size() && failure_) std::rethrow_exception(failure_);
  std::copy(kept.begin(), kept.end(), buffer.begin());
  given_ += kept.size();
  return ended_ ? kept.size() : kept.size() + source_.read(buffer.subspan(kept.size()));
}

// For `count` more bytes.
void JpegReadAhead::make_room(std::size_t count) {
  if (count <= capacity_ - size_) return;
  const std::size_t capacity = std::max(2 * capacity_, size_ + count);
  auto* const grown = static_cast<std::uint8_t*>(std::realloc(bytes_.get(), capacity));
  if (grown == nullptr) throw std::bad_alloc();
  static_cast<void>(bytes_.release());
  bytes_.reset(grown);
  capacity_ = capacity;
}

}  // namespace gpufilter
