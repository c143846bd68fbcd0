#include "codec/jpeg/write/memory_output.hpp"

namespace gpufilter {

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
