// The gate with a device that fails where PoCL does: when a launch is wider than all before it, no
// other command may be running or begin beside it.
#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "base/format.hpp"
#include "device/pocl.hpp"

namespace gpufilter {
namespace {

const LaunchGate::Key key{"blur.cl -D CHANNELS=3", "blur_naive", 64, 4};

// What makes PoCL fail: a launch wider than those before it that begins or runs beside another.
class Device {
 public:
  void begin(const LaunchGate::Key& kernel, std::size_t width) {
    const std::lock_guard lock(mutex_);
    if (alone_) ++violations_;
    if (width > widest_[kernel]) {
      if (under_way_ != 0) ++violations_;
      widest_[kernel] = width;
      alone_ = true;
    }
    ++under_way_;
  }
  void end(std::size_t commands) {
    const std::lock_guard lock(mutex_);
    under_way_ -= commands;
    if (under_way_ == 0) alone_ = false;
  }
  [[nodiscard]] int violations() const { return violations_; }
  [[nodiscard]] std::size_t under_way() const { return under_way_; }

 private:
  std::mutex mutex_;
  std::map<LaunchGate::Key, std::size_t> widest_;
  std::size_t under_way_ = 0;
  bool alone_ = false;
  int violations_ = 0;
};

class FakeQueue final : public LaunchGate::Client {
 public:
  FakeQueue(LaunchGate& gate, Device& device) : gate_(gate), device_(device) {}
  ~FakeQueue() override { finish(); }

  void launch(const LaunchGate::Key& kernel, std::size_t width) {
    gate_.launch(kernel, width, *this, [&] {
      device_.begin(kernel, width);
      ++under_way_;
    });
  }
  void finish() {
    wait();
    gate_.ended(*this);
  }
  // Two threads may wait at the same time: neither continues before the commands have ended.
  void wait() override {
    const std::lock_guard lock(ending_);
    std::this_thread::yield();
    device_.end(under_way_.exchange(0));
  }

 private:
  LaunchGate& gate_;
  Device& device_;
  std::atomic<std::size_t> under_way_ = 0;
  std::mutex ending_;
};

TEST(LaunchGate, GivesTheWidestLaunchesTheDeviceToThemselves) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    LaunchGate gate;
    Device device;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 6; ++t) {
      threads.emplace_back([&gate, &device, seed, t] {
        std::mt19937 random(seed * 100 + t);
        FakeQueue queue(gate, device);
        for (std::size_t step = 1; step <= 200; ++step) {
          const LaunchGate::Key kernel{"blur.cl", formatted("blur_{}", random() % 3), 1, 1};
          queue.launch(kernel, 1 + random() % (step * 10));
          if (random() % 3 == 0) queue.finish();
        }
      });
    }
    for (std::thread& thread : threads)
      thread.join();
    ASSERT_EQ(device.violations(), 0) << "seed " << seed;
    ASSERT_EQ(device.under_way(), 0U);
  }
}

TEST(LaunchGate, LetsLaunchesThatAreNoWiderRunBesideEachOther) {
  LaunchGate gate;
  Device device;
  FakeQueue first(gate, device);
  FakeQueue second(gate, device);
  first.launch(key, 100);
  EXPECT_EQ(device.under_way(), 0U) << "the first launch is a wider one, and waited for";
  first.launch(key, 100);
  second.launch(key, 50);
  EXPECT_EQ(device.under_way(), 2U);
  second.launch(key, 101);
  EXPECT_EQ(device.under_way(), 0U) << "both were waited for";
  EXPECT_EQ(device.violations(), 0);
}

TEST(LaunchGate, WaitsForAllBeforeWorkThatWantsToBeAlone) {
  LaunchGate gate;
  Device device;
  FakeQueue queue(gate, device);
  queue.launch(key, 100);
  queue.launch(key, 100);
  gate.alone([&] { EXPECT_EQ(device.under_way(), 0U); });
  queue.launch(key, 100);
  EXPECT_EQ(device.under_way(), 0U) << "the first launch after it is on its own too";
}

TEST(LaunchGate, GoesOnAfterALaunchThatFails) {
  LaunchGate gate;
  Device device;
  FakeQueue queue(gate, device);
  const auto fail = [] { throw std::runtime_error("no"); };
  EXPECT_THROW(gate.launch(key, 100, queue, fail), std::runtime_error);
  EXPECT_THROW(gate.launch(key, 0, queue, fail), std::runtime_error);
  queue.launch(key, 10);
  queue.launch(key, 10);
  EXPECT_EQ(device.violations(), 0);
}

}  // namespace
}  // namespace gpufilter
