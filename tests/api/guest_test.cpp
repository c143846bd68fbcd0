// The library as a guest in another program's process leaves the process's state alone.

#include <gpufilter/gpufilter.hpp>

#include "base/log.hpp"
#include "support/child_process.hpp"

namespace gpufilter {
namespace {

std::vector<std::string> environment() {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable)
    all.emplace_back(*variable);
  return all;
}

Picture noise(int width, int height) {
  Picture picture(Shape{width, height, 3, 8});
  unsigned state = 1;
  for (const auto [x, y] : test::each_pixel({3 * width, height}))
    picture.row<std::uint8_t>(y)[x] =
        static_cast<std::uint8_t>((state = state * 1664525U + 1013904223U) >> 24U);
  return picture;
}

// As where the processor replaces a device.
void filter_with_warning() {
  const PictureFilter filter({blur{}}, "cpu");
  static_cast<void>(filter.run(noise(40, 30)));
  log::warn_of_fallback("--device all: no GPU (see 'gpufilter devices')");
}

TEST(Guest, PrintsNothingAndKnowsItsVersion) {
  ::testing::internal::CaptureStdout();
  ::testing::internal::CaptureStderr();
  filter_with_warning();
  static_cast<void>(devices());
  const PictureFilter many({gaussian{2.0}}, FilterSettings{.limits = {.threads = 64}});
  static_cast<void>(many.run(noise(400, 300)));
  EXPECT_EQ(::testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  EXPECT_EQ(std::string(version()).find_first_not_of("0123456789."), std::string::npos);
}

TEST(Guest, TellsTheCallbackInstead) {
  std::vector<std::string> lines;
  set_log([&](LogLevel level, std::string_view line) {
    EXPECT_EQ(level, LogLevel::warning);
    lines.emplace_back(line);
  });
  filter_with_warning();
  EXPECT_EQ(lines, std::vector<std::string>{"device all: no GPU (see devices())"});
  set_log([&](LogLevel, std::string_view) { throw std::bad_alloc(); });
  filter_with_warning();
  set_log([&](LogLevel, std::string_view line) { lines.emplace_back(line); }, LogLevel::error);
  filter_with_warning();
  set_log({});
  filter_with_warning();
  EXPECT_EQ(lines.size(), 1U);
}

// While this exists, another thread may be reading the environment.
std::jthread other_thread() {
  return std::jthread([](const std::stop_token& stop) {
    while (!stop.stop_requested())
      std::this_thread::yield();
  });
}

// A shell's background job, which the tests may be, ignores some of them.
std::vector<sighandler_t> signal_handlers() {
  std::vector<sighandler_t> handlers;
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGPIPE, SIGABRT, SIGSEGV}) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    handlers.push_back(action.sa_handler);
  }
  return handlers;
}

TEST(Guest, LeavesSignalsAndEnvironmentAlone) {
  const std::jthread other = other_thread();
  const auto variables_before = environment();
  const auto handlers_before = signal_handlers();
  static_cast<void>(PictureFilter({blur{}}, "cpu").run(noise(40, 30)));
  EXPECT_EQ(environment(), variables_before);
  EXPECT_EQ(signal_handlers(), handlers_before);
  // Changes by PoCL and its compiler are not the library's.
  ::unsetenv("POCL_CACHE_DIR");  // which all tests have
  constexpr std::array variables{"POCL_CACHE_DIR",        "POCL_MAX_PTHREAD_COUNT",
                                 "POCL_CPU_MAX_CU_COUNT", "POCL_WORK_GROUP_SPECIALIZATION",
                                 "OCL_ICD_VENDORS",       "OCL_ICD_FILENAMES"};
  const auto values = [&] {
    std::vector<std::string> all;
    for (const char* variable : variables) {
      const char* value = std::getenv(variable);
      all.emplace_back(value == nullptr ? "none" : value);
    }
    return all;
  };
  const auto before = values();
  static_cast<void>(PictureFilter({blur{}}, "opencl").run(noise(40, 30)));
  static_cast<void>(devices());
  EXPECT_EQ(values(), before);
}

// Threads of the parent do not exist in the child.
TEST(Guest, WorksInForkedProcesses) {
  const Picture picture = noise(600, 500);
  const std::vector<StageUse> chain{gaussian{1.5}, levels{}};
  const PictureFilter filter(chain, "cpu");
  const Picture expected = filter.run(picture);
  const test::TemporaryFolder folder;
  for (int round = 0; round < 3; ++round) {
    const std::string file = folder / ("child" + std::to_string(round) + ".png");
    const pid_t child = test::start_child([&] {
      const auto equal = [&](const Picture& found) {
        return compare(found, expected).verdict == Differences::Verdict::equal;
      };
      if (!equal(filter.run(picture))) return 1;
      PictureFilter own(chain, "auto");
      if (!equal(own.run(picture))) return 2;
      write(file, filter.run(picture));
      if (!equal(read(file))) return 3;
      return stats(file).channels.size() == 3 ? 0 : 4;
    });
    EXPECT_EQ(test::wait_for_child(child), 0);
    EXPECT_EQ(compare(filter.run(picture), expected).verdict, Differences::Verdict::equal);
  }
}

}  // namespace
}  // namespace gpufilter
