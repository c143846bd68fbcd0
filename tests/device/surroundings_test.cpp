#include "device/surroundings.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include "support/child_process.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

// Whether the description differs after `change`, in a separate process.
template <typename Change>
bool differs_after(Change change) {
  const int code = test::wait_for_child(test::start_child([&change] {
    const std::string before = describe_surroundings();
    if (!change()) return 2;
    return describe_surroundings() == before ? 0 : 1;
  }));
  EXPECT_LT(code, 2);
  return code == 1;
}

bool differs_with(const char* variable) {
  return differs_after([variable] { return setenv(variable, "a value", 1) == 0; });
}

TEST(Surroundings, StayTheSameWhereNothingChanges) {
  EXPECT_FALSE(differs_after([] { return true; }));
  EXPECT_EQ(describe_surroundings(), describe_surroundings());
}

TEST(Surroundings, CoverVariablesThatDriversRead) {
  for (const char* variable : {"POCL_DEVICES", "OCL_ICD_DEBUG", "CUDA_VISIBLE_DEVICES",
                               "LD_LIBRARY_PATH", "ROCR_VISIBLE_DEVICES", "MESA_DEBUG"}) {
    EXPECT_TRUE(differs_with(variable)) << variable;
  }
  for (const char* variable : {"GPUFILTER_DEVICE", "OCL_ICD_VENDORS", "EDITOR"})
    EXPECT_FALSE(differs_with(variable)) << variable;
}

TEST(Surroundings, CoverLimits) {
  for (const auto limit : {RLIMIT_AS, RLIMIT_DATA, RLIMIT_STACK}) {
    EXPECT_TRUE(differs_after([limit] {
      rlimit value{};
      if (getrlimit(limit, &value) != 0) return false;
      value.rlim_cur = std::min(value.rlim_cur, rlim_t{1} << 40U) - 4096;
      return setrlimit(limit, &value) == 0;
    })) << static_cast<int>(limit);
  }
  EXPECT_TRUE(differs_after([] { return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0; }));
}

TEST(Surroundings, CoverTheRootDirectoryAndTheUser) {
  if (geteuid() != 0) GTEST_SKIP() << "skipped: only root may change these";
  const test::TemporaryFolder folder;
  const std::string path = folder.path();
  EXPECT_TRUE(differs_after([&path] { return chroot(path.c_str()) == 0; }));
  EXPECT_TRUE(differs_after([] { return seteuid(65534) == 0; }));
}

TEST(FileIdentity, DiffersAfterEveryChange) {
  const test::TemporaryFolder folder;
  const std::string path = folder / "library";
  const std::string absent = file_identity(path);
  test::write_file(path, "one");
  const std::string first = file_identity(path);
  EXPECT_NE(first, absent);
  EXPECT_EQ(file_identity(path), first);
  test::write_file(folder / "other", "one");
  EXPECT_NE(file_identity(folder / "other"), first);
  std::filesystem::last_write_time(
      path, std::filesystem::file_time_type::clock::now() + std::chrono::seconds(1));
  EXPECT_NE(file_identity(path), first);  // the same length, but written later
  const std::string second = file_identity(path);
  std::filesystem::rename(folder / "other", path);
  EXPECT_NE(file_identity(path), second);
}

}  // namespace
}  // namespace gpufilter
