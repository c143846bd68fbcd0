// The main command and the subcommands; their table, for the program, its help and suggestions; and
// the only function that turns exceptions into messages and exit codes.
#pragma once

#include <string>
#include <vector>

namespace gpufilter {

// The main job, "gpufilter INPUT OUTPUT [STAGE...] [OPTION...]"; argv[0] is the program. Returns
// the exit code; throws UsageError, PictureError, DeviceError.
[[nodiscard]] int run_filter_command(int argc, const char* const* argv);

// The subcommands, each in its file; argv[0] is the name. As above; 1 means that bench or verify
// found other bits, tune a candidate with wrong pixels, and gather pictures without results.
[[nodiscard]] int run_bench_command(int argc, const char* const* argv);
[[nodiscard]] int run_devices_command(int argc, const char* const* argv);
[[nodiscard]] int run_gather_command(int argc, const char* const* argv);
[[nodiscard]] int run_help_command(int argc, const char* const* argv);
[[nodiscard]] int run_info_command(int argc, const char* const* argv);
[[nodiscard]] int run_net_command(int argc, const char* const* argv);
[[nodiscard]] int run_stats_command(int argc, const char* const* argv);
[[nodiscard]] int run_learn_command(int argc, const char* const* argv);
[[nodiscard]] int run_tune_command(int argc, const char* const* argv);
[[nodiscard]] int run_verify_command(int argc, const char* const* argv);
[[nodiscard]] int run_montage_command(int argc, const char* const* argv);
[[nodiscard]] int run_watch_command(int argc, const char* const* argv);

// Has its own exit codes: 0 equal, 1 different within the tolerance, 2 different, 3 different size
// or format; for folders the highest code of all names. 4 means that no comparison was possible: a
// file that cannot be read, folders without pictures, a difference picture or a result that cannot
// be written. Wrong usage is 4 too, although it is 2 elsewhere: a script must never mistake a
// mistyped option for "different" (cmp and diff also have one code for trouble). It reports all
// failures itself and throws nothing.
[[nodiscard]] int run_compare_command(int argc, const char* const* argv);

// Benchmarks of stages; argv[0] is the name. As run_bench_command().
[[nodiscard]] int run_bench_blur(int argc, const char* const* argv);
[[nodiscard]] int run_bench_color(int argc, const char* const* argv);
[[nodiscard]] int run_bench_lookup(int argc, const char* const* argv);
[[nodiscard]] int run_bench_stages(int argc, const char* const* argv);
[[nodiscard]] int run_bench_roofline(int argc, const char* const* argv);
[[nodiscard]] int run_bench_mlp(int argc, const char* const* argv);
[[nodiscard]] int run_bench_net(int argc, const char* const* argv);

// The names of what bench measures.
[[nodiscard]] std::vector<std::string> bench_names();

struct Command {
  std::string name;       // "stats"
  std::string arguments;  // for the help: "FILE"
  std::string summary;    // what it does, in a phrase
  int (*run)(int argc, const char* const* argv);
  // The words that may follow the name and have their own command lines: "bench copy".
  std::vector<std::string> (*variants)() = nullptr;
};

[[nodiscard]] const std::vector<Command>& commands();

// nullptr if there is no subcommand of that name.
[[nodiscard]] const Command* find_command(const std::string& name);

[[nodiscard]] std::vector<std::string> command_names();

// Throws UsageError if the first word after the program's name can only be a misspelt subcommand or
// the name of a stage: it has neither a folder nor the extension of a picture, there is no such
// file, and it is a stage, is similar to a subcommand's name or is the only word. `words` begins
// with it.
void refuse_misspelt_command(const std::vector<std::string>& words);

// By the kind of failure; commands whose exit codes have other meanings have their own.
struct ExitCodes {
  int picture = 1;  // and everything except the other two
  int usage = 2;
  int device = 3;
};

// Only while an exception is handled: prints "gpufilter: PATH: REASON" and returns its exit code.
[[nodiscard]] int report_failure(const ExitCodes& codes = {});

// The program's terminate handler: an exception on a thread that nobody can catch it on, such as
// one of oneTBB's, ends the program like any other failure, and unfinished files are removed.
[[noreturn]] void end_after_failure() noexcept;

}  // namespace gpufilter
