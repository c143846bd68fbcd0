#include "app/report/run_page.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include "app/cli/parse.hpp"
#include "app/report/report_text.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/timeline.hpp"
#include "base/words.hpp"
#include "chart/svg_chart.hpp"
#include "device/device_info.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

// Writes a copy of everything to a file.
class CopyingSink final : public ByteSink {
 public:
  CopyingSink(std::unique_ptr<ByteSink> sink, int copy) : sink_(std::move(sink)), copy_(copy) {}

  [[nodiscard]] const std::string& name() const override { return sink_->name(); }
  [[nodiscard]] std::uint64_t bytes_written() const override { return sink_->bytes_written(); }

  void write(std::span<const std::uint8_t> bytes) override {
    sink_->write(bytes);
    try {
      write_fully(copy_, bytes);
    } catch (const std::system_error& error) {
      throw SystemFailure("the copy for --report in " + fs::temp_directory_path().string(),
                          error.code().value());
    }
  }
  void commit() override { sink_->commit(); }

 private:
  std::unique_ptr<ByteSink> sink_;
  int copy_;
};

// The groups of bars in the chart.
enum Group : std::size_t { files, stages, devices };

std::size_t group_of(Activity activity) {
  if (activity == Activity::kernel) return stages;
  return activity == Activity::decode || activity == Activity::encode ? files : devices;
}

// "second pass: blur avx512"
std::string bar_label(const ActivityTotal& line) {
  std::string label = label_of(line);
  if (line.activity == Activity::kernel)
    label += " " + line.variant.substr(0, line.variant.find(','));
  return line.walk == 0 ? label : pass_heading(line.walk) + ": " + label;
}

