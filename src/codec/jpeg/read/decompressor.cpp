#include "codec/jpeg/read/decompressor.hpp"

#include <cstdint>
#include <iterator>

#include <sys/mman.h>
#include <unistd.h>

namespace gpufilter {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20U;

Decompressor& of(j_common_ptr jpeg) {
  return *static_cast<Decompressor*>(reinterpret_cast<j_decompress_ptr>(jpeg));
}

// Only a hint: a system without huge pages uses normal ones.
void prefer_huge_pages(void* begin, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t misaligned = reinterpret_cast<std::uintptr_t>(begin) % page;
  static_cast<void>(
      madvise(static_cast<char*>(begin) - misaligned, bytes + misaligned, MADV_HUGEPAGE));
}

}  // namespace

void Decompressor::create() {
  jpeg_create_decompress(this);
  request_ = mem->request_virt_barray;
  allocate_ = mem->realize_virt_arrays;
  mem->request_virt_barray = request_coefficients;
  mem->realize_virt_arrays = allocate_coefficients;
}

void Decompressor::use(JpegCoefficients& coefficients) {
  shared_ = &coefficients;
  mem->request_virt_barray = request_shared;
  mem->realize_virt_arrays = allocate_;
  mem->access_virt_barray = access_shared;
}

void Decompressor::copy_tables(const Decompressor& whole) {
  auto* const common = reinterpret_cast<j_common_ptr>(this);
  for (int i = 0; i < NUM_QUANT_TBLS; ++i) {
    if (whole.quant_tbl_ptrs[i] == nullptr) continue;
    quant_tbl_ptrs[i] = jpeg_alloc_quant_table(common);
    *quant_tbl_ptrs[i] = *whole.quant_tbl_ptrs[i];
  }
  const auto copy = [common](JHUFF_TBL* const* from, JHUFF_TBL** to) {
    for (int i = 0; i < NUM_HUFF_TBLS; ++i) {
      if (from[i] == nullptr) continue;
      to[i] = jpeg_alloc_huff_table(common);
      *to[i] = *from[i];
    }
  };
  copy(whole.dc_huff_tbl_ptrs, dc_huff_tbl_ptrs);
  copy(whole.ac_huff_tbl_ptrs, ac_huff_tbl_ptrs);
}

jvirt_barray_ptr Decompressor::request_coefficients(j_common_ptr jpeg, int pool, boolean zeroed,
                                                    JDIMENSION blocks_a_row, JDIMENSION rows,
                                                    JDIMENSION rows_at_a_time) {
  Decompressor& self = of(jpeg);
  jvirt_barray_ptr array = self.request_(jpeg, pool, zeroed, blocks_a_row, rows, rows_at_a_time);
  if (self.requests_ < self.coefficients_.size()) {
    self.coefficients_.at(self.requests_++) = {array,
                                               std::size_t{rows} * blocks_a_row * sizeof(JBLOCK)};
  }
  return array;
}

// libjpeg requests the arrays of the components in order, and passes them to access_shared().
jvirt_barray_ptr Decompressor::request_shared(j_common_ptr jpeg, int, boolean, JDIMENSION,
                                              JDIMENSION, JDIMENSION) {
  Decompressor& self = of(jpeg);
  return reinterpret_cast<jvirt_barray_ptr>(&self.shared_->component(self.requests_++));
}

JBLOCKARRAY Decompressor::access_shared(j_common_ptr, jvirt_barray_ptr array, JDIMENSION row,
                                        JDIMENSION, boolean) {
  return reinterpret_cast<JpegCoefficients::Component*>(array)->rows_from(row);
}

void Decompressor::allocate_coefficients(j_common_ptr jpeg) {
  Decompressor& self = of(jpeg);
  self.allocate_(jpeg);
  for (std::size_t i = 0; i < self.requests_; ++i) {
    const Coefficients& component = self.coefficients_.at(i);
    if (component.bytes < 2 * huge_page) continue;
    JBLOCKARRAY first_row = self.mem->access_virt_barray(jpeg, component.array, 0, 1, TRUE);
    prefer_huge_pages(first_row[0], component.bytes);
  }
  self.requests_ = 0;
}

McuGrid mcu_grid(const jpeg_decompress_struct& jpeg) {
  const ImageSize picture{static_cast<int>(jpeg.image_width), static_cast<int>(jpeg.image_height)};
  if (jpeg.num_components == 1) return {picture, {DCTSIZE, DCTSIZE}, 1};
  int blocks = 0;
  for (int i = 0; i < jpeg.num_components; ++i)
    blocks += jpeg.comp_info[i].h_samp_factor * jpeg.comp_info[i].v_samp_factor;
  return {picture, {DCTSIZE * jpeg.max_h_samp_factor, DCTSIZE * jpeg.max_v_samp_factor}, blocks};
}

}  // namespace gpufilter
