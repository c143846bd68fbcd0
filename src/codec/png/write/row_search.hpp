// Chooses filters by trying each of them on each row.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

namespace gpufilter {

struct PngRowBlock;

// Filters one block after the other, in memory that it keeps.
class PngRowSearch {
 public:
  PngRowSearch();
  ~PngRowSearch();
  PngRowSearch(const PngRowSearch&) = delete;
  PngRowSearch& operator=(const PngRowSearch&) = delete;

  // What is to be smallest.
  enum class Measure {
    residues,  // the sum of their distances from 0, as libpng chooses
    deflated   // the row, deflated after the filtered rows above it: slow, and best
  };

  // Writes the filtered rows of `block`. `filtered` has room for block.row_bytes + 1 bytes a row.
  // The result depends on the block alone. Throws std::bad_alloc, and Stopped as check_stop().
  void filter(const PngRowBlock& block, Measure measure, std::uint8_t* filtered);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace gpufilter
