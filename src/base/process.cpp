#include "base/process.hpp"

#include <atomic>
#include <random>

#include <sys/stat.h>

#include "base/format.hpp"

namespace gpufilter {

const std::string& process_token() {
  static const std::string token = [] {
    std::random_device random;
    return formatted("{:08x}{:08x}", random(), random());
  }();
  return token;
}

namespace {

std::atomic<bool> is_guest = false;

// Without /proc, it is not known.
bool is_only_thread() {
  constexpr nlink_t links_of_folder = 2;
  struct stat status {};
  return ::stat("/proc/self/task", &status) == 0 && status.st_nlink == links_of_folder + 1;
}

}  // namespace

void become_guest() {
  is_guest = true;
}

bool may_change_environment() {
  return !is_guest || is_only_thread();
}

}  // namespace gpufilter
