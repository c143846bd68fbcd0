// Memory of results that were given up, for the next ones: new memory costs a page fault per page,
// several times what a filter takes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace gpufilter {

// Thread-safe; blocks may outlive it.
class ResultMemory {
 public:
  ResultMemory();

  // A block of at least `bytes`, whose contents are unspecified; it comes back once nobody uses it.
  // Throws as allocate_image_memory() does.
  [[nodiscard]] std::shared_ptr<std::uint8_t> take(std::size_t bytes);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

}  // namespace gpufilter
