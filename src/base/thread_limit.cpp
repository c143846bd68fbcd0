#include "base/thread_limit.hpp"

#include <algorithm>

#include <tbb/global_control.h>

namespace gpufilter {

struct ThreadLimit::Control {
  tbb::global_control control;
};

ThreadLimit::ThreadLimit(std::size_t threads) {
  set(threads);
}

void ThreadLimit::set(std::size_t threads) {
  control_.reset(new Control{
      {tbb::global_control::max_allowed_parallelism, std::max<std::size_t>(threads, 1)}});
}

ThreadLimit::~ThreadLimit() = default;

std::size_t allowed_threads() {
  return tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
}

}  // namespace gpufilter
