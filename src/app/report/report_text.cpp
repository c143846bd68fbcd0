#include "app/report/report_text.hpp"

#include <algorithm>
#include <array>
#include <functional>
#include <map>
#include <utility>

#include "app/cli/parse.hpp"
#include "app/cli/progress.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/timeline.hpp"
#include "base/words.hpp"
#include "device/device_info.hpp"

namespace gpufilter {
namespace {

// Short enough that two names and the description of the picture fit on a line of most terminals.
constexpr std::size_t name_columns = 40;
constexpr std::size_t variant_columns = 24;

std::string name_text(const std::string& path, const char* stream) {
  return path == standard_stream ? stream : printable_end(path, name_columns);
}

// The name of a stage's code, without its details: "channel histograms" of "channel histograms,
// counted in 16 copies".
std::string variant_name(const PassReport& pass) {
  return printable_end(pass.variant.substr(0, pass.variant.find(',')), variant_columns);
}

std::string short_label(const RunReport& report, const ActivityTotal& total) {
  if (total.pass < 0) return activity_name(total.activity);
  const PassReport& pass = report.passes.at(static_cast<std::size_t>(total.pass));
  if (total.activity == Activity::kernel) return pass.stage + " " + variant_name(pass);
  return (pass.origin == ProgramOrigin::cached ? "load " : "compile ") + pass.stage;
}

std::string activities_line(const RunReport& report) {
  std::string line;
  int walk = 0;
  for (const ActivityTotal& total : activity_totals(report)) {
    const bool is_transfer =
        total.activity == Activity::upload || total.activity == Activity::download;
    if (is_transfer && total.bytes == 0) continue;
    if (!line.empty()) line += " | ";
    if (std::exchange(walk, total.walk) != total.walk) line += pass_heading(walk) + ": ";
    line += short_label(report, total) + " " + brief(milliseconds(total.duration));
  }
  return line.empty() ? line : line + " ms\n";
}

// ", quality 90 (requested)": the first of the notes.
std::string quality_text(const std::optional<EncodingNotes>& notes) {
  if (!notes) return "";
  const std::size_t end = notes->text.find("), ");
  return ", " + notes->text.substr(0, end == std::string::npos ? end : end + 1);
}

// Time outside all activities is shown if it is a tenth of the total or more.
std::string total_line(const RunReport& report) {
  std::string line = formatted("total {} ms", brief(milliseconds(report.total)));
  const Nanoseconds other = unaccounted_time(report);
  if (other * 10 >= report.total)
    line += formatted(" ({} ms outside these steps)", brief(milliseconds(other)));
  const double rate = megapixels_per_second(report.size.pixels(), report.total);
  if (rate >= 0.1) line += formatted(", {} Mpx/s", brief(rate));
  if (report.verified_blocks) line += formatted("; {} blocks verified", *report.verified_blocks);
  return line + formatted("; {}{}, {}\n", report.output_format->name, quality_text(report.encoding),
                          size_text(report.output_bytes));
}

// Shown about a line of the timing table.
using Detail = std::function<std::string(const ActivityTotal& total)>;

// The times of one or several pictures by step, as a table with a first column of `width`. `note`
// follows the headings.
std::string steps_table(const std::vector<ActivityTotal>& totals, std::size_t width,
                        const std::string& note, const Detail& detail) {
  std::string text =
      formatted("{:<{}}{:>11}{:>10}{:>10}{:>8}{}\n", "", width, "ms", "MB", "Mpx/s", "GB/s", note);
  int walk = 0;
  for (const ActivityTotal& total : totals) {
    if (std::exchange(walk, total.walk) != total.walk) text += pass_heading(walk) + ":\n";
    text += formatted("{:<{}}{:>11.3f}", printable(label_of(total)), width,
                      milliseconds(total.duration));
    text += total.bytes > 0
                ? formatted("{:>10.2f}{:>10.1f}{:>8.2f}", static_cast<double>(total.bytes) / 1e6,
                            total.megapixels_per_second(), total.gigabytes_per_second())
                : std::string(28, ' ');
    text += "  " + printable(detail(total));
    text.erase(text.find_last_not_of(' ') + 1);
    text += "\n";
  }
  return text;
}

std::string verified_line(std::uint64_t blocks, std::size_t width) {
  return formatted("{:<{}}{:>39}  {} equal to the processor's baseline\n", "verified", width, "",
                   counted(blocks, "block"));
}

std::string whole_line(std::size_t width, std::uint64_t pixels, Nanoseconds duration) {
  return formatted("{:<{}}{:>11.3f}{:>10}{:>10.1f}", "total", width, milliseconds(duration), "",
                   megapixels_per_second(pixels, duration));
}

std::string detail_of(const RunReport& report, const ActivityTotal& total) {
  switch (total.activity) {
    case Activity::decode:
    case Activity::read_stored:
      return report.input_format->name;
    case Activity::encode:
    case Activity::write_stored:
      return formatted("{}, {} bytes{}", report.output_format->name, report.output_bytes,
                       report.encoding ? ", " + report.encoding->text : "");
    case Activity::build_program:
    case Activity::kernel: {
      if (total.pass < 0) return "for a device that was left out";
      const PassReport& pass = report.passes.at(static_cast<std::size_t>(total.pass));
      if (total.activity == Activity::kernel)
        return formatted("{} ({})", pass.variant, pass.reason);
      return pass.origin == ProgramOrigin::cached ? "from the cache" : "compiled";
    }
    case Activity::upload:
    case Activity::download:
      return total.bytes == 0 ? "in place, not copied" : "";
    case Activity::read_back:
      return "the picture that was kept";
    case Activity::launch:
      return "until kernels ran";
    case Activity::find_devices:
    case Activity::start_device:
      return "";
  }
  return "";
}

std::string device_lines(const EngineReport& engine) {
  std::string text;
  for (const std::string& left : engine.fallbacks)
    text += formatted("left out: {}\n", printable(left));
  if (engine.platform.empty())
    return text + formatted("device: {} ({})\n", engine.device, engine.reason);
  text += formatted("device: {} ({})\n", printable(engine.device), engine.kind);
  text += formatted("chosen: {}\n", engine.reason);
  return text + formatted("driver: {}, {}\n", brief_version(engine.platform), engine.driver);
}

std::string device_line(const EngineReport& engine) {
  if (engine.platform.empty()) return formatted("device: {} ({})", engine.device, engine.reason);
  return formatted("device: {} ({}); {}, driver {}", engine.device, engine.reason,
                   brief_version(engine.platform), engine.driver);
}

std::string plan_line(const RunReport& report, const StageChain& chain) {
  std::string line = "plan: " + counted(chain.size(), "stage");
  if (report.bands == 0) return line + "; " + report.engine.reason;
  if (report.result_passes == 0 && !chain.empty()) {
    line += ", which change nothing";
  } else if (report.result_passes < chain.size()) {
    line += formatted(", merged into {}", report.result_passes);
  }
  return line + formatted("; {} of {}, {} at a time in {:.1f} MB",
                          counted(static_cast<std::size_t>(report.bands), "band"),
                          counted(static_cast<std::size_t>(report.band_rows), "row"),
                          report.bands_under_way, static_cast<double>(report.memory) / 1e6);
}

std::string pass_line(const PassReport& pass) {
  std::string line = formatted("{}: {} ({})", pass.stage, pass.variant, pass.reason);
  if (pass.origin == ProgramOrigin::cached) line += ", program from the cache";
  if (pass.origin == ProgramOrigin::compiled) line += ", program compiled";
  return pass.walk == 0 ? line : pass_heading(pass.walk) + ": " + line;
}

// Empty if nothing had to be started.
std::string start_line(const RunReport& report) {
  std::string line;
  for (const Activity activity :
       {Activity::find_devices, Activity::start_device, Activity::build_program}) {
    Nanoseconds duration = 0;
    for (const Span& span : report.spans)
      duration += span.activity == activity ? span.duration : 0;
    if (duration == 0) continue;
    line += formatted("{}{} {:.1f} ms", line.empty() ? "start: " : ", ", activity_name(activity),
                      milliseconds(duration));
  }
  return line;
}

// "in", "in and 3 more inputs"
std::string source_text(const BatchPlan& plan) {
  const std::size_t more = plan.inputs.size() - 1;
  return more == 0 ? plan.inputs.front()
                   : formatted("{} and {}", plan.inputs.front(), counted(more, "more input"));
}

// "device: processor (reason)", "devices: processor (12 pictures), another (1 picture)"
std::string devices_text(const BatchTotals& totals) {
  const auto& uses = totals.devices;
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
  if (totals.turned > 0) notes.push_back(formatted("{} turned upright", totals.turned));
  if (totals.replaced > 0) notes.push_back(counted(totals.replaced, "file") + " replaced");
  return notes.empty() ? "" : formatted(" ({})", fmt::join(notes, ", "));
}

}  // namespace

std::string brief(double value) {
  if (value >= 9.95) return formatted("{:.0f}", value);
  return value >= 0.095 ? formatted("{:.1f}", value) : formatted("{:.2f}", value);
}

std::string size_text(std::uint64_t bytes) {
  const auto number = static_cast<double>(bytes);
  if (bytes < 1000) return formatted("{} bytes", bytes);
  return bytes < 1'000'000 ? brief(number / 1e3) + " kB" : brief(number / 1e6) + " MB";
}

std::string device_text(const EngineReport& engine) {
  std::string text = engine.device == "none" ? "no device" : printable(engine.device);
  text += " (" + printable(engine.reason);
  for (const std::string& left : engine.fallbacks)
    text += "; left out: " + printable(left);
  return text + ")";
}

std::string pass_heading(int walk) {
  constexpr std::array names{"second", "third", "fourth", "fifth"};
  const auto index = static_cast<std::size_t>(walk - 1);
  return index < names.size() ? formatted("{} pass", names.at(index))
                              : formatted("pass {}", walk + 1);
}

std::string label_of(const ActivityTotal& total) {
  if (total.pass < 0) return activity_name(total.activity);
  return total.activity == Activity::kernel ? total.stage : "build " + total.stage;
}

std::string pixels_text(const PictureReport& report) {
  std::string text = formatted("{}x{}", report.size.width, report.size.height);
  if (report.output_size != report.size)
    text += formatted(" -> {}x{}", report.output_size.width, report.output_size.height);
  if (report.decoding_divisor > 1) text += formatted(", decoded at 1/{}", report.decoding_divisor);
  text += ", " + to_string(report.input_file_pixels);
  if (report.output_file_pixels != report.input_file_pixels)
    text += " -> " + to_string(report.output_file_pixels);
  if (report.background)
    text += formatted(" (alpha flattened onto {})", to_string(OptionValue(*report.background)));
  if (report.exif_orientation != 1)
    text += formatted(", EXIF orientation {}{} applied", report.exif_orientation,
                      report.is_oriented ? "" : " not");
  return text;
}

std::string outcome_text(const OutputReport& report) {
  if (report.copied) return report.kept ? " (unchanged)" : " (copied unchanged)";
  return report.replaced ? " (replaced)" : "";
}

std::string other_output_line(const OutputReport& report) {
  std::string line =
      formatted("also {}{}: {}x{}, {}; {}{}", printable_end(report.output, name_columns),
                outcome_text(report), report.output_size.width, report.output_size.height,
                to_string(report.output_file_pixels), report.output_format->name,
                quality_text(report.encoding));
  if (report.kept && !report.copied) line += "; already exists, kept";
  if (report.output_bytes > 0) line += ", " + size_text(report.output_bytes);
  return line + "\n";
}

std::string flattening_notice(const Codec& output_format, const Color& background) {
  return formatted(
      "alpha is flattened onto {}, because {} has none; --background sets another colour",
      to_string(OptionValue(background)), output_format.name);
}

std::string timing_line(const RunReport& report) {
  std::string others;
  for (const OutputReport& other : report.others)
    others += other_output_line(other);

  return formatted("{} -> {}{}: {}; {}\n", name_text(report.input, "standard input"),
                   name_text(report.output, "standard output"), outcome_text(report),
                   pixels_text(report), device_text(report.engine)) +
         others + activities_line(report) + total_line(report);
}

std::string timing_table(const RunReport& report) {
  const std::vector<ActivityTotal> totals = activity_totals(report);
  std::size_t width = 15;  // kernels of several stages have long names
  for (const ActivityTotal& total : totals)
    width = std::max(width, label_of(total).size());
  ++width;
  std::string text =
      formatted("{} -> {}{}: {}; {} of {} rows\n", printable(report.input),
                printable(report.output), report.replaced ? " (replaced)" : "", pixels_text(report),
                counted(report.bands, "band"), report.band_rows);
  text += device_lines(report.engine);
  text += steps_table(totals, width, "",
                      [&report](const ActivityTotal& total) { return detail_of(report, total); });
  if (report.verified_blocks) {
    text += verified_line(static_cast<std::uint64_t>(*report.verified_blocks), width);
  }
  text += formatted("{:<{}}{:>11.3f}\n", "other", width, milliseconds(unaccounted_time(report)));
  return text + whole_line(width, report.size.pixels(), report.total) +
         "          from start to end; lines above may overlap\n";
}

std::vector<std::string> run_account(const RunReport& report, const StageChain& chain) {
  std::vector<std::string> lines{device_line(report.engine)};
  for (const std::string& left : report.engine.fallbacks)
    lines.push_back("left out: " + left);
  if (const std::string line = start_line(report); !line.empty()) lines.push_back(line);
  lines.push_back(plan_line(report, chain));
  for (const PassReport& pass : report.passes)
    lines.push_back(pass_line(pass));
  if (report.verified_blocks) {
    lines.push_back(formatted("verified: {} equal to the processor's baseline",
                              counted(static_cast<std::size_t>(*report.verified_blocks), "block")));
  }
  return lines;
}

std::string batch_summary(const BatchPlan& plan, const BatchTotals& totals, Nanoseconds elapsed) {
  return printable(formatted("{} -> {}: ", source_text(plan), plan.output)) +
         batch_outcome(plan, totals) + "\n" +
         (totals.other_bytes.empty() ? "" : batch_sizes(plan, totals) + "\n") +
         (totals.pixels == 0 ? "" : batch_rates(totals, elapsed) + "\n");
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
  if (totals.copied > 0) text += formatted(" ({} copied unchanged)", totals.copied);
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
  const auto& others = totals.other_bytes;
  if (others.empty()) return "";
  std::string text = formatted("{}: {}", plan.output_names.back(), size_text(totals.output_bytes));
  for (std::size_t i = 0; i < others.size(); ++i)
    text += formatted(", {}: {}", plan.output_names.at(i), size_text(others[i]));
  return printable(text);
}

std::string batch_rates(const BatchTotals& totals, Nanoseconds elapsed) {
  if (totals.pixels == 0) return "";
  std::string text = formatted("{:.2f} s, {}, {:.1f} Mpx/s; {}", milliseconds(elapsed) / 1e3,
                               picture_rate(totals.count(PictureStatus::done), elapsed),
                               megapixels_per_second(totals.pixels, elapsed), devices_text(totals));
  if (totals.verified_blocks) text += formatted("; {} blocks verified", *totals.verified_blocks);
  return text;
}

std::string batch_table(const BatchTotals& totals, Nanoseconds elapsed) {
  constexpr std::size_t width = 16;
  std::string text;
  for (const auto& use : totals.devices) {
    for (const std::string& left : use.engine.fallbacks)
      text += formatted("left out: {}\n", left);
    text += formatted("device: {}, {}", use.engine.device, counted(use.pictures, "picture"));
    if (!use.engine.reason.empty()) text += ": " + use.engine.reason;
    text += "\n";
    if (use.engine.platform.empty()) continue;
    text += formatted("driver: {}, {}\n", brief_version(use.engine.platform), use.engine.driver);
  }
  text += steps_table(
      totals.activities(), width,
      "  sums over all pictures; several are in progress at the same time",
      [](const ActivityTotal& total) { return total.bytes > 0 ? total.variant : std::string(); });
  if (totals.verified_blocks) text += verified_line(*totals.verified_blocks, width);
  return text + whole_line(width, totals.pixels, elapsed) + "\n";
}

}  // namespace gpufilter
