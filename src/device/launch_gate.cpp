#include "device/launch_gate.hpp"

namespace gpufilter {

void LaunchGate::launch(const Key& key, std::size_t width, Client& client,
                        const std::function<void()>& enqueue) {
  const std::lock_guard lock(mutex_);
  std::size_t& widest = widest_[key];
  if (width <= widest) {
    enqueue();
    busy_.insert(&client);
    return;
  }
  for (Client* other : busy_)
    other->wait();
  enqueue();
  client.wait();
  widest = width;
}

void LaunchGate::ended(Client& client) {
  const std::lock_guard lock(mutex_);
  busy_.erase(&client);
}

}  // namespace gpufilter
