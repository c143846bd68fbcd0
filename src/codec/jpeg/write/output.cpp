#include "codec/jpeg/write/output.hpp"

namespace gpufilter {

JpegOutput::JpegOutput(ByteSink& sink, JpegErrors& errors)
    : jpeg_destination_mgr{}, sink_(sink), errors_(errors), buffer_(std::size_t{64} * 1024) {
  init_destination = [](j_compress_ptr jpeg) { of(jpeg).rewind(); };
  empty_output_buffer = [](j_compress_ptr jpeg) -> boolean {
    // libjpeg means the whole buffer, whatever free_in_buffer says.
    of(jpeg).write(of(jpeg).buffer_.size());
    of(jpeg).rewind();
    return TRUE;
  };
  term_destination = [](j_compress_ptr jpeg) { of(jpeg).flush(); };
}

void JpegOutput::flush() {
  write(buffer_.size() - free_in_buffer);
  rewind();
}

void JpegOutput::rewind() {
  next_output_byte = buffer_.data();
  free_in_buffer = buffer_.size();
}

void JpegOutput::write(std::size_t count) {
  errors_.call_back([&] { sink_.write(std::span(buffer_).first(count)); });
}

JpegMemoryOutput::JpegMemoryOutput(JpegErrors& errors)
    : jpeg_destination_mgr{}, errors_(errors), bytes_(std::size_t{256} << 10U) {
  init_destination = [](j_compress_ptr jpeg) {
    JpegMemoryOutput& output = of(jpeg);
    output.next_output_byte = output.bytes_.data();
    output.free_in_buffer = output.bytes_.size();
  };
  empty_output_buffer = [](j_compress_ptr jpeg) -> boolean {
    of(jpeg).grow();
    return TRUE;
  };
  term_destination = [](j_compress_ptr) {};
}

// Called when the buffer is full, whatever free_in_buffer says.
void JpegMemoryOutput::grow() {
  errors_.call_back([this] {
    const std::size_t full = bytes_.size();
    bytes_.resize(2 * full);
    next_output_byte = bytes_.data() + full;
    free_in_buffer = full;
  });
}

}  // namespace gpufilter