bool is_shown(const ActivityTotal& line) {
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
  for (const ActivityTotal& line : totals.activities()) {
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
  for (const ActivityTotal& line : totals.activities())
    work += line.duration;
  section.facts.push_back({"Total", formatted("{} ms by the clock", brief(milliseconds(elapsed)))});
  section.facts.push_back(
      {"Work", formatted("{} ms in all steps together", brief(milliseconds(work)))});
  section.facts.push_back(
      {"Speed", formatted("{} Mpx/s", brief(megapixels_per_second(totals.pixels, elapsed)))});
  section.note =
      "Steps overlap and run on several threads, so they may add up to more than the total.";
  section.table_name = "As a table";
  section.table.headings = {"Step", "ms", "MB", "Mpx/s", "Code"};
  for (const ActivityTotal& line : totals.activities()) {
    if (!is_shown(line)) continue;
    const bool moves = line.bytes > 0;
    section.table.rows.push_back(
        {line.walk == 0 ? label_of(line) : pass_heading(line.walk) + ": " + label_of(line),
         formatted("{:.3f}", milliseconds(line.duration)),
         moves ? formatted("{:.2f}", static_cast<double>(line.bytes) / 1e6) : "",
         moves ? formatted("{:.1f}", line.megapixels_per_second()) : "", line.variant});
  }
  return section;
}

html::Section device_section(const BatchTotals& totals) {
  html::Section section{.heading = "Device"};
  for (const auto& use : totals.devices) {
    const std::string pictures =
        totals.devices.size() == 1 ? "" : ", " + counted(use.pictures, "picture");
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
  if (totals.verified_blocks) {
    section.facts.push_back({"Verified", formatted("{} blocks equal to the processor's baseline",
                                                   *totals.verified_blocks)});
  }
  return section;
}

// The device, and the code of each stage.
html::Section code_section(const BatchTotals& totals, const RunReport& report) {
  html::Section section = device_section(totals);
  section.facts.push_back({"Bands", formatted("{} of {} rows, {} at a time", report.bands,
                                              report.band_rows, report.bands_under_way)});
  for (const PassReport& pass : report.passes) {
    const std::string walk = pass.walk == 0 ? "" : pass_heading(pass.walk) + ": ";
    section.facts.push_back({walk + pass.stage, formatted("{} ({})", pass.variant, pass.reason)});
  }
  return section;
}

// What to do with an earlier page in the folder.
html::EarlierPage earlier_page(const FilterOptions& options, bool is_one_picture) {
  const bool has_default = is_one_picture || options.on_exists_given;
  const OnExists on_exists = has_default ? options.on_exists : OnExists::fail;
  const bool goes_on = !is_one_picture && (options.in_place || options.resume);
  return on_exists != OnExists::fail || goes_on ? html::EarlierPage::replaced
                                                : html::EarlierPage::refused;
}

const char* status_text(PictureStatus status) {
  return status == PictureStatus::exists ? "skipped" : to_string(status);
}

html::Tone tone_of(PictureStatus status) {
  if (status == PictureStatus::done) return html::Tone::good;
  return status == PictureStatus::failed ? html::Tone::bad : html::Tone::neutral;
}

std::string note_of(const PictureResult& result) {
  if (result.status == PictureStatus::exists) return "the output already exists";
  if (result.status == PictureStatus::unchanged) return "since an earlier run";
  if (result.status != PictureStatus::done) return "";
  return formatted("{}x{}, {} ms", result.report.output_size.width,
                   result.report.output_size.height, brief(milliseconds(result.report.total)));
}

// The facts that the page shows about a picture. The page of a folder has its paths, device and
// time for each; the page of one picture has sections for them, and room for what else was lost.
std::vector<html::Fact> facts_of(const BatchPlan& plan, const PictureResult& result) {
  const BatchItem& item = *result.item;
  const PictureReport& report = result.report;
  const bool is_alone = plan.is_one_picture;
  std::vector<html::Fact> facts;
  if (!is_alone) facts.push_back({"Input", item.input});
  if (!is_alone && item.problem.empty()) facts.push_back({"Output", plan.output_path(item)});
  if (result.status != PictureStatus::done) return facts;
  facts.push_back({"Before", file_text(report.size, report.input_file_pixels, report.input_format,
                                       item.bytes)});
  facts.push_back({"After", file_text(report.output_size, report.output_file_pixels,
                                      report.output_format, report.output_bytes)});
  if (report.encoding) facts.push_back({"Encoding", report.encoding->text});
  if (is_alone && report.background)
    facts.push_back({"Alpha", "flattened onto " + to_string(OptionValue(*report.background))});
  if (report.exif_orientation != 1)
    facts.push_back({"Orientation", orientation_text(report.exif_orientation, report.is_oriented)});
  if (is_alone && !report.unread.empty())
    facts.push_back({"Not read", formatted("{}", fmt::join(report.unread, ", "))});
  if (!report.left_out.empty())
    facts.push_back({"Left out", formatted("{}", fmt::join(report.left_out, ", "))});
  if (is_alone) return facts;
  facts.push_back({"Device", report.engine.device});
  facts.push_back({"Time", formatted("{} ms", brief(milliseconds(report.total)))});
  return facts;
}

std::string file_name(const std::string& path, const char* stream) {
  return path == standard_stream ? stream : fs::path(path).filename().string();
}

// The name of a picture on the page of a folder. Inputs in several folders may share a name;
// outputs never do. A failed picture has no output: its input's name, in the folder that the output
// would be in.
std::string name_of(const PictureResult& result) {
  const BatchItem& item = *result.item;
  if (item.output.empty()) return item.input;
  const fs::path output = item.output;
  return result.status == PictureStatus::failed
             ? output.parent_path() / fs::path(item.input).filename()
             : output;
}

}  // namespace

RunPage::RunPage(const FilterOptions& options, const BatchPlan& plan)
    : options_(options),
      plan_(plan),
      page_(options.report, earlier_page(options, plan.is_one_picture), {"Before", "After"},
            options.run.limits) {
  page_.expect(plan.items.size());
}

void RunPage::watch_run(RunOptions& run) {
  const std::string& input = plan_.items.front().input;
  const std::string& output = plan_.items.front().output;
  if (plan_.items.front().replaces_input) {
    replaced_ = opened(input);
  } else if (is_stream(input)) {
    stream_ = std::make_unique<RepeatableSource>(input, true);
    run.open_input = [this](const std::string&) { return stream_->open(); };
  }
  if (!is_stream(output)) return;
  copy_ = with_failures_of(fs::temp_directory_path().string(), nameless_file);
  run.open_output = [this, output, open = run.open_output](const std::string& path) {
    std::unique_ptr<ByteSink> sink = open ? open(path) : open_sink(path);
    if (path == output) sink = std::make_unique<CopyingSink>(std::move(sink), copy_.get());
    return sink;
  };
}

AfterPicture RunPage::watch(const BatchItem& item) {
  // A picture that is replaced can still be read from the open file.
  const auto replaced = std::make_shared<std::unique_ptr<ByteSource>>(
      item.replaces_input ? opened(item.input) : nullptr);
  return [this, replaced](const PictureResult& result) { look(result, std::move(*replaced)); };
}

void RunPage::look(const PictureResult& result, std::unique_ptr<ByteSource> replaced) {
  const bool has_result = result.status == PictureStatus::done ||
                          result.status == PictureStatus::exists ||
                          result.status == PictureStatus::unchanged;
  if (!has_result) return;
  const BatchItem& item = *result.item;
  // If an earlier run has replaced the picture, only the result is left.
  if (item.replaces_input && result.status != PictureStatus::done) replaced = nullptr;
  if (!item.replaces_input) replaced = stream_ ? stream_->open() : opened(item.input);
  page_.look(index_of(item), std::move(replaced),
             copy_ ? source_from_start(copy_, item.output) : opened(plan_.output_path(item)));
}

std::size_t RunPage::index_of(const BatchItem& item) const {
  return static_cast<std::size_t>(&item - plan_.items.data()) + 1;
}

void RunPage::add(const PictureResult& result) {
  if (plan_.is_one_picture) look(result, std::move(replaced_));
  html::Entry entry = page_.take(index_of(*result.item));
  entry.facts = facts_of(plan_, result);
  if (plan_.is_one_picture) {
    entry.name = file_name(result.item->input, "standard input");
  } else {
    entry.name = name_of(result);
    entry.status = status_text(result.status);
    entry.tone = tone_of(result.status);
    entry.note = note_of(result);
    if (result.status == PictureStatus::failed) entry.message = result.failure;
    if (result.status == PictureStatus::done)
      entry.milliseconds = milliseconds(result.report.total);
  }
  page_.add(std::move(entry));
}

html::Page RunPage::folder_page(const BatchTotals& totals, Nanoseconds elapsed) const {
  html::Page page;
  page.subject = "gpufilter: " + counted(plan_.items.size(), "picture");
  page.heading = formatted("{} \u2192 {}", plan_.inputs.front(), plan_.output);
  page.summary = {batch_outcome(plan_, totals), batch_sizes(plan_, totals),
                  batch_rates(totals, elapsed)};
  page.tone = totals.count(PictureStatus::failed) > 0 ? html::Tone::bad : html::Tone::good;
  page.is_grid = true;
  return page;
}

html::Page RunPage::picture_page(const RunReport* report) const {
  const BatchItem& item = plan_.items.front();
  const std::string before = file_name(item.input, "standard input");
  const std::string after = file_name(item.output, "standard output");
  html::Page page;
  page.subject = "gpufilter: one picture";
  page.heading = before == after ? before : before + " \u2192 " + after;
  page.summary = {"skipped: the output already exists and was kept"};
  if (report != nullptr) {
    page.summary = {
        formatted("{} in {} ms", pixels_text(*report), brief(milliseconds(report->total))),
        device_text(report->engine)};
  }
  if (stream_) page.remark = "It needs the same standard input.";
  return page;
}

void RunPage::write(const BatchTotals& totals, Nanoseconds elapsed, const RunReport* report) {
  const bool is_alone = plan_.is_one_picture;
  html::Page page = is_alone ? picture_page(report) : folder_page(totals, elapsed);
  if (!options_.typed_stages.empty() && (report != nullptr || !is_alone))
    page.sections.push_back(stage_section(options_.typed_stages));
  if (totals.pixels > 0) {
    page.sections.push_back(time_section(totals, elapsed));
    if (!is_alone) page.sections.back().note += " The total includes the previews of this page.";
    page.sections.push_back(report != nullptr ? code_section(totals, *report)
                                              : device_section(totals));
  }
  if (options_.in_place) page.remark = replaced_remark;
  // Whether the same command line does the run again.
  const bool repeats = is_alone ? options_.on_exists == OnExists::overwrite : options_.in_place;
  page_.publish(std::move(page), repeats ? options_.command_line : options_.repetition,
                options_.quiet);
}

std::unique_ptr<RunPage> page_for(const FilterOptions& options, const BatchPlan& plan) {
  if (options.report.empty()) return nullptr;
  return std::make_unique<RunPage>(options, plan);
}

}  // namespace gpufilter
