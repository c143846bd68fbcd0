#include "app/compare/compare_page.hpp"

#include <array>
#include <cctype>
#include <utility>

#include "base/format.hpp"

namespace gpufilter {
namespace {

const char* status_text(CompareResult result) {
  static constexpr std::array texts{
      "equal",     "within the tolerance", "different", "not comparable", "only in A", "only in B",
      "unreadable"};
  return texts.at(static_cast<std::size_t>(result));
}

html::Tone tone_of(CompareResult result) {
  const bool is_good = result == CompareResult::equal || result == CompareResult::within_tolerance;
  return is_good ? html::Tone::good : html::Tone::bad;
}

std::string file_words(const ComparedFile& file) {
  return formatted("{}x{}, {}; {}", file.size.width, file.size.height, to_string(file.format),
                   file.file_format->name);
}

std::vector<html::Fact> facts_of(const FileComparison& files) {
  return {{"A", files.a.name + ": " + file_words(files.a)},
          {"B", files.b.name + ": " + file_words(files.b)}};
}

// As a sentence.
std::string sentence(const FileComparison& files) {
  std::string text = phrase(files) + ".";
  text.front() = static_cast<char>(std::toupper(text.front()));
  return text;
}

// A few words beside the status.
std::string note_of(const FileComparison& files) {
  if (!files.comparison) return "other size or format";
  if (files.comparison->differing_pixels == 0) return "";
  const std::string similarity =
      files.comparison->ssim ? formatted(", SSIM {:.4f}", *files.comparison->ssim) : "";
  return formatted("by at most {}{}", files.comparison->maximum(), similarity);
}

html::Section channel_section(const Comparison& comparison) {
  html::Section section{.heading = "Differences by channel"};
  const auto names = channel_names(comparison.format);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const ChannelComparison& channel = comparison.channels[i];
    section.facts.push_back(
        {names[i], formatted("{} samples differ, by at most {}, by {:.6g} on average",
                             channel.differing, channel.maximum, comparison.mean(i))});
  }
  return section;
}

}  // namespace

ComparePage::ComparePage(const CompareOptions& options)
    : options_(options),
      page_(options.report, html::EarlierPage::replaced, {"A", "B"}, options.limits,
            options.tolerance) {}

void ComparePage::write(const FileComparison& files, const OpenSource& open) {
  page_.look(1, open(options_.a), open(options_.b));
  html::Page page;
  page.subject = "gpufilter: comparison of two pictures";
  page.heading = formatted("{} and {}", files.a.name, files.b.name);
  html::Entry entry = page_.take(1);
  entry.name = page.heading;
  entry.facts = facts_of(files);
  entry.difference_text.clear();  // the summary says it
  page_.add(std::move(entry));
  page.summary = {sentence(files)};
  page.tone = tone_of(result_of(files));
  if (files.comparison && files.comparison->differing_pixels > 0)
    page.sections.push_back(channel_section(*files.comparison));
  page_.publish(std::move(page), options_.command_line, options_.quiet);
}

ComparisonWatch ComparePage::watch() {
  return {.begin = [this](std::size_t names) { page_.expect(names); },
          .look =
              [this](std::size_t place, const NameComparison& name) {
                page_.look(place + 1, name.in_a ? opened(options_.a + "/" + name.name) : nullptr,
                           name.in_b ? opened(options_.b + "/" + name.name) : nullptr);
              }};
}

void ComparePage::add(const NameComparison& name) {
  html::Entry entry = page_.take(page_.entries() + 1);
  const CompareResult result = result_of(name);
  entry.name = name.name;
  entry.status = status_text(result);
  entry.tone = tone_of(result);
  if (!name.failure.empty()) entry.message = name.failure;
  if (name.files) {
    entry.facts = facts_of(*name.files);
    entry.note = note_of(*name.files);
    entry.difference_text = sentence(*name.files);
  }
  page_.add(std::move(entry));
}

void ComparePage::write(const std::string& summary, CompareResult result) {
  html::Page page;
  page.subject = "gpufilter: comparison of two folders";
  page.heading = formatted("{} and {}", options_.a, options_.b);
  page.summary = {summary};
  page.tone = tone_of(result);
  page.is_grid = true;
  page_.publish(std::move(page), options_.command_line, options_.quiet);
}

}  // namespace gpufilter
