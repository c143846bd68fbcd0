#include "codec/jpeg/decompressor.hpp"

#include <cstdint>

#include <sys/mman.h>
#include <unistd.h>

namespace gpufilter {
namespace {

constexpr std::size_t huge_page = std::size_t{2} << 20U;

Decompressor& of(j_common_ptr jpeg) {
  return *static_cast<Decompressor*>(reinterpret_cast<j_decompress_ptr>(jpeg));
}

// Only a wish: a system that has no huge pages goes on with its own.
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

}  // namespace gpufilter
