// Pixels in memory between pages that cannot be touched.
#pragma once

#include <sys/mman.h>

#include "image/rows.hpp"
#include "support/testing.hpp"

namespace gpufilter::test {

// Rows with a gap of any size between them. One end of the pixels lies at the end of the memory:
// reading or writing a byte further ends the process.
class GuardedRows {
 public:
  enum class Touching { beginning, end };

  // Every byte is `pattern` at first.
  GuardedRows(const PictureShape& picture, std::size_t gap, Touching touching,
              std::uint8_t pattern = 0xA5)
      : picture_(picture), page_(static_cast<std::size_t>(::sysconf(_SC_PAGESIZE))) {
    const std::size_t row =
        static_cast<std::size_t>(picture.size.width) * picture.format.bytes_per_pixel();
    pitch_ = row + gap;
    const std::size_t bytes = pitch_ * static_cast<std::size_t>(picture.size.height - 1) + row;
    inner_ = (bytes + page_ - 1) / page_ * page_;
    memory_ = ::mmap(nullptr, inner_ + 2 * page_, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory_ == MAP_FAILED) throw std::runtime_error("mmap failed");
    auto* first = static_cast<std::uint8_t*>(memory_) + page_;
    if (::mprotect(first, inner_, PROT_READ | PROT_WRITE) != 0)
      throw std::runtime_error("mprotect failed");
    std::memset(first, pattern, inner_);
    data_ = touching == Touching::end ? first + inner_ - bytes : first;
  }
  ~GuardedRows() { ::munmap(memory_, inner_ + 2 * page_); }
  GuardedRows(const GuardedRows&) = delete;
  GuardedRows& operator=(const GuardedRows&) = delete;

  [[nodiscard]] MutableRows rows() const {
    return {data_, pitch_, {0, picture_.size.height}, picture_.size.width, picture_.format};
  }
  // Copies pixels into it; bytes between rows stay.
  void fill(const ConstRows& pixels) const {
    for (int y = 0; y < picture_.size.height; ++y) {
      std::memcpy(
          rows().row(y), pixels.row(y + pixels.rows.begin),
          static_cast<std::size_t>(picture_.size.width) * picture_.format.bytes_per_pixel());
    }
  }
  // Whether the bytes between rows are still `pattern`.
  [[nodiscard]] bool gaps_hold(std::uint8_t pattern = 0xA5) const {
    const std::size_t row =
        static_cast<std::size_t>(picture_.size.width) * picture_.format.bytes_per_pixel();
    for (int y = 0; y + 1 < picture_.size.height; ++y) {
      for (std::size_t i = row; i < pitch_; ++i) {
        if (rows().row(y)[i] != pattern) return false;
      }
    }
    return true;
  }

 private:
  PictureShape picture_;
  std::size_t page_;
  std::size_t pitch_ = 0;
  std::size_t inner_ = 0;
  void* memory_ = nullptr;
  std::uint8_t* data_ = nullptr;
};

}  // namespace gpufilter::test
