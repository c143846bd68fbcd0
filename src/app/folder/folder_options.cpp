#include "app/folder/folder_options.hpp"

#include <algorithm>

#include "app/cli/parse.hpp"
#include "base/format.hpp"
#include "base/threads.hpp"

namespace gpufilter {
namespace {

constexpr const char* group = "Folders";
// Below the size of the table of files that a signal removes.
constexpr int max_jobs = 128;

}  // namespace

void add_folder_options(Arguments& app, FolderOptions& options) {
  app.add_flag("--recursive", options.recursive,
               "Include subfolders of INDIR. Results keep their subfolders in OUTDIR.")
      ->group(group);
  app.add_flag("--follow-links", options.follow_links,
               "With --recursive, follow links to folders too. Links to files are always read.")
      ->group(group);
  app.add_option("--match", options.match,
                 "Only pictures in a folder whose names match. For example 'img*.png'; upper and "
                 "lower case are the same; may be repeated.")
      ->one_value_each()
      ->option_text("GLOB")
      ->group(group);
  app.add_option("--exclude", options.exclude,
                 "Skip files and folders in INDIR that match. A pattern without a slash means a "
                 "name, in any folder; with one, a path below INDIR, in which '**' stands for any "
                 "folders; with one at its end, folders only. May be repeated.")
      ->one_value_each()
      ->option_text("GLOB")
      ->group(group);
  app.add_option(
         "--list", options.list,
         "Read the list of pictures from FILE instead of searching INDIR. An entry is a path "
         "below INDIR, or a size, a tab and a path; it ends in NUL or a line end. '-' is "
         "standard input.")
      ->option_text("FILE")
      ->suggests({.files = Suggestions::Files::all})
      ->group(group);
  app.add_option(
         "--shard", options.shard,
         "Filter only share I of N, from 0/N to N-1/N. Each share is for a separate process, on "
         "any machine. auto: I and N come from Slurm, Kubernetes, MPI or GNU parallel.")
      ->option_text("I/N|auto")
      ->suggests({.words = {"auto"}})
      ->group(group);
  options.jobs = std::clamp(static_cast<int>(available_cores()), 1, max_jobs);
  app.add_option("--jobs", options.jobs, "Pictures to filter at the same time.")
      ->check(whole_number(1, max_jobs))
      ->option_text(formatted("N [{}]", options.jobs))
      ->portable_text("N [a job for each core]")
      ->group(group);
  app.add_flag("--resume", options.resume,
               "Continue an earlier run. Only filter what is missing or has changed since.")
      ->group(group);
  app.add_flag("--stop-on-error", options.stop_on_error, "Start no more pictures once one fails.")
      ->group(group);
}

void note_folder_options(const Arguments& app, FolderOptions& options) {
  for (const Option* option : app.parse_order()) {
    if (option->group() != group) continue;
    options.given = option->name();
    return;
  }
}

}  // namespace gpufilter
