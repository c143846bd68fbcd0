#include "app/folder/batch_report.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include "app/cli/progress_text.hpp"
#include "app/filter/timing_line.hpp"
#include "app/filter/timing_report.hpp"
#include "app/folder/batch_rates.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/time_units.hpp"
#include "base/words.hpp"
#include "device/brief_version.hpp"

namespace gpufilter {
namespace {

constexpr const char* summed = "sums over all pictures; several are in progress at the same time";

// "in", "in and 3 more inputs"
std::string source_text(const BatchPlan& plan) {
  const std::size_t more = plan.inputs.size() - 1;
  return more == 0 ? plan.inputs.front()
                   : formatted("{} and {}", plan.inputs.front(), counted(more, "more input"));
}

// "device: processor (reason)", "devices: processor (12 pictures), another (1 picture)"
std::string devices_text(const BatchTotals& totals) {
  const auto& uses = totals.devices();
  if (uses.size() == 1) {
    const EngineReport& engine = uses.front().engine;
    return "device: " + engine.device + (engine.reason.empty() ? "" : " (" + engine.reason + ")");
  }
  std::vector<std::string> names;
  names.reserve(uses.size());
  for (const auto& use : uses) {
    const std::string& share = use.engine.share;
    names.push_back(formatted("{} ({}{}{})", use.engine.device, counted(use.pictures, "picture"),
                              share.empty() ? "" : "; ", share));
  }
  return formatted("devices: {}", fmt::join(names, ", "));
}

// "; 5 files of other formats skipped (3 GIF, 2 BMP)", the most frequent format first; empty if
// there are none.
std::string others_text(const BatchPlan& plan) {
  if (plan.others.empty()) return "";
  std::map<std::string, int> counts;
  for (const OtherPicture& other : plan.others)
    ++counts[other.format];
  std::vector<std::pair<std::string, int>> formats(counts.begin(), counts.end());
  std::stable_sort(formats.begin(), formats.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> texts;
  texts.reserve(formats.size());
  for (const auto& [format, count] : formats)
    texts.push_back(formatted("{} {}", count, format));
  const std::size_t all = plan.others.size();
  return formatted("; {} of {} skipped ({})", all == 1 ? "1 file" : formatted("{} files", all),
                   all == 1 ? "another format" : "other formats", fmt::join(texts, ", "));
}

// " (3 turned upright, 12 files replaced)"; empty if there is nothing to say.
std::string notes_text(const BatchTotals& totals) {
  std::vector<std::string> notes;
  if (totals.turned() > 0) notes.push_back(formatted("{} turned upright", totals.turned()));
  if (totals.replaced() > 0) notes.push_back(counted(totals.replaced(), "file") + " replaced");
  return notes.empty() ? "" : formatted(" ({})", fmt::join(notes, ", "));
}

}  // namespace

std::string label_of(const BatchActivity& line) {
  if (line.pass < 0) return activity_name(line.activity);
  return line.activity == Activity::kernel ? line.stage : "build " + line.stage;
}

std::string shard_line(const BatchPlan& plan) {
  const PlannedShard& planned = *plan.shard;
  const std::string source = planned.source == "--shard" ? "" : " from " + planned.source;
  return printable(formatted("gpufilter: shard {}{}: {} of {}, {:.1f} of {:.1f} MB",
                             to_string(planned.shard), source, plan.items.size(),
                             counted(planned.all_pictures, "picture"),
                             static_cast<double>(planned.bytes) / 1e6,
                             static_cast<double>(planned.all_bytes) / 1e6)) +
         "\n";
}

std::string batch_summary(const BatchPlan& plan, const BatchTotals& totals, Nanoseconds elapsed) {
  return printable(formatted("{} -> {}: ", source_text(plan), plan.output)) +
         batch_outcome(plan, totals) + "\n" +
         (totals.other_bytes().empty() ? "" : batch_sizes(plan, totals) + "\n") +
         (totals.pixels() == 0 ? "" : batch_rates(totals, elapsed) + "\n");
}

std::string batch_outcome(const BatchPlan& plan, const BatchTotals& totals) {
  const std::size_t all = plan.items.size();
  const std::size_t planned = totals.count(PictureStatus::planned);
  const std::size_t done = planned > 0 ? planned : totals.count(PictureStatus::done);
  std::string text;
  if (plan.shard) text += formatted("shard {}: ", to_string(plan.shard->shard));
  text +=
      done == all ? counted(all, "picture") : formatted("{} of {}", done, counted(all, "picture"));
  text += planned > 0 ? " would be done" : " done";
  text += notes_text(totals);
  if (totals.copied() > 0) text += formatted(" ({} copied unchanged)", totals.copied());
  for (const auto& [status, words] :
       {std::pair{PictureStatus::failed, "failed"},
        std::pair{PictureStatus::unchanged, "unchanged since an earlier run"},
        std::pair{PictureStatus::exists, "skipped (already exists)"},
        std::pair{PictureStatus::not_begun, "not begun"}}) {
    if (totals.count(status) > 0) text += formatted(", {} {}", totals.count(status), words);
  }
  return text + others_text(plan);
}

std::string batch_sizes(const BatchPlan& plan, const BatchTotals& totals) {
  const auto& others = totals.other_bytes();
  if (others.empty()) return "";
  std::string text = formatted("{}: {}", plan.output, size_text(totals.output_bytes()));
  for (std::size_t i = 0; i < others.size(); ++i)
    text += formatted(", {}: {}", plan.other_outputs.at(i), size_text(others[i]));
  return printable(text);
}

std::string batch_rates(const BatchTotals& totals, Nanoseconds elapsed) {
  if (totals.pixels() == 0) return "";
  std::string text =
      formatted("{:.2f} s, {}, {:.1f} Mpx/s; {}", milliseconds(elapsed) / 1e3,
                picture_rate(totals.count(PictureStatus::done), elapsed),
                megapixels_per_second(totals.pixels(), elapsed), devices_text(totals));
  if (totals.verified_blocks())
    text += formatted("; {} blocks verified", *totals.verified_blocks());
  return text;
}

std::string batch_table(const BatchTotals& totals, Nanoseconds elapsed) {
  std::string text;
  for (const auto& use : totals.devices()) {
    for (const std::string& left : use.engine.fallbacks)
      text += formatted("left out: {}\n", left);
    text += formatted("device: {}, {}", use.engine.device, counted(use.pictures, "picture"));
    if (!use.engine.reason.empty()) text += ": " + use.engine.reason;
    text += "\n";
    if (use.engine.platform.empty()) continue;
    text += formatted("driver: {}, {}\n", brief_version(use.engine.platform), use.engine.driver);
  }
  text += formatted("{:<16}{:>11}{:>10}{:>10}{:>8}  {}\n", "", "ms", "MB", "Mpx/s", "GB/s", summed);
  int walk = 0;
  for (const BatchActivity& line : totals.activities()) {
    if (std::exchange(walk, line.walk) != line.walk) text += pass_heading(line.walk) + ":\n";
    text += formatted("{:<16}{:>11.3f}", label_of(line), milliseconds(line.duration));
    if (line.bytes > 0) {
      text += formatted("{:>10.2f}{:>10.1f}{:>8.2f}  {}", static_cast<double>(line.bytes) / 1e6,
                        megapixels_per_second(line.pixels, line.duration),
                        gigabytes_per_second(line.bytes, line.duration), line.variant);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  if (totals.verified_blocks()) text += verified_line(*totals.verified_blocks(), 16);
  return text + formatted("{:<16}{:>11.3f}{:>10}{:>10.1f}\n", "total", milliseconds(elapsed), "",
                          megapixels_per_second(totals.pixels(), elapsed));
}

}  // namespace gpufilter
