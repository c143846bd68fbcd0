// What may lie where the program keeps a file of its own.
#pragma once

#include "support/testing.hpp"

namespace gpufilter::test {

struct StrangeFile {
  std::string name;
  std::function<void(const std::filesystem::path&)> make;
  std::string reason;  // why it is not read, with a limit of `limit_mib`
};

// A pipe, a socket, a folder, a link to /dev/zero, and five gigabytes of zeros that take no room.
[[nodiscard]] std::vector<StrangeFile> strange_files(int limit_mib);

// Ends the test's process if it waits for a strange file.
class Alarm {
 public:
  Alarm();
  ~Alarm();
  Alarm(const Alarm&) = delete;
  Alarm& operator=(const Alarm&) = delete;
};

}  // namespace gpufilter::test
