#include "app/gather_report.hpp"

#include <algorithm>
#include <vector>

#include "app/batch_report.hpp"
#include "app/json_paths.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/printable.hpp"

namespace gpufilter {
namespace {

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
              ? count_text(report.pictures)
              : formatted("{} of {}", report.done, count_text(report.pictures));
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

}  // namespace

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

}  // namespace gpufilter
