// Programs, their cache and the queue on every device of this machine.
#include "device/session.hpp"

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <numeric>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/filtering.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

const KernelRequest naive_blur{"blur.cl", "blur_naive", "-D GROUP_WIDTH=64 -D GROUP_HEIGHT=1"};

class SessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  }

  [[nodiscard]] ProgramCache cache() const { return ProgramCache(folder_.path()); }

  // Builds the kernel in a separate session, as a new process would.
  [[nodiscard]] ProgramOrigin build(const DeviceInfo& device) const {
    return build(device, cache());
  }

  static ProgramOrigin build(const DeviceInfo& device, const ProgramCache& cache) {
    Session session(device, cache);
    const ProgramOrigin origin = session.make_kernel(naive_blur).origin();
    session.keep_programs();
    return origin;
  }

  test::TemporaryFolder folder_;
};

TEST_F(SessionTest, TakesFromTheCacheWhatAnEarlierSessionKept) {
  for (const auto& started : test::all_sessions()) {
    // Equal devices share programs, so each gets a cache of its own.
    const test::TemporaryFolder own;
    const ProgramCache cache(own.path());
    EXPECT_EQ(build(started->device(), cache), ProgramOrigin::compiled) << started->device().name;
    EXPECT_EQ(build(started->device(), cache), ProgramOrigin::cached) << started->device().name;
  }
}

// Two GPUs of one model compile once.
TEST_F(SessionTest, AnEqualDeviceTakesTheSameProgram) {
  const DeviceInfo& device = test::all_sessions().front()->device();
  DeviceInfo twin = device;
  twin.index += 1;
  ASSERT_EQ(build(device), ProgramOrigin::compiled);
  EXPECT_EQ(build(twin), ProgramOrigin::cached);
}

TEST_F(SessionTest, AnotherDriverVersionIsAnotherProgram) {
  DeviceInfo device = test::all_sessions().front()->device();
  ASSERT_EQ(build(device), ProgramOrigin::compiled);
  device.driver_version += "+1";
  EXPECT_EQ(build(device), ProgramOrigin::compiled);
  EXPECT_EQ(build(device), ProgramOrigin::cached);
}

// common.cl precedes every program: its text is part of the cache key.
TEST_F(SessionTest, AnotherCommonFileIsAnotherProgram) {
  const DeviceInfo& device = test::all_sessions().front()->device();
  ASSERT_EQ(build(device), ProgramOrigin::compiled);
  const test::TemporaryFolder kernels;
  for (const char* name : {"stage/common.cl", "window/blur.cl"}) {
    std::filesystem::copy(std::filesystem::path(GPUFILTER_SOURCE) / "kernels" / name,
                          kernels.path());
  }
  setenv("GPUFILTER_KERNELS", kernels.path().c_str(), 1);
  EXPECT_EQ(build(device), ProgramOrigin::compiled);  // its messages name the folder
  EXPECT_EQ(build(device), ProgramOrigin::cached);
  test::write_file(kernels / "common.cl", test::read_file(kernels / "common.cl") + "// changed\n");
  EXPECT_EQ(build(device), ProgramOrigin::compiled);
  unsetenv("GPUFILTER_KERNELS");
}

TEST_F(SessionTest, CompilesAgainWhereTheEntryIsDamaged) {
  const DeviceInfo& device = test::all_sessions().front()->device();
  ASSERT_EQ(build(device), ProgramOrigin::compiled);
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    std::string bytes = test::read_file(entry.path());
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] + 1);
    test::write_file(entry.path(), bytes);
  }
  EXPECT_EQ(build(device), ProgramOrigin::compiled);
  EXPECT_EQ(build(device), ProgramOrigin::cached);
}

TEST_F(SessionTest, AnUnwritableCacheIsNoFailure) {
  test::write_file(folder_ / "file", "");
  Session session(test::all_sessions().front()->device(),
                  ProgramCache(folder_.path() / "file" / "x"));
  EXPECT_EQ(session.make_kernel(naive_blur).origin(), ProgramOrigin::compiled);
  EXPECT_NO_THROW(session.keep_programs());
}

TEST_F(SessionTest, NamesTheFileThatDoesNotCompile) {
  Session session(test::all_sessions().front()->device(), std::nullopt);
  try {
    static_cast<void>(session.make_kernel({"blur.cl", "blur_naive", "-D CHANNELS=nonsense"}));
    FAIL() << "it compiled";
  } catch (const DeviceError& error) {
    EXPECT_NE(std::string(error.what()).find("blur.cl"), std::string::npos) << error.what();
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos) << error.what();
  }
}

TEST_F(SessionTest, RefusesAKernelThatIsNotThere) {
  Session session(test::all_sessions().front()->device(), std::nullopt);
  EXPECT_THROW(static_cast<void>(session.make_kernel({"blur.cl", "no_such", ""})), DeviceError);
  EXPECT_THROW(static_cast<void>(session.make_kernel({"no_such.cl", "x", ""})), DeviceError);
}

// Bands that run at the same time set different arguments.
TEST_F(SessionTest, SharesNoKernelBetweenTwoOwnersAndKeepsItForTheNext) {
  Session session(test::all_sessions().front()->device(), std::nullopt);
  KernelRequest other = naive_blur;
  other.options += " -D BORDER=1";
  const Kernel different = session.make_kernel(other);
  std::set<const Kernel::State*> first;
  {
    const Kernel a = session.make_kernel(naive_blur);
    const Kernel b = session.make_kernel(naive_blur);
    first = {&a.state(), &b.state()};
    EXPECT_EQ(first.size(), 2U);
    EXPECT_FALSE(first.contains(&different.state()));
  }
  const Kernel c = session.make_kernel(naive_blur);
  const Kernel d = session.make_kernel(naive_blur);
  EXPECT_EQ((std::set{&c.state(), &d.state()}), first);
}

TEST_F(SessionTest, RefusesMemoryThatTheDeviceDoesNotHave) {
  for (const auto& session : test::all_sessions()) {
    EXPECT_THROW(static_cast<void>(session->allocate(std::size_t{1} << 50U)), DeviceError);
  }
}

TEST_F(SessionTest, BringsBackWhatItTookAndTimesIt) {
  for (const auto& session : test::all_sessions()) {
    std::vector<std::uint8_t> sent(100'000);
    std::iota(sent.begin(), sent.end(), std::uint8_t{0});
    std::vector<std::uint8_t> received(sent.size(), 0xA5);
    const Buffer buffer = session->allocate(sent.size());
    Queue queue = session->make_queue();
    const Nanoseconds before = now();
    const Event up = queue.upload(buffer, sent.data(), sent.size());
    const Event down = queue.download(buffer, received.data(), received.size());
    queue.finish();
    const Nanoseconds after = now();
    EXPECT_EQ(received, sent);
    // On the host's clock, to a few microseconds of calibration.
    constexpr Nanoseconds slack = 5'000'000;
    EXPECT_GT(up.times().start, before - slack);
    EXPECT_LE(up.times().start + up.times().duration, down.times().start + 1);
    EXPECT_LT(down.times().start + down.times().duration, after + slack);
  }
}

}  // namespace
}  // namespace gpufilter
