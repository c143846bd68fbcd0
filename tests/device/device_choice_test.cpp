#include "device/device_choice.hpp"

#include <gtest/gtest.h>

#include "base/error.hpp"

namespace gpufilter {
namespace {

std::vector<DeviceInfo> machine() {
  std::vector<DeviceInfo> devices(4);
  const std::array<std::pair<DeviceKind, const char*>, 4> known{{
      {DeviceKind::cpu, "pthread-Xeon"},
      {DeviceKind::gpu, "NVIDIA H200"},
      {DeviceKind::other, "Some FPGA"},
      {DeviceKind::gpu, "Intel Arc"},
  }};
  for (std::size_t i = 0; i < devices.size(); ++i) {
    devices[i].index = static_cast<int>(i);
    devices[i].kind = known.at(i).first;
    devices[i].name = known.at(i).second;
    devices[i].platform = i == 0 ? "Portable Computing Language" : "Platform";
  }
  return devices;
}

std::vector<std::string> names(std::string_view request, bool require = false) {
  std::vector<std::string> result;
  for (const DeviceCandidate& candidate : choose_devices(request, require, machine())) {
    result.push_back(candidate.device ? candidate.device->name : "reference");
    EXPECT_FALSE(candidate.reason.empty());
  }
  return result;
}

using Names = std::vector<std::string>;

TEST(DeviceChoice, AutoTriesGpusThenCpusThenOthersThenTheReference) {
  EXPECT_EQ(names("auto"),
            (Names{"NVIDIA H200", "Intel Arc", "pthread-Xeon", "Some FPGA", "reference"}));
}

TEST(DeviceChoice, AllAreThoseOfAutoAndThereIsOne) {
  EXPECT_EQ(names("all"), names("auto"));
  EXPECT_EQ(names("all", true), names("auto", true));
  EXPECT_THROW(static_cast<void>(choose_devices("all", false, {})), DeviceError);
}

TEST(DeviceChoice, ARequiredDeviceIsNeverTheReference) {
  EXPECT_EQ(names("auto", true), (Names{"NVIDIA H200", "Intel Arc", "pthread-Xeon", "Some FPGA"}));
  EXPECT_THROW(static_cast<void>(choose_devices("auto", true, {})), DeviceError);
  EXPECT_THROW(static_cast<void>(choose_devices("reference", true, machine())), UsageError);
}

TEST(DeviceChoice, TakesKindsIndicesAndPartsOfNames) {
  EXPECT_EQ(names("gpu"), (Names{"NVIDIA H200", "Intel Arc"}));
  EXPECT_EQ(names("cpu"), (Names{"pthread-Xeon"}));
  EXPECT_EQ(names("3"), (Names{"Intel Arc"}));
  EXPECT_EQ(names("h200"), (Names{"NVIDIA H200"}));
  EXPECT_EQ(names("portable"), (Names{"pthread-Xeon"}));
  EXPECT_EQ(names("reference"), (Names{"reference"}));
}

TEST(DeviceChoice, NamesWhatThereIsWhenNothingFits) {
  for (const char* request : {"4", "99999999999999999999", "radeon"}) {
    try {
      static_cast<void>(choose_devices(request, false, machine()));
      FAIL() << request << " was found";
    } catch (const DeviceError& error) {
      const std::string message = error.what();
      EXPECT_NE(message.find(request), std::string::npos) << message;
      EXPECT_NE(message.find("1: NVIDIA H200 (gpu)"), std::string::npos) << message;
    }
  }
}

TEST(DeviceChoice, WithoutDevicesAutoIsTheReferenceAndTheOthersFail) {
  const auto candidates = choose_devices("auto", false, {});
  ASSERT_EQ(candidates.size(), 1U);
  EXPECT_FALSE(candidates.front().device.has_value());
  for (const char* request : {"gpu", "cpu", "0", "nvidia"}) {
    EXPECT_THROW(static_cast<void>(choose_devices(request, false, {})), DeviceError) << request;
  }
}

TEST(DeviceChoice, AnEmptyRequestIsWrongUsage) {
  EXPECT_THROW(static_cast<void>(choose_devices("", false, machine())), UsageError);
}

}  // namespace
}  // namespace gpufilter
