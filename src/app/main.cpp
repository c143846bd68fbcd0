// The program: signals and subcommands.
#include <csignal>
#include <string>

#include <fcntl.h>
#include <unistd.h>

#include "app/compare_command.hpp"
#include "app/devices_command.hpp"
#include "app/failure.hpp"
#include "app/filter_command.hpp"
#include "app/stats_command.hpp"
#include "app/tune_command.hpp"
#include "app/verify_command.hpp"
#include "base/atomic_file.hpp"

namespace {

int run(int argc, const char* const* argv) {
  const std::string first = argc > 1 ? argv[1] : "";
  if (first == "compare") return gpufilter::run_compare_command(argc - 1, argv + 1);
  if (first == "devices") return gpufilter::run_devices_command(argc - 1, argv + 1);
  if (first == "tune") return gpufilter::run_tune_command(argc - 1, argv + 1);
  if (first == "verify") return gpufilter::run_verify_command(argc - 1, argv + 1);
  if (first == "stats") return gpufilter::run_stats_command(argc - 1, argv + 1);
  return gpufilter::run_filter_command(argc, argv);
}

// A standard stream that was closed would be the next file that is opened, a socket or a picture.
// Its place is taken by something that cannot be read or written, so that using it still fails.
void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1) continue;
    const int mode = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", mode) == -1) static_cast<void>(open("/", O_RDONLY | O_DIRECTORY));
  }
}

}  // namespace

int main(int argc, char** argv) {
  occupy_standard_streams();
  // A reader of our output that goes away shows as a failed write, with a message.
  std::signal(SIGPIPE, SIG_IGN);
  gpufilter::install_cleanup_on_signals();
  try {
    return run(argc, argv);
  } catch (...) {
    return gpufilter::report_failure();
  }
}
