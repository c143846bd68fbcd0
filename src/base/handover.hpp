// What one task did, before another task's eyes.
#pragma once

#include <atomic>

namespace gpufilter {

// oneTBB orders tasks that follow each other, but in a library that thread sanitizers cannot see
// into: they would report everything that such tasks share. A handover says the order once more, at
// the cost of one atomic: whoever takes sees all that was done by those who gave.
class Handover {
 public:
  Handover() = default;
  ~Handover() { take(); }
  Handover(const Handover&) = delete;
  Handover& operator=(const Handover&) = delete;

  void give() noexcept { given_.store(true, std::memory_order_release); }
  void take() const noexcept { static_cast<void>(given_.load(std::memory_order_acquire)); }

 private:
  std::atomic<bool> given_ = false;
};

// Takes over at the beginning of a scope, hands over at its end.
class Turn {
 public:
  explicit Turn(Handover& handover) noexcept : handover_(handover) { handover_.take(); }
  ~Turn() { handover_.give(); }
  Turn(const Turn&) = delete;
  Turn& operator=(const Turn&) = delete;

 private:
  Handover& handover_;
};

}  // namespace gpufilter
