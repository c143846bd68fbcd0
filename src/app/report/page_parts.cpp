#include "app/report/page_parts.hpp"

#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "app/cli/parse.hpp"
#include "app/compare/compare_report.hpp"
#include "app/filter/timing_line.hpp"
#include "app/filter/timing_report.hpp"
#include "app/folder/batch_rates.hpp"
#include "app/folder/batch_report.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/shell_word.hpp"
#include "base/time_units.hpp"
#include "base/words.hpp"
#include "chart/svg_chart.hpp"
#include "device/brief_version.hpp"

namespace gpufilter {
namespace {

// The groups of bars in the chart.
enum Group : std::size_t { files, stages, devices };

std::size_t group_of(Activity activity) {
  switch (activity) {
    case Activity::decode:
    case Activity::encode:
      return files;
    case Activity::kernel:
      return stages;
    default:
      return devices;
  }
}

// "second pass: blur avx512"
std::string bar_label(const BatchActivity& line) {
  std::string label = label_of(line);
  if (line.activity == Activity::kernel)
    label += " " + line.variant.substr(0, line.variant.find(','));
  return line.walk == 0 ? label : pass_heading(line.walk) + ": " + label;
}

bool is_shown(const BatchActivity& line) {
  const bool is_transfer = line.activity == Activity::upload || line.activity == Activity::download;
  return !is_transfer || line.bytes > 0;
}

std::string chart_of(const BatchTotals& totals) {
  lab::BarChart chart{.titles = {"Time by step, in milliseconds", "", "milliseconds", ""},
                      .groups = {"files", "stages", "device"},
                      .bars = {},
                      .mark_label = {},
                      .ceiling = {},
                      .in_page = true};
  for (const BatchActivity& line : totals.activities()) {
    if (!is_shown(line)) continue;
    chart.bars.push_back(
        {bar_label(line), milliseconds(line.duration), group_of(line.activity), {}});
  }
  return chart.bars.empty() ? "" : lab::draw(chart);
}

std::string device_words(const EngineReport& engine) {
  return engine.device == "none" ? "no device was needed" : engine.device;
}

// Estimates differ from picture to picture.
std::string reason_for(const BatchTotals::DeviceUse& use) {
  if (use.engine.reason == use.first_reason) return use.first_reason;
  const std::string share = use.engine.reason.empty() ? "" : use.engine.reason + "; ";
  return formatted("{}chosen for each picture; for the first one: {}", share, use.first_reason);
}

// The command in the environment that it had: variables of the program change what it does.
std::string with_environment(const std::string& command_line) {
  std::string text;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string variable = *entry;
    const std::size_t sign = variable.find('=');
    if (!variable.starts_with("GPUFILTER_") || sign + 1 >= variable.size()) continue;
    text += variable.substr(0, sign + 1) + shell_word(variable.substr(sign + 1)) + " ";
  }
  return text + command_line;
}

std::string time_text() {
  const std::time_t time = std::time(nullptr);
  std::tm parts{};
  char text[64];
  if (::localtime_r(&time, &parts) == nullptr ||
      std::strftime(static_cast<char*>(text), sizeof text, "%Y-%m-%d %H:%M:%S %Z", &parts) == 0) {
    return "";
  }
  return static_cast<const char*>(text);
}

}  // namespace

PagePreviews::PagePreviews(const html::PageFolder& folder, std::size_t pictures, Labels labels,
                           const ReadLimits& limits, const Tolerance& tolerance)
    : folder_(folder),
      previews_(html::preview_limits(pictures)),
      labels_(std::move(labels)),
      limits_(limits),
      tolerance_(tolerance) {
  limits_.warn = false;  // the run has warned already
}

void PagePreviews::look(std::size_t index, std::unique_ptr<ByteSource> before,
                        std::unique_ptr<ByteSource> after) {
  html::Entry entry;
  try {
    {
      const std::lock_guard lock(mutex_);
      if (failure_) return;
    }
    entry = entry_of(index, std::move(before), std::move(after));
  } catch (const html::PreviewFailure& failure) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_.emplace(failure);
    return;
  } catch (const std::exception& error) {
    entry.message = formatted("no preview: {}", error.what());
  }
  const std::lock_guard lock(mutex_);
  entries_[index] = std::move(entry);
}

html::Entry PagePreviews::take(std::size_t index) {
  const std::lock_guard lock(mutex_);
  auto known = entries_.extract(index);
  return known ? std::move(known.mapped()) : html::Entry();
}

void PagePreviews::check() const {
  const std::lock_guard lock(mutex_);
  if (failure_) throw html::PreviewFailure(*failure_);
}

