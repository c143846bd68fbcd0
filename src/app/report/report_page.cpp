#include "app/report/report_page.hpp"

#include <cstdio>
#include <ctime>
#include <exception>
#include <filesystem>
#include <system_error>
#include <utility>

#include <unistd.h>

#include "app/cli/parse.hpp"
#include "app/compare/compare_report.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"

namespace gpufilter {
namespace {

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
