#include "app/report/report_page.hpp"

#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>

#include "app/cli/parse.hpp"
#include "app/compare/compare_report.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/process.hpp"

namespace gpufilter {
namespace {

// The command in the environment that it had: variables of the program change what it does.
std::string with_environment(const std::string& command_line) {
  std::string text;
  for (const auto& [name, value] : environment()) {
    if (name.starts_with("GPUFILTER_") && !value.empty())
      text += name + "=" + shell_word(value) + " ";
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

ReportPage::ReportPage(const std::string& folder, html::EarlierPage earlier, Labels labels,
                       const ReadLimits& limits, const Tolerance& tolerance)
    : folder_(folder, earlier),
      previews_(html::preview_limits(1)),
      labels_(std::move(labels)),
      limits_(limits),
      tolerance_(tolerance) {
  limits_.warn = false;  // the run has warned already
}

void ReportPage::look(std::size_t index, std::unique_ptr<ByteSource> before,
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
  looked_[index] = std::move(entry);
}

html::Entry ReportPage::take(std::size_t index) {
  const std::lock_guard lock(mutex_);
  auto known = looked_.extract(index);
  return known ? std::move(known.mapped()) : html::Entry();
}

html::Entry ReportPage::entry_of(std::size_t index, std::unique_ptr<ByteSource> before,
                                 std::unique_ptr<ByteSource> after) const {
  const auto picture = [&](std::unique_ptr<ByteSource> source, const std::string& label,
                           const char* kind) {
    const std::string name = formatted("{}-{}.jpg", index, kind);
    return html::SurveyRequest::Picture{std::move(source), label, folder_.preview_path(name),
                                        folder_.preview_address(name)};
  };
  const std::string difference = formatted("{}-difference.jpg", index);
  const html::Survey survey =
      html::survey_pictures({.before = picture(std::move(before), labels_.before, "before"),
                             .after = picture(std::move(after), labels_.after, "after"),
                             .limits = limits_,
                             .tolerance = tolerance_,
                             .previews = previews_,
                             .difference_file = folder_.preview_path(difference)});
  html::Entry entry;
  entry.before = survey.before;
  entry.after = survey.after;
  if (survey.has_difference) entry.difference = folder_.preview_address(difference);
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

void ReportPage::publish(html::Page page, const std::string& command_line, bool quiet) {
  if (failure_) throw html::PreviewFailure(*failure_);
  page.entries = std::move(entries_);
  std::error_code ignored;
  page.command = with_environment(command_line);
  page.folder = shell_word(std::filesystem::current_path(ignored).string());
  page.time = time_text();
  folder_.write_page(html::to_html(page));
  if (!quiet) print_note(formatted("report: {}\n", printable(folder_.page())));
}

}  // namespace gpufilter
