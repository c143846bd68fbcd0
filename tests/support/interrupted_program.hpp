// A program that gets a signal when its own work has come far enough, however fast the machine is.
#pragma once

#include <chrono>
#include <csignal>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include <fcntl.h>

#include "support/child_process.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter::test {

struct InterruptedProgram {
  int exit_code = 0;  // as wait_for_child() gives it
  std::string err;
};

// Runs gpufilter with `words` in `folder` and sends `signal_number` once `has_come_far` holds, at
// the latest after a minute. Only for processes that have had no threads.
inline InterruptedProgram interrupt_program(std::vector<std::string> words,
                                            const std::string& folder, int signal_number,
                                            const std::function<bool()>& has_come_far) {
  const TemporaryFolder elsewhere;
  const std::string err = elsewhere / "err";
  words.insert(words.begin(), GPUFILTER_PROGRAM);
  const pid_t child = start_child([&] {
    std::vector<char*> arguments;
    for (std::string& word : words)
      arguments.push_back(word.data());
    arguments.push_back(nullptr);
    ::dup2(::open("/dev/null", O_WRONLY), STDOUT_FILENO);
    ::dup2(::open(err.c_str(), O_WRONLY | O_CREAT, 0600), STDERR_FILENO);
    std::signal(signal_number, SIG_DFL);
    if (::chdir(folder.c_str()) == 0) ::execv(arguments.front(), arguments.data());
    return 99;
  });
  const auto limit = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!has_come_far() && std::chrono::steady_clock::now() < limit)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  ::kill(child, signal_number);
  const int exit_code = wait_for_child(child);
  return {exit_code, read_file(err)};
}

// How many finished PNG files are in a folder, which may not exist yet.
inline std::ptrdiff_t finished_pictures(const std::filesystem::path& folder) {
  std::error_code none;
  std::ptrdiff_t found = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder, none))
    found += entry.path().extension() == ".png" ? 1 : 0;
  return found;
}

}  // namespace gpufilter::test
