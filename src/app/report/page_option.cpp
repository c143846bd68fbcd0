#include "app/report/page_option.hpp"

#include <filesystem>

#include "app/cli/paths.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"

namespace gpufilter {

void add_report(Arguments& app, std::string& path, const std::string& help) {
  app.add_option("--report", path, help)
      ->option_text("DIR")
      ->suggests({.files = Suggestions::Files::folders});
}

void check_report(const FilterOptions& options, const std::string& output, bool output_is_folder) {
  if (options.dry_run) {
    throw UsageError("--report: not possible with --dry-run, which writes nothing");
  }
  if (!options.folder.shard.empty()) {
    throw UsageError(
        "--report: not possible with --shard; once all shares are done, gpufilter compare --report "
        "shows inputs and results");
  }
  if (output == standard_stream) return;
  const std::string folder =
      output_is_folder ? output : std::filesystem::path(output).parent_path().string();
  if (lies_in(folder, options.report)) {
    throw UsageError(
        formatted("{}: results go there; give --report another folder", printable(options.report)));
  }
}

}  // namespace gpufilter
