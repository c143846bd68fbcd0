#include "pipeline/run/memory_call.hpp"

#include <utility>

namespace gpufilter {

std::size_t MemoryCall::threads() const {
  if (limits_.threads == 1) return 1;
  const std::size_t allowed = allowed_threads();
  return limits_.threads > 0 ? std::min(allowed, static_cast<std::size_t>(limits_.threads))
                             : allowed;
}

void MemoryCall::add_rows(int rows, int all) {
  if (control_.progress == nullptr) return;
  const std::lock_guard lock(mutex_);
  rows_ += rows;
  control_.progress((walk_ + static_cast<double>(rows_) / all) / walks_);
}

void MemoryCall::end_walk() {
  const std::lock_guard lock(mutex_);
  ++walk_;
  rows_ = 0;
}

void MemoryCall::use_device(Engine& engine, std::shared_ptr<Session> session) {
  engine_ = &engine;
  session_ = std::move(session);
}

bool MemoryCall::leave_device(const DeviceError& failure) {
  const auto failed = std::exchange(session_, nullptr);
  walk_ = 0;
  rows_ = 0;
  return failed != nullptr && engine_->leave(*failed, failure.what());
}

}  // namespace gpufilter
