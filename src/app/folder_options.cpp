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

// The endings of names, without dots, that --to takes.
std::vector<std::string> possible_endings() {
  std::vector<std::string> endings;
  for (const Codec* codec : codecs()) {
    for (const std::string& ending : codec->endings)
      endings.push_back(ending.substr(1));
  }
  return endings;
}

// Those that the help shows: one for each format.
std::vector<std::string> first_endings() {
  std::vector<std::string> endings;
  for (const Codec* codec : codecs())
    endings.push_back(codec->endings.front().substr(1));
  return endings;
}

}  // namespace

void add_folder_options(CLI::App& app, FolderOptions& options) {
  app.add_flag("--recursive", options.recursive, "Folders within INPUT too, mirrored in OUTPUT")
      ->group(group);
  app.add_flag("--follow-links", options.follow_links,
               "With --recursive: links to folders too. Links to files are always read")
      ->group(group);
  app.add_option("--match", options.match,
                 "Only pictures of a folder with such a name, in any case: 'img*.png'; may be "
                 "repeated")
      ->allow_extra_args(false)
      ->option_text("GLOB")
      ->group(group);
  app.add_option_function<std::string>(
         "--to",
         [&options](const std::string& ending) { options.to = codec_of_name("." + ending); },
         "Format of the results; by default each picture's own")
      ->check(CLI::IsMember(possible_endings()))
      ->option_text(formatted("{}", fmt::join(first_endings(), "|")))
      ->group(group);
  options.jobs = std::clamp(static_cast<int>(allowed_threads()), 1, max_jobs);
  app.add_option("--jobs", options.jobs, "Pictures at the same time")
      ->check(whole_number(1, max_jobs))
      ->option_text(formatted("N [{}]", options.jobs))
      ->group(group);
  app.add_flag("--resume", options.resume,
               "Do only what is missing or has changed since an earlier run")
      ->group(group);
  app.add_flag("--stop-on-error", options.stop_on_error, "Begin no picture after one has failed")
      ->group(group);
  app.add_flag("--dry-run", options.dry_run, "Say what would be done, and touch nothing")
      ->group(group);
  app.add_flag("--json", options.json, "Print one JSON document with an object for each picture")
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
