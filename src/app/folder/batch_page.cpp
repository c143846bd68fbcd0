#include "app/folder/batch_page.hpp"

#include <filesystem>
#include <utility>

#include "app/filter/timing_line.hpp"
#include "app/folder/batch_report.hpp"
#include "base/format.hpp"
#include "base/time_units.hpp"
#include "base/words.hpp"

namespace gpufilter {
namespace {

html::EarlierPage earlier_page(const FilterOptions& options) {
  const OnExists on_exists = options.on_exists_given ? options.on_exists : OnExists::fail;
  const bool may_replace = on_exists != OnExists::fail || options.in_place || options.folder.resume;
  return may_replace ? html::EarlierPage::replaced : html::EarlierPage::refused;
}

const char* status_text(PictureStatus status) {
  switch (status) {
    case PictureStatus::exists:
      return "skipped";
    case PictureStatus::unchanged:
      return "unchanged";
    default:
      return to_string(status);
  }
}

html::Tone tone_of(PictureStatus status) {
  switch (status) {
    case PictureStatus::done:
      return html::Tone::good;
    case PictureStatus::failed:
      return html::Tone::bad;
    default:
      return html::Tone::neutral;
  }
}

std::string note_of(const PictureResult& result) {
  switch (result.status) {
    case PictureStatus::done:
      return formatted("{}x{}, {} ms", result.output_size.width, result.output_size.height,
                       brief(milliseconds(result.duration)));
    case PictureStatus::exists:
      return "the output already exists";
    case PictureStatus::unchanged:
      return "since an earlier run";
    default:
      return "";
  }
}

std::vector<html::Fact> facts_of(const BatchPlan& plan, const PictureResult& result) {
  const BatchItem& item = *result.item;
  std::vector<html::Fact> facts{{"Input", item.input}};
  if (item.problem.empty()) facts.push_back({"Output", plan.output_path(item)});
  if (result.status != PictureStatus::done) return facts;
  facts.push_back(
      {"Before", file_text(result.size, result.input_pixels, result.input_format, item.bytes)});
  facts.push_back({"After", file_text(result.output_size, result.output_pixels, item.output_format,
                                      result.output_bytes)});
  if (result.encoding) facts.push_back({"Encoding", result.encoding->text});
  if (result.exif_orientation != 1)
    facts.push_back({"Orientation", orientation_text(result.exif_orientation, result.is_oriented)});
  if (!result.left_out.empty())
    facts.push_back({"Left out", formatted("{}", fmt::join(result.left_out, ", "))});
  facts.push_back({"Device", result.device});
  facts.push_back({"Time", formatted("{} ms", brief(milliseconds(result.duration)))});
  return facts;
}

// The name that the page shows. Inputs in several folders may share a name; outputs never do. A
// failed picture has no output: its input's name, in the folder that the output would be in.
std::string name_of(const PictureResult& result) {
  const BatchItem& item = *result.item;
  if (item.output.empty()) return item.input;
  const std::filesystem::path output = item.output;
  return result.status == PictureStatus::failed
             ? output.parent_path() / std::filesystem::path(item.input).filename()
             : output;
}

}  // namespace

BatchPage::BatchPage(const FilterOptions& options, const BatchPlan& plan)
    : options_(options),
      plan_(plan),
      folder_(options.report, earlier_page(options)),
      previews_(folder_, plan.items.size(), {"Before", "After"}, options.run.limits) {}

BeforePicture BatchPage::watcher() {
  return [this](const BatchItem& item) -> AfterPicture {
    // A picture that is replaced can still be read from the open file.
    const auto replaced = std::make_shared<std::unique_ptr<ByteSource>>(
        item.replaces_input ? opened(item.input) : nullptr);
    return [this, replaced](const PictureResult& result) { look(result, std::move(*replaced)); };
  };
}

void BatchPage::look(const PictureResult& result, std::unique_ptr<ByteSource> replaced) {
  const bool has_result = result.status == PictureStatus::done ||
                          result.status == PictureStatus::exists ||
                          result.status == PictureStatus::unchanged;
  if (!has_result) return;
  const BatchItem& item = *result.item;
  // Only the result is left of a picture that an earlier run has replaced.
  if (item.replaces_input && result.status != PictureStatus::done) replaced = nullptr;
  previews_.look(index_of(item), item.replaces_input ? std::move(replaced) : opened(item.input),
                 opened(plan_.output_path(item)));
}

std::size_t BatchPage::index_of(const BatchItem& item) const {
  return static_cast<std::size_t>(&item - plan_.items.data()) + 1;
}

void BatchPage::add(const PictureResult& result) {
  html::Entry entry = previews_.take(index_of(*result.item));
  entry.name = name_of(result);
  entry.status = status_text(result.status);
  entry.tone = tone_of(result.status);
  entry.note = note_of(result);
  if (result.status == PictureStatus::failed) entry.message = result.failure;
  entry.facts = facts_of(plan_, result);
  if (result.status == PictureStatus::done) entry.milliseconds = milliseconds(result.duration);
  entries_.push_back(std::move(entry));
}

void BatchPage::write(const BatchTotals& totals, Nanoseconds elapsed) {
  previews_.check();
  html::Page page;
  page.subject = "gpufilter: " + counted(plan_.items.size(), "picture");
  page.heading = formatted("{} \u2192 {}", plan_.inputs.front(), plan_.output);
  page.summary = {batch_outcome(plan_, totals), batch_sizes(plan_, totals),
                  batch_rates(totals, elapsed)};
  page.tone = totals.count(PictureStatus::failed) > 0 ? html::Tone::bad : html::Tone::good;
  page.is_grid = true;
  page.entries = std::move(entries_);
  if (!options_.typed_stages.empty()) page.sections.push_back(stage_section(options_.typed_stages));
  if (totals.pixels() > 0) {
    page.sections.push_back(time_section(totals, elapsed));
    page.sections.back().note += " The total includes the previews of this page.";
    page.sections.push_back(device_section(totals));
  }
  if (options_.in_place) page.remark = replaced_remark;
  publish(std::move(page), folder_, options_.in_place ? options_.command_line : options_.repetition,
          options_.quiet);
}

std::unique_ptr<BatchPage> page_for(const FilterOptions& options, const BatchPlan& plan) {
  if (options.report.empty()) return nullptr;
  return std::make_unique<BatchPage>(options, plan);
}

}  // namespace gpufilter
