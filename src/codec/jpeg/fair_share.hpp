// Buffers that pictures share which are under way at the same time, as those of a folder are.
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

  // How many buffers this user may have at the moment, where one alone may have `all`: at least
  // two, so that one can be filled while another is worked on.
  [[nodiscard]] std::size_t of(std::size_t all) const {
    return std::max<std::size_t>(all / users_.load(), 2);
  }

 private:
  std::atomic<std::size_t>& users_;
};

}  // namespace gpufilter
