#include "codec/jpeg/read/input.hpp"

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "base/error.hpp"

namespace gpufilter {

JpegInput::JpegInput(JpegErrors& errors)
    : jpeg_source_mgr{}, errors_(errors), buffer_(buffer_size) {
  init_source = [](j_decompress_ptr) {};
  fill_input_buffer = [](j_decompress_ptr jpeg) -> boolean {
    of(jpeg).fill(*jpeg);
    return TRUE;
  };
  skip_input_data = [](j_decompress_ptr jpeg, long count) { of(jpeg).skip(*jpeg, count); };
  resync_to_restart = resync;
  term_source = [](j_decompress_ptr) {};
}

void JpegInput::open(Read read) {
  open(std::move(read), {}, {});
}

void JpegInput::open(Read read, std::span<const JOCTET> head, const JpegPlace& place) {
  read_ = std::move(read);
  shift_ = static_cast<unsigned>(place.restart % 8);
  errors_.set_first_restart(shift_);
  restarts_left_ = place.restarts_left;
  behind_ff_ = false;
  next_input_byte = head.data();
  bytes_in_buffer = head.size();
}

// libjpeg found a marker other than the expected one.
boolean JpegInput::resync(j_decompress_ptr jpeg, int due) {
  const unsigned shift = of(jpeg).shift_;
  jpeg->unread_marker = shifted_restart(jpeg->unread_marker, shift);
  return jpeg_resync_to_restart(jpeg, (due + static_cast<int>(shift)) % 8);
}

// libjpeg reads ahead, and may have the whole picture although the end marker is missing. If it has
// not, it warns of a marker within the data. Arithmetic decoders do not: they read zeros there.
bool JpegInput::may_end(const jpeg_decompress_struct& jpeg) {
  const bool in_header = jpeg.input_scan_number == 0;
  const bool in_segment = jpeg.unread_marker != 0;
  return !in_header && !in_segment && jpeg.arith_code == FALSE;
}

void JpegInput::fill(const jpeg_decompress_struct& jpeg) {
  static constexpr std::array<JOCTET, 2> end_marker{0xFF, JPEG_EOI};
  errors_.call_back([this, &jpeg] {
    const std::size_t count = read_(buffer_);
    next_input_byte = buffer_.data();
    bytes_in_buffer = count;
    if (count > 0) {
      if (shift_ != 0) renumber(std::span(buffer_).first(count));
      return;
    }
    errors_.note_end();
    if (!may_end(jpeg)) throw PictureError(errors_.name(), file_ends_early);
    next_input_byte = end_marker.data();
    bytes_in_buffer = end_marker.size();
  });
}

void JpegInput::skip(const jpeg_decompress_struct& jpeg, long count) {
  auto left = static_cast<std::size_t>(std::max(count, 0L));
  while (left > bytes_in_buffer) {
    left -= bytes_in_buffer;
    fill(jpeg);
  }
  next_input_byte += left;
  bytes_in_buffer -= left;
}

void JpegInput::renumber(std::span<JOCTET> bytes) {
  for (std::size_t at = 0; at < bytes.size() && restarts_left_ > 0; ++at) {
    if (!behind_ff_) {
      at = next_ff(bytes, at);
      behind_ff_ = at < bytes.size();
      continue;
    }
    JOCTET& byte = bytes[at];
    behind_ff_ = byte == 0xFF;
    if (!is_restart(byte)) continue;
    byte = static_cast<JOCTET>(shifted_restart(byte, 8 - shift_));
    --restarts_left_;
  }
}

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
