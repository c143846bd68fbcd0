// Divides buffers and threads among the pictures that are processed at the same time, such as those
// of a folder.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>

namespace gpufilter {

class FairShare {
 public:
  // `users` is the number of objects that share.
  explicit FairShare(std::atomic<std::size_t>& users) : users_(users) { ++users_; }
  ~FairShare() { --users_; }
  FairShare(const FairShare&) = delete;
  FairShare& operator=(const FairShare&) = delete;

  // How many of `all` buffers this user may have at the moment: at least two, if there are that
  // many, so that one can be filled while the other is being processed.
  [[nodiscard]] std::size_t of(std::size_t all) const {
    return std::max(all / users_.load(), std::min<std::size_t>(all, 2));
  }

  // The same for threads: at least one.
  [[nodiscard]] std::size_t of_threads(std::size_t all) const {
    return std::max<std::size_t>(all / users_.load(), 1);
  }

 private:
  std::atomic<std::size_t>& users_;
};

}  // namespace gpufilter
