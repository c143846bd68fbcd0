#include "app/gather_command.hpp"

#include <string>

#include "app/arguments.hpp"
#include "app/color_output.hpp"
#include "app/gather_report.hpp"
#include "app/parse.hpp"
#include "batch/gather.hpp"

namespace gpufilter {
namespace {

constexpr const char* gather_description =
    "Ends a run in shards (--shard): checks that every picture has its result, and merges the "
    "shards' journals into one.";

constexpr const char* gather_explanation =
    R"(It checks the result of every picture of the run, and lists failed and missing
pictures with the commands that filter them. Once every picture is done, it
copies the shards' journals into the folder's own journal, which --resume reads,
and removes them.

Before that, and while shards are at work, gather reports the progress and
changes nothing. You can run it at any time and as often as you like.

Exit codes: 0 every picture has its result, 1 not yet, or a file cannot be read
or written, 2 wrong usage.

Examples:
  gpufilter photos results --blur auto --shard 0/2
  gpufilter photos results --blur auto --shard 1/2
  gpufilter gather results
  gpufilter gather results --json | jq -r '.commands[]'
)";

}  // namespace

int run_gather_command(int argc, const char* const* argv) {
  Arguments app(gather_description, "gpufilter gather");
  std::string output;
  bool json = false;
  app.add_option("OUTDIR", output, "The folder with the results.")
      ->required()
      ->option_text(" ")
      ->suggests({.files = Suggestions::Files::folders});
  app.add_flag("--json", json, "Print one JSON object, with every picture that is not done.");
  add_color_output(app);
  app.footer(gather_explanation);
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  const GatherReport report = gather_shards(output);
  print_result(json ? gather_json(report) : gather_text(report));
  return report.complete() ? 0 : 1;
}

}  // namespace gpufilter
