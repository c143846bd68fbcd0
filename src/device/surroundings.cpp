#include "device/surroundings.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <vector>

#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "base/format.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

// Prefixes of the names of variables.
constexpr std::array<std::string_view, 32> variables{
    "AMD_",   "CL_",  "CUDA_",   "GALLIUM_", "GLIBC_", "GPU_",   "HIP_",    "HSA_",
    "HWLOC_", "IGC_", "INTEL_",  "KMP_",     "LD_",    "LIBCLC", "LLVM_",   "MALLOC_",
    "MESA_",  "NEO",  "NVIDIA_", "NV_",      "OCL_",   "OMP_",   "ONEAPI_", "OPENCL_",
    "POCL_",  "ROC",  "RUSTICL", "SYCL_",    "TBB_",   "TMPDIR", "ZE_",     "ZES_"};

// They say which libraries to load; each library has its own answers.
constexpr std::array<std::string_view, 3> of_the_loader{
    "OCL_ICD_VENDORS=", "OCL_ICD_FILENAMES=", "OPENCL_VENDOR_PATH="};

// What drivers read in addition to their device's node.
constexpr std::array read_by_drivers{"/sys/devices/system/cpu/online",
                                     "/sys/devices/system/node",
                                     "/sys/bus/pci/devices",
                                     "/sys/class/drm",
                                     "/proc/self/maps",
                                     "/proc/cpuinfo",
                                     "/proc/meminfo",
                                     "/proc/driver/nvidia",
                                     "/dev/null",
                                     "/dev/shm",
                                     "/tmp"};

// Prefixes of the names of GPUs' nodes in /dev.
constexpr std::array<std::string_view, 5> nodes{"nvidia", "kfd", "mali", "kgsl", "dxg"};

template <typename Range>
bool begins_with_one_of(std::string_view text, const Range& beginnings) {
  return std::any_of(beginnings.begin(), beginnings.end(),
                     [&](std::string_view beginning) { return text.starts_with(beginning); });
}

std::string first_line(const char* path) {
  std::ifstream file(path);
  std::string line;
  std::getline(file, line);
  return line;
}

std::string file_system(const char* path) {
  struct statfs status {};
  if (statfs(path, &status) != 0) return formatted("{} absent\n", path);
  return formatted("{} {:x}\n", path, status.f_type);
}

// Whether it exists, and may be read, written and searched.
std::string access_to(const std::string& path) {
  std::string text = path + ' ';
  for (const int mode : {F_OK, R_OK, W_OK, X_OK})
    text += access(path.c_str(), mode) == 0 ? '1' : '0';
  return text + '\n';
}

std::string gpu_nodes() {
  std::vector<std::string> found;
  std::error_code ignored;
  for (const auto& entry : fs::directory_iterator("/dev", ignored)) {
    if (begins_with_one_of(entry.path().filename().native(), nodes)) found.push_back(entry.path());
  }
  for (const auto& entry : fs::directory_iterator("/dev/dri", ignored))
    found.push_back(entry.path());
  std::sort(found.begin(), found.end());
  std::string text;
  for (const std::string& node : found)
    text += access_to(node);
  return text;
}

std::string machine() {
  utsname names{};
  uname(&names);
  return formatted("{} {} {} {} {} {}\n", names.sysname, names.nodename, names.release,
                   names.version, names.machine, first_line("/proc/sys/kernel/random/boot_id"));
}

std::string user() {
  std::vector<gid_t> groups(static_cast<std::size_t>(std::max(getgroups(0, nullptr), 0)));
  const int count = getgroups(static_cast<int>(groups.size()), groups.data());
  groups.resize(static_cast<std::size_t>(std::max(count, 0)));
  return formatted("user {} group {} of {}\n", geteuid(), getegid(), fmt::join(groups, " "));
}

std::string limits() {
  std::string text;
  for (const auto limit : {RLIMIT_AS, RLIMIT_DATA, RLIMIT_STACK, RLIMIT_MEMLOCK, RLIMIT_NPROC,
                           RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_CPU}) {
    rlimit value{};
    getrlimit(limit, &value);
    text += formatted("limit {} {}\n", static_cast<int>(limit), value.rlim_cur);
  }
  return text + formatted("seccomp {} {}\n", prctl(PR_GET_SECCOMP),
                          prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
}

std::string environment() {
  std::vector<std::string_view> found;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (begins_with_one_of(*entry, variables) && !begins_with_one_of(*entry, of_the_loader))
      found.emplace_back(*entry);
  }
  std::sort(found.begin(), found.end());
  return formatted("{}\n", fmt::join(found, "\n"));
}

}  // namespace

std::string file_identity(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return path + " absent\n";
  return formatted("{} {}:{} {} {}.{}\n", path, status.st_dev, status.st_ino, status.st_size,
                   status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
}

std::string describe_surroundings() {
  struct stat root {};
  stat("/", &root);
  std::string text = formatted("root {}:{}\n", root.st_dev, root.st_ino);
  for (const char* path : {"/sys", "/proc", "/dev", "/dev/shm"})
    text += file_system(path);
  for (const char* path : read_by_drivers)
    text += access_to(path);
  return text + gpu_nodes() + machine() + user() + limits() + environment() +
         file_identity("/etc/ld.so.cache") + file_identity("/etc/ld.so.preload");
}

}  // namespace gpufilter
