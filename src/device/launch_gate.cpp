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
  wait_for_all();
  enqueue();
  client.wait();
  widest = width;
}

void LaunchGate::alone(const std::function<void()>& work) {
  const std::lock_guard lock(mutex_);
  wait_for_all();
  widest_.clear();  // which entry serves which width is no longer known
  work();
}

void LaunchGate::wait_for_all() {
  for (Client* client : busy_)
    client->wait();
}

void LaunchGate::ended(Client& client) {
  const std::lock_guard lock(mutex_);
  busy_.erase(&client);
}

}  // namespace gpufilter
