// Deflate (RFC 1951) by ISA-L: fast.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace gpufilter {

// Deflates chunk after chunk in memory that it keeps.
class IsalDeflater {
 public:
  IsalDeflater();
  ~IsalDeflater();
  IsalDeflater(const IsalDeflater&) = delete;
  IsalDeflater& operator=(const IsalDeflater&) = delete;

  // Deflates `data` without reference to what came before, up to a whole byte. `level`: ISA-L's, 1
  // to 3. `last`: the stream ends here. The result stays until the next call, and depends on the
  // arguments alone. Throws std::bad_alloc.
  [[nodiscard]] std::span<const std::uint8_t> deflate(std::span<const std::uint8_t> data, int level,
                                                      bool last);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpufilter
