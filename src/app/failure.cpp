#include "app/failure.hpp"

#include <csignal>
#include <exception>
#include <new>

#include "base/closed_pipe.hpp"
#include "base/error.hpp"
#include "base/log.hpp"

namespace gpufilter {
namespace {

int fail(const char* reason, int exit_code) {
  log::failure(reason);
  return exit_code;
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
    return fail(error.what(), codes.picture);
  }
}

}  // namespace gpufilter
