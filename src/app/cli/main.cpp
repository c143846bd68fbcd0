// The program: signals and subcommands.
#include <algorithm>
#include <array>
#include <csignal>
#include <cstdio>
#include <exception>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <gpufilter/devices.hpp>
#include <unistd.h>

#include "app/cli/commands.hpp"
#include "app/cli/main_help.hpp"
#include "base/error.hpp"
#include "base/signal_cleanup.hpp"
#include "base/threads.hpp"
#include "codec/isolated_decoding.hpp"
#include "device/session.hpp"
#include "stage/options/recipe.hpp"

namespace {

int run_words(int argc, const char* const* argv) {
  if (argc < 2) {
    std::fputs(gpufilter::brief_usage().c_str(), stderr);
    return 2;
  }
  const gpufilter::Command* command = gpufilter::find_command(argv[1]);
  if (command != nullptr) return command->run(argc - 1, argv + 1);
  if (std::string_view(argv[1]) == "version" && argc == 2) {
    const std::array<const char*, 2> arguments{argv[0], "--version"};
    return gpufilter::run_filter_command(argc, arguments.data());
  }
  gpufilter::refuse_misspelt_command({argv + 1, argv + argc});
  return gpufilter::run_filter_command(argc, argv);
}

int run_placed(const std::vector<gpufilter::PlacedWord>& words, const char* program) {
  std::vector<const char*> pointers;
  if (program != nullptr) pointers.push_back(program);
  for (const gpufilter::PlacedWord& word : words)
    pointers.push_back(word.text.c_str());
  const auto count = static_cast<int>(pointers.size());
  pointers.push_back(nullptr);
  return run_words(count, pointers.data());
}

// Replaces the names of recipes by their words. An option on the command line overrides a recipe's.
int run(int argc, const char* const* argv) {
  auto words = gpufilter::with_recipes({argv + std::min(argc, 1), argv + argc});
  while (true) {
    try {
      return run_placed(words, argc > 0 ? argv[0] : nullptr);
    } catch (const gpufilter::UsageError& error) {
      auto fewer = gpufilter::without_overridden(words, error.what());
      if (!fewer) throw gpufilter::UsageError(gpufilter::with_place(words, error.what()));
      words = std::move(*fewer);
    }
  }
}

// If a standard stream is closed, the next file or socket that is opened gets its number. So the
// number is given to something that cannot be read or written, and using the stream still fails.
void occupy_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) != -1) continue;
    const int mode = stream == STDIN_FILENO ? O_WRONLY : O_RDONLY;
    if (open("/dev/null", mode) == -1) static_cast<void>(open("/", O_RDONLY | O_DIRECTORY));
  }
}

}  // namespace

int main(int argc, char** argv) {
  gpufilter::answer_probes(argc, argv);
  gpufilter::answer_isolated_decoding(argc, argv);
  occupy_standard_streams();
  // If the reader of standard output goes away, the write fails, and unfinished files are removed
  // before the program ends. Log lines that nobody reads do not matter.
  std::signal(SIGPIPE, SIG_IGN);
  // At the file size limit the write fails too: only this picture does.
  std::signal(SIGXFSZ, SIG_IGN);
  std::set_terminate(gpufilter::end_after_failure);
  gpufilter::install_cleanup_on_signals();
  gpufilter::save_address_space();
  const int exit_code = [&] {
    try {
      return run(argc, argv);
    } catch (...) {
      return gpufilter::report_failure();
    }
  }();
  if (!gpufilter::has_hanging_device()) return exit_code;
  std::fflush(nullptr);
  ::_exit(exit_code);  // the device's library could wait for it
}
