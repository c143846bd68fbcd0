// Searches for devices from several threads.
#include <atomic>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "device/device_choice.hpp"
#include "device/session.hpp"
#include "support/child_process.hpp"

namespace gpufilter {
namespace {

std::string names_of(const std::vector<DeviceInfo>& devices) {
  std::string names;
  for (const DeviceInfo& device : devices)
    names += device.unusable.empty() ? device.name + "\n" : "";
  return names;
}

// Eight threads search at once and start what they find; each has to find the same.
int search_from_eight_threads() {
  std::atomic<int> waiting = 8;
  std::vector<std::string> found(8);
  std::vector<std::thread> threads;
  for (std::string& names : found) {
    threads.emplace_back([&] {
      --waiting;
      while (waiting > 0)
        std::this_thread::yield();
      const std::vector<DeviceInfo> devices = device_catalog().find_all();
      names = names_of(devices);
      for (const DeviceInfo& device : devices)
        if (device.unusable.empty()) Session(device, std::nullopt).make_queue().finish();
    });
  }
  for (std::thread& thread : threads)
    thread.join();
  for (const std::string& names : found)
    if (names.empty() || names != found.front()) return 1;
  return 0;
}

// Each time in a process that has not used OpenCL before.
TEST(DeviceCatalog, ThreadsFindTheSameAtOnce) {
  GPUFILTER_REQUIRE_A_NEW_PROCESS();
  const int has_device =
      test::wait_for_child(test::start_child([] { return discover_devices().empty() ? 1 : 0; }));
  if (has_device != 0) GTEST_SKIP() << "skipped: no OpenCL device";
  for (int round = 0; round < 50; ++round)
    ASSERT_EQ(test::wait_for_child(test::start_child(search_from_eight_threads)), 0) << round;
}

}  // namespace
}  // namespace gpufilter
