#include "device/device_choice.hpp"

#include <sys/file.h>

#include "device/pocl.hpp"
#include "device/session.hpp"
#include "support/child_process.hpp"

namespace gpufilter::test {
namespace {

using Names = std::vector<std::string>;

std::vector<DeviceInfo> machine() {
  std::vector<DeviceInfo> devices(4);
  const std::array<std::pair<DeviceKind, const char*>, 4> known{{{DeviceKind::cpu, "pthread-Xeon"},
                                                                 {DeviceKind::gpu, "NVIDIA H200"},
                                                                 {DeviceKind::other, "Some FPGA"},
                                                                 {DeviceKind::gpu, "Intel Arc"}}};
  for (std::size_t i = 0; i < devices.size(); ++i) {
    devices[i].index = static_cast<int>(i);
    devices[i].kind = known.at(i).first;
    devices[i].name = known.at(i).second;
    devices[i].platform = i == 0 ? "Portable Computing Language" : "Platform";
    devices[i].platform_version =
        i == 0 ? "OpenCL 3.0 PoCL 3.1  Linux, RELOC, LLVM 14.0.6" : "OpenCL 3.0";
  }
  return devices;
}

std::vector<std::string> names(std::string_view request, bool require = false) {
  std::vector<std::string> result;
  for (const DeviceCandidate& candidate : choose_devices(request, require, machine())) {
    result.push_back(candidate.device ? candidate.device->name : "processor");
    EXPECT_FALSE(candidate.reason.empty());
  }
  return result;
}

TEST(DeviceChoice, OpenClTriesGpusThenCpusThenOthersThenTheProcessor) {
  EXPECT_EQ(names("opencl"),
            (Names{"NVIDIA H200", "Intel Arc", "pthread-Xeon", "Some FPGA", "processor"}));
}

TEST(DeviceChoice, ARequiredDeviceIsNeverTheProcessorAndTakesKindsIndicesAndPartsOfNames) {
  EXPECT_EQ(names("opencl", true),
            (Names{"NVIDIA H200", "Intel Arc", "pthread-Xeon", "Some FPGA"}));
  EXPECT_EQ(names("gpu", true), (Names{"NVIDIA H200", "Intel Arc"}));
  EXPECT_EQ(names("0", true), (Names{"pthread-Xeon"}));
  EXPECT_THROW(static_cast<void>(choose_devices("opencl", true, {})), DeviceError);
  EXPECT_THROW(static_cast<void>(choose_devices("gpu", true, {})), DeviceError);
  EXPECT_THROW(static_cast<void>(choose_devices("cpu", true, machine())), UsageError);
  EXPECT_EQ(names("gpu"), (Names{"NVIDIA H200", "Intel Arc", "processor"}));
  EXPECT_EQ(names("cpu"), (Names{"processor"}));
  EXPECT_EQ(names("3"), (Names{"Intel Arc", "processor"}));
  EXPECT_EQ(names("h200"), (Names{"NVIDIA H200", "processor"}));
  EXPECT_EQ(names("portable"), (Names{"pthread-Xeon", "processor"}));
  EXPECT_EQ(names("pocl"), (Names{"pthread-Xeon", "processor"}));
}

TEST(DeviceChoice, MisspeltKindsGetSuggestions) {
  const auto complaint = [](std::string_view request, bool require) -> std::string {
    return objection_to<DeviceError>([&] { return choose_devices(request, require, {}); }, "");
  };
  EXPECT_TRUE(contains(complaint("cup", false), "'cup' (did you mean cpu?)"));
  EXPECT_TRUE(contains(complaint("gpuu", false), "(did you mean gpu?)"));
  EXPECT_FALSE(contains(complaint("h200", false), "did you mean"));
  EXPECT_FALSE(contains(complaint("gpu", true), "did you mean"));
}

TEST(DeviceChoice, AnEmptyRequestIsWrongUsage) {
  EXPECT_THROW(static_cast<void>(choose_devices("", false, machine())), UsageError);
}

// The devices of machine() in two parts, as they are found, and the number of parts requested.
class TwoParts {
 public:
  explicit TwoParts(std::size_t first) : first_(first) {}

