// libjpeg's destination manager for memory that grows.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "codec/jpeg/library.hpp"

namespace gpufilter {

// Each picture replaces the one before it. Throws std::bad_alloc through JpegErrors::run().
class JpegMemoryOutput : public jpeg_destination_mgr {
 public:
  explicit JpegMemoryOutput(JpegErrors& errors);
  [[nodiscard]] std::size_t size() const { return bytes_.size() - free_in_buffer; }
  [[nodiscard]] std::span<JOCTET> bytes() { return std::span(bytes_).first(size()); }

 private:
  static JpegMemoryOutput& of(j_compress_ptr jpeg) {
    return *static_cast<JpegMemoryOutput*>(jpeg->dest);
  }
  void grow();

  JpegErrors& errors_;
  std::vector<JOCTET> bytes_;
};

}  // namespace gpufilter
