// The command line of the main job, parsed and checked.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/filter/stage_options.hpp"
#include "app/folder/folder_options.hpp"
#include "base/log.hpp"
#include "batch/batch_plan.hpp"
#include "pipeline/plan/plan.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter {

enum class TimingFormat { off, line, table, json, csv };
enum class ProgressMode { automatic, on, off };

struct FilterOptions {
  std::string input;                // the first of `inputs`
  std::vector<std::string> inputs;  // at least one
  std::string output;
  bool only_names = false;  // neither a stage nor an option is given
  std::vector<StageOptions::Typed> typed_stages;
  StageChain asked_chain;            // of these stages
  StageChain chain;                  // the same with what --orientation adds
  std::vector<ChainOutput> outputs;  // --output, with paths as given
  OrientationRule orientation = OrientationRule::automatic;
  // The format to write; nullptr: that of the output's name, or of the input.
  const Codec* to = nullptr;
  std::optional<NameTemplate> name;  // of results in a folder
  std::string device = "auto";
  bool require_device = false;
  bool in_place = false;
  bool dry_run = false;
  bool json = false;         // print what became of each picture as JSON
  bool fuse = true;          // neighbouring stages may share a kernel on an OpenCL device
  bool show_kernel = false;  // print the OpenCL C that ran
  TimingFormat timing = TimingFormat::line;
  std::string trace;         // file; empty: none
  std::string report;        // folder of a page about the run; empty: none
  std::string command_line;  // quoted for a shell
  std::string repetition;    // the command that does the whole run again
  OnExists on_exists = OnExists::overwrite;
  bool on_exists_given = false;  // folders have another default
  ProgressMode progress = ProgressMode::automatic;
  log::Level log_level = log::Level::warn;
  bool quiet = false;  // already applied to timing, progress and log level
  std::optional<int> band_rows;
  std::optional<int> threads;               // nothing: all cores
  std::optional<std::uint64_t> max_memory;  // nothing: that of `run`, or more for folders
  RunOptions run;
  FolderOptions folder;
};

// Returns nothing if the command line asked for help or the version, which are then printed. Throws
// UsageError.
[[nodiscard]] std::optional<FilterOptions> parse_filter_options(int argc, const char* const* argv);

// The long names of all options, without dashes.
[[nodiscard]] std::vector<std::string> filter_option_names();

// What the option `name`, with its dashes, means; empty if there is no such option.
[[nodiscard]] std::string filter_option_page(const std::string& name);

}  // namespace gpufilter