  [[nodiscard]] DeviceCatalog catalog() {
    const auto part = [this](std::size_t begin, std::size_t end) {
      return [this, begin, end] {
        ++asked_;
        const auto all = machine();
        return std::vector(all.begin() + static_cast<std::ptrdiff_t>(begin),
                           all.begin() + static_cast<std::ptrdiff_t>(end));
      };
    };
    return DeviceCatalog({part(0, first_), part(first_, machine().size())});
  }
  [[nodiscard]] int asked() const { return asked_; }

 private:
  std::size_t first_;
  int asked_ = 0;
};

Names all_of(const DeviceCandidates& candidates) {
  Names result;
  while (const auto candidate = candidates(result.size()))
    result.push_back(candidate->device ? candidate->device->name : "processor");
  EXPECT_FALSE(candidates(result.size() + 7));
  return result;
}

TEST(DeviceCandidates, AreFoundNoFurtherThanNeeded) {
  // The first part: a CPU, a GPU and another device.
  for (const auto& [request, first, parts] : {std::tuple{"opencl", "NVIDIA H200", 1},
                                              {"gpu", "NVIDIA H200", 1},
                                              {"1", "NVIDIA H200", 1},
                                              {"2", "Some FPGA", 1},
                                              {"3", "Intel Arc", 2},
                                              {"fpga", "Some FPGA", 1},
                                              {"arc", "Intel Arc", 2}}) {
    TwoParts found(3);
    const DeviceCandidates candidates = device_candidates(request, false, found.catalog());
    ASSERT_TRUE(candidates(0)) << request;
    EXPECT_EQ(candidates(0)->device->name, first) << request;
    EXPECT_EQ(found.asked(), parts) << request;
  }
}

TEST(DeviceChoice, TakesTheGpuThatASchedulerGaveAndSaysSo) {
  const NodeVariables second{{"SLURM_LOCALID", "1"}};
  for (const char* request : {"gpu", "opencl"}) {
    const auto chosen = choose_devices(request, false, machine(), second);
    ASSERT_GE(chosen.size(), 3U);
    EXPECT_EQ(chosen[0].device->name, "Intel Arc");
    EXPECT_EQ(chosen[0].reason, "GPU 2 of 2, by SLURM_LOCALID=1");
    EXPECT_EQ(chosen[0].share, chosen[0].reason);
    EXPECT_EQ(chosen[1].device->name, "NVIDIA H200");
    EXPECT_EQ(chosen[1].share, "");
  }
  // An index or a name is a separate request.
  for (const char* request : {"1", "h200"}) {
    const auto chosen = choose_devices(request, false, machine(), second);
    EXPECT_EQ(chosen[0].device->name, "NVIDIA H200");
    EXPECT_EQ(chosen[0].share, "");
  }
}

TEST(DeviceCandidates, AreSharedOutBeforeAllDevicesAreFound) {
  // The first part has all but PoCL's devices, here a CPU at the end.
  std::vector<DeviceInfo> devices = machine();
  std::rotate(devices.begin(), devices.begin() + 1, devices.end());
  int asked = 0;
  const auto part = [&](std::size_t begin, std::size_t end) {
    return [&, begin, end] {
      ++asked;
      return std::vector(devices.begin() + static_cast<std::ptrdiff_t>(begin),
                         devices.begin() + static_cast<std::ptrdiff_t>(end));
    };
  };
  const DeviceCandidates candidates = device_candidates(
      "opencl", false, DeviceCatalog({part(0, 3), part(3, 4)}), {{"PMI_LOCAL_RANK", "3"}});
  EXPECT_EQ(candidates(0)->device->name, "Intel Arc");
  EXPECT_EQ(asked, 1);
  EXPECT_EQ(all_of(candidates),
            (Names{"Intel Arc", "NVIDIA H200", "pthread-Xeon", "Some FPGA", "processor"}));
}

TEST(DeviceCandidates, OpenClLooksOnWhereThereIsNoGpuAndAreInTheEndThoseOfAllDevices) {
  TwoParts found(1);
  const DeviceCandidates candidates = device_candidates("opencl", false, found.catalog());
  EXPECT_EQ(candidates(0)->device->name, "NVIDIA H200");
  EXPECT_EQ(found.asked(), 2);
  for (const char* request : {"opencl", "gpu", "1", "3", "h200", "portable"}) {
    for (std::size_t first = 0; first <= machine().size(); ++first) {
      TwoParts found(first);
      EXPECT_EQ(all_of(device_candidates(request, false, found.catalog())), names(request))
          << request << first;
    }
  }
}

TEST(DeviceCandidates, KeepTheirIndices) {
  TwoParts found(2);
  DeviceCatalog catalog = found.catalog();
  while (!catalog.complete())
    catalog.find_more();
  ASSERT_EQ(catalog.devices().size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(catalog.devices()[i].index, static_cast<int>(i));
    EXPECT_EQ(catalog.devices()[i].name, machine()[i].name);
  }
}

TEST(DeviceCandidates, ThatAreNowhereAreMissingAfterAllWereAsked) {
  TwoParts found(2);
  EXPECT_THROW(static_cast<void>(device_candidates("radeon", false, found.catalog())(0)),
               DeviceError);
  EXPECT_EQ(found.asked(), 2);
  EXPECT_THROW(static_cast<void>(device_candidates("opencl", true, DeviceCatalog({}))(0)),
               DeviceError);
  EXPECT_EQ(all_of(device_candidates("opencl", false, DeviceCatalog({}))), (Names{"processor"}));
}

// Searches for devices from several threads.

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
      wait_for_child(start_child([] { return discover_devices().empty() ? 1 : 0; }));
  if (has_device != 0) GTEST_SKIP() << "skipped: no OpenCL device";
  for (int round = 0; round < 50; ++round)
    ASSERT_EQ(wait_for_child(start_child(search_from_eight_threads)), 0) << round;
}

namespace fs = std::filesystem;

TEST(ScratchFolder, IsNewAndInside) {
  const TemporaryFolder base;
  const auto first = make_scratch_folder(base.path() / "cache" / "gpufilter");
  const auto second = make_scratch_folder(base.path() / "cache" / "gpufilter");
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, *second);
  EXPECT_EQ(first->parent_path(), base.path() / "cache" / "gpufilter");
  EXPECT_TRUE(fs::is_empty(*first));
}

