#include "app/folder_options.hpp"

#include <algorithm>

#include "app/parse.hpp"
#include "base/format.hpp"
#include "base/thread_limit.hpp"

namespace gpufilter {
namespace {

constexpr const char* group = "Folders";
// The table of files to remove on a signal has room for more.
constexpr int max_jobs = 128;

}  // namespace

void add_folder_options(CLI::App& app, FolderOptions& options) {
  app.add_flag("--recursive", options.recursive,
               "Include the folders within INDIR. They are mirrored in OUTDIR.")
      ->group(group);
  app.add_flag("--follow-links", options.follow_links,
               "With --recursive, follow links to folders too. Links to files are always read.")
      ->group(group);
  app.add_option("--match", options.match,
                 "Only pictures of a folder with such a name. For example 'img*.png', in upper or "
                 "lower case; may be repeated.")
      ->allow_extra_args(false)
      ->option_text("GLOB")
      ->group(group);
  app.add_option("--list", options.list,
                 "The pictures of INDIR, as a file lists them: names below INDIR, or SIZE, a tab "
                 "and a name, each with a NUL or a line end behind it. '-' is standard input.")
      ->option_text("FILE")
      ->group(group);
  app.add_option(
         "--shard", options.shard,
         "Take one of N shares of INDIR, balanced by bytes: 0/N to N-1/N, each in a process "
         "of its own, on any machine. auto: what Slurm, Kubernetes, MPI or GNU parallel "
         "says.")
      ->option_text("I/N|auto")
      ->group(group);
  options.jobs = std::clamp(static_cast<int>(allowed_threads()), 1, max_jobs);
  app.add_option("--jobs", options.jobs, "Pictures under way at the same time.")
      ->check(whole_number(1, max_jobs))
      ->option_text(formatted("N [{}]", options.jobs))
      ->group(group);
  app.add_flag("--resume", options.resume,
               "Continue an earlier run. Only what is missing or has changed since is done.")
      ->group(group);
  app.add_flag("--stop-on-error", options.stop_on_error, "Begin no picture after one has failed.")
      ->group(group);
  app.add_flag("--dry-run", options.dry_run, "Say what would be done, and touch nothing.")
      ->group(group);
  app.add_flag("--json", options.json, "Print one JSON document with an object for each picture.")
      ->group(group);
}

void note_folder_options(const CLI::App& app, FolderOptions& options) {
  for (const CLI::Option* option : app.parse_order()) {
    if (option->get_group() != group) continue;
    options.given = option->get_name();
    return;
  }
}

}  // namespace gpufilter
