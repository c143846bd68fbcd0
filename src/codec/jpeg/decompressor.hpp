// libjpeg's decompressor and its memory.
#pragma once

#include <array>

#include "codec/jpeg/library.hpp"
#include "codec/jpeg/segments.hpp"

namespace gpufilter {

// Owns libjpeg's memory. That of a progressive picture's coefficients, 2 bytes for each sample, all
// touched again with every scan, is asked for in huge pages: with small ones a tenth of the time
// goes to page faults and address translation.
class Decompressor : public jpeg_decompress_struct {
 public:
  explicit Decompressor(JpegErrors& errors) : jpeg_decompress_struct{} {
    err = errors.manager();
    client_data = &errors;
  }
  ~Decompressor() { jpeg_destroy_decompress(this); }
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  // Calls libjpeg, so only within JpegErrors::run().
  void create();

  JpegSegments segments;

 private:
  // The coefficients of a component.
  struct Coefficients {
    jvirt_barray_ptr array = nullptr;
    std::size_t bytes = 0;
  };

  // In place of two of libjpeg's own steps, which they call.
  static jvirt_barray_ptr request_coefficients(j_common_ptr jpeg, int pool, boolean zeroed,
                                               JDIMENSION blocks_a_row, JDIMENSION rows,
                                               JDIMENSION rows_at_a_time);
  static void allocate_coefficients(j_common_ptr jpeg);

  decltype(jpeg_memory_mgr::request_virt_barray) request_ = nullptr;
  decltype(jpeg_memory_mgr::realize_virt_arrays) allocate_ = nullptr;
  std::array<Coefficients, MAX_COMPONENTS> coefficients_{};
  std::size_t requests_ = 0;
};

}  // namespace gpufilter
