#include "app/cli/failure.hpp"

#include <csignal>
#include <exception>
#include <new>
#include <string>
#include <string_view>

#include <unistd.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/signal_cleanup.hpp"

namespace gpufilter {
namespace {

int fail(const char* reason, int exit_code) {
  log::failure(reason);
  return exit_code;
}

// oneTBB's error has no type of its own.
std::string words_of(const std::exception& error) {
  if (std::string_view(error.what()).starts_with("pthread_create has failed"))
    return "a thread cannot be started, because a limit of processes or memory is reached; try "
           "--threads 1";
  return error.what();
}

}  // namespace

int report_failure(const ExitCodes& codes) {
  try {
    throw;
  } catch (const ClosedPipe&) {
    std::signal(SIGPIPE, SIG_DFL);
    std::raise(SIGPIPE);
    return 128 + SIGPIPE;  // if the signal is blocked
  } catch (const UsageError& error) {
    return fail(error.what(), codes.usage);
  } catch (const DeviceError& error) {
    return fail(error.what(), codes.device);
  } catch (const std::bad_alloc&) {
    return fail("not enough memory for this picture", codes.picture);
  } catch (const std::exception& error) {
    return fail(words_of(error).c_str(), codes.picture);
  }
}

void end_after_failure() noexcept {
  const int exit_code = std::current_exception() ? report_failure() : ExitCodes{}.picture;
  remove_unfinished_files();
  ::_exit(exit_code);
}

}  // namespace gpufilter
