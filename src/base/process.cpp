#include "base/process.hpp"

#include <atomic>
#include <random>

#include <sys/stat.h>
#include <unistd.h>

#include "base/format.hpp"

namespace gpufilter {

const std::string& process_token() {
  static const std::string token = [] {
    std::random_device random;
    return formatted("{:08x}{:08x}", random(), random());
  }();
  return token;
}

std::map<std::string, std::string> environment() {
  std::map<std::string, std::string> variables;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::size_t equals = text.find('=');
    if (equals != std::string::npos)
      variables.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return variables;
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
