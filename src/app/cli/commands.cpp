#include "app/cli/commands.hpp"

#include <algorithm>
#include <csignal>
#include <exception>
#include <iterator>
#include <new>
#include <string>
#include <string_view>

#include <unistd.h>

#include "app/cli/foreign_words.hpp"
#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "base/signal_cleanup.hpp"
#include "base/words.hpp"
#include "codec/codec_table.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {
namespace {

bool may_be_picture(const std::string& word) {
  return word == "-" || word.find('/') != std::string::npos || codec_of_name(word) != nullptr ||
         exists(word);
}

// "'stats' or 'devices'".
std::string quoted(std::vector<std::string> names) {
  for (std::string& name : names)
    name = formatted("'{}'", name);
  return enumerated(names, "or");
}

int fail(const char* reason, int exit_code) {
  log::failure(reason);
  return exit_code;
}

// oneTBB throws no specific type.
std::string words_of(const std::exception& error) {
  if (std::string_view(error.what()).starts_with("pthread_create has failed"))
    return "a thread cannot be started, because a limit on processes or memory is reached; try "
           "--threads 1";
  return error.what();
}

}  // namespace

const std::vector<Command>& commands() {
  static const std::vector<Command> table{
      {"bench", "WHAT", "Measure this machine and its devices", run_bench_command, bench_names},
      {"compare", "A B", "Compare two pictures or folders", run_compare_command},
      {"devices", "", "List the OpenCL devices", run_devices_command},
      {"gather", "OUTDIR", "Check and end a run in shards", run_gather_command},
      {"info", "FILE...", "Format, size, quality, profile, camera", run_info_command},
      {"learn", "[LESSON]", "A course in GPU programming", run_learn_command},
      {"montage", "DIR SHEET", "Make a contact sheet of pictures", run_montage_command},
      {"net", "FILE", "Describe a network for --net", run_net_command},
      {"stats", "FILE", "Minimum, mean, percentiles, histogram", run_stats_command},
      {"tune", "[STAGE...]", "Find the fastest kernels", run_tune_command},
      {"verify", "[STAGE...]", "Check that results are exact here", run_verify_command},
      {"watch", "INDIR OUTDIR", "Filter pictures as they arrive", run_watch_command},
      {"help", "[TOPIC]", "Explain a stage, an option, ...", run_help_command},
  };
  return table;
}

const Command* find_command(const std::string& name) {
  const auto found = std::ranges::find(commands(), name, &Command::name);
  return found == commands().end() ? nullptr : &*found;
}

std::vector<std::string> command_names() {
  std::vector<std::string> names;
  std::transform(commands().begin(), commands().end(), std::back_inserter(names),
                 [](const Command& command) { return command.name; });
  return names;
}

void refuse_misspelt_command(const std::vector<std::string>& words) {
  const std::string& first = words.front();
  if (first.starts_with("--") && find_command(first.substr(2)) != nullptr && first != "--help" &&
      find_stage(first) == nullptr) {
    throw UsageError(
        formatted("{0}: not an option; did you mean 'gpufilter {1}'?", first, first.substr(2)));
  }
  if (first.empty() || first.starts_with('-') || may_be_picture(first)) return;
  if (find_stage("--" + first) != nullptr) {
    throw UsageError(formatted(
        "{0}: not a subcommand or a picture; stages are options, as in: gpufilter in.png out.png "
        "--{0} ... (see gpufilter help {0})",
        first));
  }
  if (const std::string advice = advice_for_command(first); !advice.empty()) {
    throw UsageError(formatted("{}: not a subcommand or a picture; {}", first, advice));
  }
  const auto near = words_like(first, command_names());
  if (near.empty() && words.size() > 1) return;
  throw UsageError(formatted(
      "{}: not a subcommand or a picture{}", printable(first),
      near.empty() ? " (see gpufilter --help)" : formatted("; did you mean {}?", quoted(near))));
}

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
