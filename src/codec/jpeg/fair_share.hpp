// Buffers and threads that pictures share which are under way at the same time, as those of a
// folder are.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace gpufilter {

class FairShare {
 public:
  // `users` counts those who share.
  explicit FairShare(std::atomic<std::size_t>& users) : users_(users) { ++users_; }
  ~FairShare() { --users_; }
  FairShare(const FairShare&) = delete;
  FairShare& operator=(const FairShare&) = delete;

  // How many buffers this user may have at the moment, where one alone may have `all`: two or more,
  // so that one can be filled while another is worked on, unless `all` is less.
  [[nodiscard]] std::size_t of(std::size_t all) const {
    return std::max(all / users_.load(), std::min<std::size_t>(all, 2));
  }

  // The same for threads: one or more.
  [[nodiscard]] std::size_t of_threads(std::size_t all) const {
    return std::max<std::size_t>(all / users_.load(), 1);
  }

 private:
  std::atomic<std::size_t>& users_;
};

}  // namespace gpufilter
