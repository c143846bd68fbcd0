// libjpeg's decompressor and its memory.
#pragma once

#include <array>

#include "codec/jpeg/library.hpp"
#include "codec/jpeg/metadata/segments.hpp"
#include "codec/jpeg/read/coefficients.hpp"
#include "codec/jpeg/read/mcu_grid.hpp"

namespace gpufilter {

// Owns libjpeg's memory. The coefficients of a progressive picture take 2 bytes per sample, and
// every scan goes through them again. They are allocated in huge pages: with small pages, a tenth
// of the time goes to page faults and address translation.
class Decompressor : public jpeg_decompress_struct {
 public:
  explicit Decompressor(JpegErrors& errors) : jpeg_decompress_struct{} {
    err = errors.manager();
    client_data = &errors;
  }
  ~Decompressor() { jpeg_destroy_decompress(this); }
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  // This and copy_tables() call libjpeg, so only within JpegErrors::run().
  void create();

  // Takes over the tables that `whole` has read.
  void copy_tables(const Decompressor& whole);

  // Decodes into coefficients that it shares with other decompressors, which outlive it. After
  // create().
  void use(JpegCoefficients& coefficients);

  JpegSegments segments;

 private:
  // The coefficients of a component.
  struct Coefficients {
    jvirt_barray_ptr array = nullptr;
    std::size_t bytes = 0;
  };

  // These replace functions of libjpeg's memory manager.
  static jvirt_barray_ptr request_coefficients(j_common_ptr jpeg, int pool, boolean zeroed,
                                               JDIMENSION blocks_a_row, JDIMENSION rows,
                                               JDIMENSION rows_at_a_time);
  static void allocate_coefficients(j_common_ptr jpeg);
  static jvirt_barray_ptr request_shared(j_common_ptr jpeg, int pool, boolean zeroed,
                                         JDIMENSION blocks_a_row, JDIMENSION rows,
                                         JDIMENSION rows_at_a_time);
  static JBLOCKARRAY access_shared(j_common_ptr jpeg, jvirt_barray_ptr array, JDIMENSION row,
                                   JDIMENSION rows, boolean writable);

  decltype(jpeg_memory_mgr::request_virt_barray) request_ = nullptr;
  decltype(jpeg_memory_mgr::realize_virt_arrays) allocate_ = nullptr;
  std::array<Coefficients, MAX_COMPONENTS> coefficients_{};
  std::size_t requests_ = 0;
  JpegCoefficients* shared_ = nullptr;
};

// The MCUs of a scan of all components. In a scan of one component an MCU is a block, whatever the
// sampling factors are.
[[nodiscard]] McuGrid mcu_grid(const jpeg_decompress_struct& jpeg);

}  // namespace gpufilter
