// Deflate (RFC 1951) by libdeflate, which makes the smallest files. Its streams cannot be
// continued; here they are changed so that another chunk can follow.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

namespace gpufilter {

// Deflates one chunk after the other, in memory that it keeps.
class LibdeflateDeflater {
 public:
  LibdeflateDeflater();
  ~LibdeflateDeflater();
  LibdeflateDeflater(const LibdeflateDeflater&) = delete;
  LibdeflateDeflater& operator=(const LibdeflateDeflater&) = delete;

  // Deflates `data` without reference to earlier chunks, up to a whole byte. `level` is
  // libdeflate's, from 0 (stored) to 12. `last`: the stream ends with this chunk; if it does not,
  // the chunk is inflated again to find the end of its last block. The result is valid until the
  // next call and depends on the arguments alone. Throws std::bad_alloc.
  [[nodiscard]] std::span<const std::uint8_t> deflate(std::span<const std::uint8_t> data, int level,
                                                      bool last);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpufilter
