#include <algorithm>
#include <string>
#include <vector>

#include "app/cli/arguments.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/json_parts.hpp"
#include "app/cli/parse.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"
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

constexpr std::size_t max_lines = 10;

std::size_t count_failed(const GatherReport& report) {
  return static_cast<std::size_t>(
      std::count_if(report.unfinished.begin(), report.unfinished.end(),
                    [](const UnfinishedPicture& picture) { return !picture.failure.empty(); }));
}

std::string processes_text(std::size_t count) {
  return formatted("{} process{}", count, count == 1 ? "" : "es");
}

std::string summary(const GatherReport& report) {
  std::string text = printable(report.output) + ": ";
  text += report.done == report.pictures
              ? counted(report.pictures, "picture")
              : formatted("{} of {}", report.done, counted(report.pictures, "picture"));
  text += " done";
  const std::size_t failed = count_failed(report);
  for (const auto& [count, words] :
       {std::pair{failed, "failed"}, std::pair{report.unfinished.size() - failed, "missing"},
        std::pair{report.under_way, "in progress"}}) {
    if (count > 0) text += formatted(", {} {}", count, words);
  }
  if (report.gathered) {
    text += formatted("; gathered from {}", processes_text(report.processes));
  } else if (report.complete()) {
    text += "; nothing to gather";
  }
  return text + "\n";
}

// The first ten lines, each after `label`.
std::string first_of(const std::vector<std::string>& lines, const std::string& label) {
  std::string text;
  for (std::size_t i = 0; i < std::min(lines.size(), max_lines); ++i)
    text += formatted("{}{}\n", label, lines[i]);
  if (lines.size() > max_lines)
    text += formatted("{}... and {} more (--json lists all)\n", label, lines.size() - max_lines);
  return text;
}

std::string unfinished_lines(const GatherReport& report) {
  std::vector<std::string> failed;
  std::vector<std::string> missing;
  for (const UnfinishedPicture& picture : report.unfinished) {
    if (!picture.failure.empty()) {
      failed.push_back(printable(picture.failure));
    } else {
      missing.push_back(printable(report.has_run ? picture.input : picture.output));
    }
  }
  return first_of(failed, "failed: ") + first_of(missing, "missing: ");
}

std::vector<std::string> process_texts(const std::vector<ShardProcess>& processes) {
  std::vector<std::string> texts;
  texts.reserve(processes.size());
  for (const ShardProcess& process : processes) {
    texts.push_back(formatted("shard {} on {}, process {}", to_string(process.shard),
                              printable(process.host), process.process));
  }
  return texts;
}

Json processes_json(const std::vector<ShardProcess>& processes) {
  Json json = Json::array();
  for (const ShardProcess& process : processes) {
    json.push_back({{"shard", to_string(process.shard)},
                    {"host", process.host},
                    {"process", process.process},
                    {"began", process.began / 1'000'000}});
  }
  return json;
}

Json picture_json(const UnfinishedPicture& picture, bool has_run) {
  Json json;
  if (has_run) add_path(json, "input", picture.input);
  add_path(json, "output", picture.output);
  json["status"] = picture.failure.empty() ? "missing" : "failed";
  if (!picture.failure.empty()) add_path(json, "error", picture.failure);
  if (has_run) json["shard"] = to_string(picture.shard);
  return json;
}

// A line with the counts, then missing pictures and those in progress, and the commands for the
// rest: at most ten lines of each.
std::string gather_text(const GatherReport& report) {
  std::string text = summary(report) + unfinished_lines(report);
  text += first_of(process_texts(report.stopped), "did not end: ");
  text += first_of(process_texts(report.at_work), "at work: ");
  if (!report.commands.empty()) text += "to do the rest:\n" + first_of(report.commands, "  ");
  if (!report.at_work.empty()) {
    text += "run gather again when these processes have ended\n";
  } else if (report.busy) {
    text += "another gpufilter is writing to this folder; run gather again when it has ended\n";
  }
  return text;
}

// The whole report as one JSON object, "gpufilter-gather-1".
std::string gather_json(const GatherReport& report) {
  const std::size_t failed = count_failed(report);
  Json json{{"schema", "gpufilter-gather-1"}};
  add_path(json, "output", report.output);
  json["complete"] = report.complete();
  json["gathered"] = report.gathered;
  json["busy"] = report.busy;
  json["pictures"] = report.pictures;
  json["done"] = report.done;
  json["failed"] = failed;
  json["missing"] = report.unfinished.size() - failed;
  json["under_way"] = report.under_way;
  json["processes"] = report.processes;
  json["unfinished"] = Json::array();
  for (const UnfinishedPicture& picture : report.unfinished)
    json["unfinished"].push_back(picture_json(picture, report.has_run));
  json["stopped"] = processes_json(report.stopped);
  json["at_work"] = processes_json(report.at_work);
  json["commands"] = report.commands;
  return json.indented(2) + "\n";
}

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
  json ? print_document(gather_json(report)) : print_result(gather_text(report));
  return report.complete() ? 0 : 1;
}

}  // namespace gpufilter
