#include "codec/jpeg/input.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/error.hpp"

namespace gpufilter {

JpegInput::JpegInput(JpegErrors& errors)
    : jpeg_source_mgr{}, errors_(errors), buffer_(buffer_size) {
  init_source = [](j_decompress_ptr) {};
  fill_input_buffer = [](j_decompress_ptr jpeg) -> boolean {
    of(jpeg).fill();
    return TRUE;
  };
  skip_input_data = [](j_decompress_ptr jpeg, long count) { of(jpeg).skip(count); };
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

// libjpeg asks only when it cannot go on without more bytes.
void JpegInput::fill() {
  errors_.call_back([this] {
    const std::size_t count = read_(buffer_);
    if (count == 0) throw PictureError(errors_.name(), "the file ends too early");
    if (shift_ != 0) renumber(std::span(buffer_).first(count));
    next_input_byte = buffer_.data();
    bytes_in_buffer = count;
  });
}

void JpegInput::skip(long count) {
  auto left = static_cast<std::size_t>(std::max(count, 0L));
  while (left > bytes_in_buffer) {
    left -= bytes_in_buffer;
    fill();
  }
  next_input_byte += left;
  bytes_in_buffer -= left;
}

void JpegInput::renumber(std::span<JOCTET> bytes) {
  for (std::size_t at = 0; at < bytes.size() && restarts_left_ > 0; ++at) {
    if (!behind_ff_) {
      const void* found = std::memchr(bytes.data() + at, 0xFF, bytes.size() - at);
      if (found == nullptr) return;
      at = static_cast<std::size_t>(static_cast<const JOCTET*>(found) - bytes.data());
      behind_ff_ = true;
      continue;
    }
    JOCTET& byte = bytes[at];
    behind_ff_ = byte == 0xFF;
    if (!is_restart(byte)) continue;
    byte = static_cast<JOCTET>(shifted_restart(byte, 8 - shift_));
    --restarts_left_;
  }
}

}  // namespace gpufilter
