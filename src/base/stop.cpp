#include "base/stop.hpp"

#include <utility>

namespace gpufilter {
namespace {

thread_local const std::stop_token* stop_of_call = nullptr;

}  // namespace

StopScope::StopScope(const std::stop_token& stop) : before_(std::exchange(stop_of_call, &stop)) {}

StopScope::~StopScope() {
  stop_of_call = before_;
}

const std::stop_token& stop_of_this_call() {
  static const std::stop_token none;
  return stop_of_call == nullptr ? none : *stop_of_call;
}

void check_stop() {
  if (stop_of_call != nullptr && stop_of_call->stop_requested()) throw Stopped("stopped");
}

}  // namespace gpufilter
