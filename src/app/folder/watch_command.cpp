#include <chrono>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "app/cli/arguments.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/parse.hpp"
#include "app/filter/run_plan.hpp"
#include "app/filter/run_request.hpp"
#include "base/error.hpp"
#include "base/folder_watch.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "base/signal_cleanup.hpp"
#include "device/pocl.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

void check_watch(const FilterOptions& options) {
  if (options.inputs.size() != 1 || !is_folder_argument(options.input()) || options.in_place)
    throw UsageError("watch takes a folder and a folder for results: gpufilter watch INDIR OUTDIR");
  for (const auto& [is_given, option] :
       {std::pair{options.json, "--json"}, std::pair{options.dry_run, "--dry-run"},
        std::pair{!options.trace.empty(), "--trace"},
        std::pair{!options.report.empty(), "--report"},
        std::pair{!options.share.empty(), "--shard"}, std::pair{!options.list.empty(), "--list"},
        std::pair{timing_is_data(options), "--timing json or csv"}}) {
    if (is_given) throw UsageError(formatted("watch does not take {}", option));
  }
  for (const char* field : {"n", "hash"}) {
    if (options.name && options.name->has(field))
      throw UsageError(formatted("watch does not take {{{}}} in --name", field));
  }
}

// Filters new and changed pictures of a folder for as long as the process lives.
class WatchedFolder {
 public:
  WatchedFolder(const FilterOptions& options, Dispatcher& dispatcher)
      : options_(options), dispatcher_(dispatcher), request_(request_for(options)) {}

  // One pass over the folder. Returns how long to wait before the next one, at most.
  std::chrono::milliseconds filter_what_is_new() {
    watch_.add(options_.input(), options_.recursive);
    BatchPlan plan = make_batch_plan(request_);
    bool is_incomplete = false;
    std::erase_if(plan.items, [&](const BatchItem& item) {
      const auto version = version_of(item.input);
      if (!version || taken_[item.input] == version) return true;
      if (watch_.is_being_written(item.input) || is_recent(version->second)) {
        is_incomplete = true;
        return true;
      }
      taken_[item.input] = version;
      return false;
    });
    if (!plan.items.empty()) static_cast<void>(run_plan(options_, plan, dispatcher_, now()));
    if (!options_.quiet)
      set_message_on_signals(
          formatted("gpufilter: stopped watching {}\n", printable(options_.input())));
    return is_incomplete ? settling_time : longest_wait;
  }

  void wait(std::chrono::milliseconds longest) { watch_.wait(longest, quiet_time); }

 private:
  using Version = std::pair<std::uintmax_t, fs::file_time_type>;
  // A file that was written so recently may be incomplete, if its writer is on another machine.
  static constexpr std::chrono::milliseconds settling_time{1000};
  static constexpr std::chrono::milliseconds longest_wait{10000};
  static constexpr std::chrono::milliseconds quiet_time{200};

  static std::optional<Version> version_of(const std::string& path) {
    std::error_code size_error;
    std::error_code time_error;
    const Version version{fs::file_size(path, size_error), fs::last_write_time(path, time_error)};
    return size_error || time_error ? std::nullopt : std::optional(version);
  }

  static bool is_recent(fs::file_time_type written) {
    const auto age = fs::file_time_type::clock::now() - written;
    return age < settling_time && age > -settling_time;
  }

  const FilterOptions& options_;
  Dispatcher& dispatcher_;
  BatchRequest request_;
  FolderWatch watch_;
  std::map<std::string, std::optional<Version>> taken_;
};

constexpr const char* watch_description =
    "Filters the pictures of a folder, and then each that is new or changed, until Ctrl-C.";

constexpr const char* watch_explanation =
    R"(Stages and options are those of gpufilter INDIR OUTDIR; gpufilter --help lists
them. A picture is filtered once it is complete: its program has closed it, and
it has not changed for a second. OUTDIR's journal records what is done, so that
a restarted watch does nothing twice. Results that no journal records are left
alone, unless --on-exists overwrite is given.

A picture that fails is tried again when it changes.

Examples:
  gpufilter watch incoming web --resize 1600x1600 --to webp
  gpufilter watch /media/card/DCIM prints --recursive --levels auto=0.5
)";

// The help of the subcommand; nothing if it is not requested.
std::optional<int> show_watch_help(int argc, const char* const* argv) {
  Arguments app(watch_description, "gpufilter watch");
  std::string folder;
  for (const auto& [name, help] : {std::pair{"INDIR", "The folder to watch."},
                                   std::pair{"OUTDIR", "The folder for the results."}}) {
    app.add_option(name, folder, help)
        ->required()
        ->option_text(" ")
        ->suggests({.files = Suggestions::Files::folders});
  }
  app.footer(watch_explanation);
  const std::string_view first = argc > 1 ? argv[1] : "--help";
  if (first == "--help" || first == "-h") return parse_command_line(app, argc, argv);
  return std::nullopt;
}

}  // namespace

int run_watch_command(int argc, const char* const* argv) {
  if (const auto done = show_watch_help(argc, argv)) return *done;
  auto options = parse_filter_options(argc, argv);
  if (!options) return 0;
  check_watch(*options);
  check_folder_run(*options);
  options->resume = true;
  if (!options->on_exists_given) options->on_exists = OnExists::skip;
  options->on_exists_given = true;
  log::set_level(options->log_level);
  if (options->threads > 0) limit_pocl_threads(options->threads);
  const ProcessDispatcher process(*options);
  await_requested_device(*options, process.get());
  WatchedFolder folder(*options, process.get());
  auto longest = folder.filter_what_is_new();
  if (!options->quiet)
    print_note(formatted("watching {}; Ctrl-C ends it\n", printable(options->input())));
  for (std::string last_failure;;) {
    folder.wait(longest);
    try {
      longest = folder.filter_what_is_new();
      last_failure.clear();
    } catch (const DeviceError&) {
      throw;
    } catch (const Error& error) {  // such as a folder that is not mounted at the moment
      if (last_failure != error.what()) log::failure(error.what());
      last_failure = error.what();
    }
  }
}

}  // namespace gpufilter
