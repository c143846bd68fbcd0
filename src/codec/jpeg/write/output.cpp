#include "codec/jpeg/write/output.hpp"

#include <cstddef>
#include <span>

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

}  // namespace gpufilter