TEST(ScratchFolder, IsNotMadeWhereNothingCanBeWritten) {
  const TemporaryFolder base;
  write_file(base / "file", "");
  EXPECT_EQ(make_scratch_folder(base.path() / "file"), std::nullopt);
  EXPECT_EQ(make_scratch_folder("/proc"), std::nullopt);
  EXPECT_EQ(make_scratch_folder(""), std::nullopt);
}

TEST(ScratchFolder, RemovesWhatAKilledProcessLeftAndNothingElse) {
  const TemporaryFolder base;
  fs::create_directories(base.path() / "gpufilter-pocl-abandoned" / "deep");
  write_file(base / "gpufilter-pocl-abandoned/lock", "");
  fs::create_directories(base.path() / "gpufilter-pocl-in-use");
  write_file(base / "gpufilter-pocl-in-use/lock", "");
  fs::create_directories(base.path() / "gpufilter-pocl-just-made");
  fs::create_directories(base.path() / "programs");
  const int held = open((base / "gpufilter-pocl-in-use/lock").c_str(), O_RDWR | O_CLOEXEC);
  ASSERT_EQ(flock(held, LOCK_EX | LOCK_NB), 0);

  ASSERT_TRUE(make_scratch_folder(base.path()));
  EXPECT_FALSE(fs::exists(base.path() / "gpufilter-pocl-abandoned"));
  EXPECT_TRUE(fs::exists(base.path() / "gpufilter-pocl-in-use"));
  EXPECT_TRUE(fs::exists(base.path() / "gpufilter-pocl-just-made"));
  EXPECT_TRUE(fs::exists(base.path() / "programs"));
  close(held);
}

}  // namespace
}  // namespace gpufilter::test
