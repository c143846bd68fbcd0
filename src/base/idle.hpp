// Objects that take long to create, kept for reuse.
#pragma once

#include <mutex>
#include <utility>
#include <vector>

namespace gpufilter {

// Those that nobody uses at the moment. Thread-safe.
template <typename Thing>
class Idle {
 public:
  // The one that was put here last; otherwise make(), which may take long.
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

  // Calls use(thing) for each. Nobody may take or put one meanwhile.
  template <typename Use>
  void for_each(const Use& use) const {
    for (const Thing& thing : things_)
      use(thing);
  }

 private:
  std::mutex mutex_;
  std::vector<Thing> things_;
};

}  // namespace gpufilter
