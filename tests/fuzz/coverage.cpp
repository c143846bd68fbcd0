#include "fuzz/coverage.hpp"

#include <array>
#include <atomic>
#include <cstdint>

namespace gpufilter::test {
namespace {

// Few of the library's blocks share an entry.
constexpr unsigned index_bits = 20;
std::array<std::atomic<bool>, std::size_t{1} << index_bits> block_is_covered;
std::atomic<std::size_t> blocks_covered;

void cover(std::uintptr_t place) {
  auto& known = block_is_covered[std::uint64_t{place} * 0x9E3779B97F4A7C15U >> (64 - index_bits)];
  if (known.load(std::memory_order_relaxed) || known.exchange(true)) return;
  ++blocks_covered;
}

}  // namespace

std::size_t covered_blocks() {
  return blocks_covered;
}

}  // namespace gpufilter::test

// The compiler calls it at the beginning of each block.
extern "C" void __sanitizer_cov_trace_pc();  // NOLINT(bugprone-reserved-identifier,cert-*)
extern "C" void __sanitizer_cov_trace_pc() {
  gpufilter::test::cover(reinterpret_cast<std::uintptr_t>(__builtin_return_address(0)));
}
