// Deflate (RFC 1951) by libdeflate: small, and made joinable.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace gpufilter {

// Deflates chunk after chunk in memory that it keeps.
class LibdeflateDeflater {
 public:
  LibdeflateDeflater();
  ~LibdeflateDeflater();
  LibdeflateDeflater(const LibdeflateDeflater&) = delete;
  LibdeflateDeflater& operator=(const LibdeflateDeflater&) = delete;

  // Deflates `data` without reference to what came before, up to a whole byte. `level`:
  // libdeflate's, 0 (stored) to 12. `last`: the stream ends here; otherwise the next chunk may
  // follow, which costs inflating this one. The result stays until the next call, and depends on
  // the arguments alone. Throws std::bad_alloc.
  [[nodiscard]] std::span<const std::uint8_t> deflate(std::span<const std::uint8_t> data, int level,
                                                      bool last);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpufilter
