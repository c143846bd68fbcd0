// Objects that take long to create, kept for reuse.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

namespace gpufilter {

// Those that nobody uses at the moment. Thread-safe.
template <typename Thing>
class Idle {
 public:
  // The object that was put here last; otherwise make(), which may take long.
  template <typename Make>
  [[nodiscard]] Thing take(const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      if (!things_.empty()) {
        Thing taken = std::move(things_.back());
        things_.pop_back();
        return taken;
      }
    }
    return make();
  }

  void put(Thing thing) {
    const std::lock_guard lock(mutex_);
    things_.push_back(std::move(thing));
  }

  // All that were put here; nobody may take or put one meanwhile.
  [[nodiscard]] const std::vector<Thing>& all() const { return things_; }

 private:
  std::mutex mutex_;
  std::vector<Thing> things_;
};

// `bytes` rounded up to one of a few sizes; at most an eighth is wasted.
[[nodiscard]] inline std::size_t pooled_size(std::size_t bytes) {
  std::size_t step = 1;
  while (step * 2 <= bytes / 8)
    step *= 2;
  return (bytes + step - 1) / step * step;
}

// Idle objects by their size in bytes. Thread-safe.
template <typename Thing>
class IdlePool {
 public:
  // Keeps up to `maximum` bytes; anything beyond that is dropped.
  explicit IdlePool(std::uint64_t maximum) : maximum_(maximum) {}

  // Takes one of exactly that size, if there is one.
  [[nodiscard]] std::optional<Thing> take(std::size_t size) {
    const std::lock_guard lock(mutex_);
    auto found = idle_.extract(size);
    if (found.empty()) return std::nullopt;
    bytes_ -= size;
    return std::move(found.mapped());
  }

  void put(std::size_t size, Thing thing) {
    const std::lock_guard lock(mutex_);
    if (bytes_ + size > maximum_) return;
    idle_.emplace(size, std::move(thing));
    bytes_ += size;
  }

 private:
  std::mutex mutex_;
  std::uint64_t maximum_;
  std::uint64_t bytes_ = 0;
  std::multimap<std::size_t, Thing> idle_;
};

}  // namespace gpufilter
