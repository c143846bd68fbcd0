// The command line of the main job, parsed and checked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/filter/stage_options.hpp"
#include "base/log.hpp"
#include "batch/batch_run.hpp"
#include "pipeline/plan/plan.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter {

enum class TimingFormat { off, line, table, json, csv };
enum class ProgressMode { automatic, on, off };

// The request (what is filtered), the options of the run, and the options of reports.
struct FilterOptions : BatchRequest, BatchOptions {
  bool only_names = false;       // neither a stage nor an option is given
  bool on_exists_given = false;  // folders have another default
  std::string folder_option;     // the first given one that is for folders; empty: none
  std::string share;             // "I/N" or "auto"; empty: none
  std::string share_command;     // the command line, quoted for a shell, without --list and --shard
  std::vector<StageOptions::Typed> typed_stages;
  StageChain asked_chain;  // of these stages
  StageChain chain;        // the same with what --orientation adds
  OrientationRule orientation = OrientationRule::automatic;
  std::string device = "auto";
  bool require_device = false;
  bool fuse = true;  // neighbouring stages may share a kernel on an OpenCL device
  std::optional<int> band_rows;
  std::optional<std::uint64_t> max_memory;  // nothing: the default of `run`, or more for folders
  bool json = false;                        // print what became of each picture as JSON
  bool show_kernel = false;                 // print the OpenCL C that ran
  bool short_kernel = false;                // without what all kernels share
  TimingFormat timing = TimingFormat::line;
  std::string trace;         // file; empty: none
  std::string report;        // folder of a page about the run; empty: none
  std::string command_line;  // quoted for a shell
  std::string repetition;    // the command that does the whole run again
  ProgressMode progress = ProgressMode::automatic;
  log::Level log_level = log::Level::warn;
  bool quiet = false;  // already applied to timing, progress and log level

  [[nodiscard]] const std::string& input() const { return inputs.front(); }
};

// Returns nothing if the command line requested help or the version, which are then printed. Throws
// UsageError.
[[nodiscard]] std::optional<FilterOptions> parse_filter_options(int argc, const char* const* argv);

// The long names of all options, without dashes.
[[nodiscard]] std::vector<std::string> filter_option_names();

// The help on the option `name`, with its dashes; empty if there is no such option.
[[nodiscard]] std::string filter_option_page(const std::string& name);

}  // namespace gpufilter