html::Entry PagePreviews::entry_of(std::size_t index, std::unique_ptr<ByteSource> before,
                                   std::unique_ptr<ByteSource> after) const {
  const std::string before_name = formatted("{}-before.jpg", index);
  const std::string after_name = formatted("{}-after.jpg", index);
  const std::string difference_name = formatted("{}-difference.jpg", index);
  const html::Survey survey =
      html::survey_pictures({.before = std::move(before),
                             .after = std::move(after),
                             .limits = limits_,
                             .tolerance = tolerance_,
                             .previews = previews_,
                             .before_file = folder_.preview_path(before_name),
                             .after_file = folder_.preview_path(after_name),
                             .difference_file = folder_.preview_path(difference_name),
                             .before_label = labels_.before,
                             .after_label = labels_.after});
  const auto side = [&](const std::optional<html::SurveyedPicture>& picture,
                        const std::string& label, const std::string& name) {
    if (!picture) return std::optional<html::Side>();
    return std::optional<html::Side>(
        {label, folder_.preview_address(name), picture->preview, picture->histograms});
  };
  html::Entry entry;
  entry.before = side(survey.before, labels_.before, before_name);
  entry.after = side(survey.after, labels_.after, after_name);
  if (survey.has_difference) entry.difference = folder_.preview_address(difference_name);
  if (!survey.comparison) return entry;
  const Comparison& comparison = *survey.comparison;
  entry.difference_text =
      comparison.differing_pixels == 0
          ? "All pixels are equal."
          : formatted("{}; PSNR {:.2f} dB.", differing_text(comparison), comparison.psnr().value());
  std::uint64_t squares = 0;
  for (const ChannelComparison& channel : comparison.channels)
    squares += channel.sum_of_squares;
  entry.mean_squared_difference =
      static_cast<double>(squares) / static_cast<double>(comparison.samples());
  return entry;
}

std::unique_ptr<ByteSource> opened(const std::string& path) {
  try {
    return open_source(path);
  } catch (const PictureError&) {
    return nullptr;
  }
}

std::string file_text(ImageSize size, const FilePixels& pixels, const Codec* format,
                      std::uint64_t bytes) {
  std::string text = formatted("{}x{}, {}", size.width, size.height, to_string(pixels));
  if (format != nullptr) text += "; " + format->name;
  return bytes == 0 ? text : text + ", " + size_text(bytes);
}

std::string orientation_text(int orientation, bool is_applied) {
  return formatted("EXIF {}, {}applied", orientation, is_applied ? "" : "not ");
}

html::Section stage_section(const std::vector<StageOptions::Typed>& stages) {
  html::Section section{.heading = "Stages"};
  for (const StageOptions::Typed& stage : stages)
    section.facts.push_back({stage.option, stage.values});
  return section;
}

html::Section time_section(const BatchTotals& totals, Nanoseconds elapsed) {
  html::Section section{.heading = "Where the time went", .chart = chart_of(totals)};
  Nanoseconds work = 0;
  for (const BatchActivity& line : totals.activities())
    work += line.duration;
  section.facts.push_back({"Total", formatted("{} ms by the clock", brief(milliseconds(elapsed)))});
  section.facts.push_back(
      {"Work", formatted("{} ms in all steps together", brief(milliseconds(work)))});
  section.facts.push_back(
      {"Speed", formatted("{} Mpx/s", brief(megapixels_per_second(totals.pixels(), elapsed)))});
  section.note =
      "Steps overlap and run on several threads, so they may add up to more than the total.";
  section.table_name = "As a table";
  section.table.headings = {"Step", "ms", "MB", "Mpx/s", "Code"};
  for (const BatchActivity& line : totals.activities()) {
    if (!is_shown(line)) continue;
    const bool moves = line.bytes > 0;
    section.table.rows.push_back(
        {line.walk == 0 ? label_of(line) : pass_heading(line.walk) + ": " + label_of(line),
         formatted("{:.3f}", milliseconds(line.duration)),
         moves ? formatted("{:.2f}", static_cast<double>(line.bytes) / 1e6) : "",
         moves ? formatted("{:.1f}", megapixels_per_second(line.pixels, line.duration)) : "",
         line.variant});
  }
  return section;
}

html::Section device_section(const BatchTotals& totals) {
  html::Section section{.heading = "Device"};
  for (const auto& use : totals.devices()) {
    const std::string pictures =
        totals.devices().size() == 1 ? "" : ", " + counted(use.pictures, "picture");
    section.facts.push_back({"Device", device_words(use.engine) + pictures});
    if (const std::string why = reason_for(use); !why.empty())
      section.facts.push_back({"Why", why});
    if (!use.engine.platform.empty()) {
      section.facts.push_back(
          {"Driver", formatted("{}, {}", brief_version(use.engine.platform), use.engine.driver)});
    }
    for (const std::string& left : use.engine.fallbacks)
      section.facts.push_back({"Left out", left});
  }
  if (totals.verified_blocks()) {
    section.facts.push_back({"Verified", formatted("{} blocks equal to the processor's baseline",
                                                   *totals.verified_blocks())});
  }
  return section;
}

void publish(html::Page page, html::PageFolder& folder, const std::string& command_line,
             bool quiet) {
  std::error_code ignored;
  page.command = with_environment(command_line);
  page.folder = shell_word(std::filesystem::current_path(ignored).string());
  page.time = time_text();
  folder.write_page(html::to_html(page));
  if (!quiet) print_note(formatted("report: {}\n", printable(folder.page())));
}

}  // namespace gpufilter
