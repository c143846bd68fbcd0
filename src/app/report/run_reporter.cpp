#include "app/report/run_reporter.hpp"

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "app/cli/parse.hpp"
#include "app/report/report_data.hpp"
#include "app/report/report_text.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "base/signal_cleanup.hpp"
#include "base/words.hpp"
#include "codec/unread.hpp"
#include "device/kernel_source.hpp"

namespace gpufilter {

std::string left_out_warning(const std::vector<std::string>& names) {
  constexpr std::size_t max_listed = 8;
  if (names.empty()) return "";
  const std::size_t listed = std::min(names.size(), max_listed);
  std::string text = "not carried over: ";
  for (std::size_t i = 0; i < listed; ++i)
    text += (i == 0 ? "" : ", ") + names[i];
  if (listed < names.size()) text += formatted(", {} more", names.size() - listed);
  return text;
}

void LeftOutTally::add(const std::vector<std::string>& names) {
  constexpr std::size_t max_counted = 1000;  // names: memory does not grow with the folder
  for (const std::string& name : names) {
    if (pictures_.size() < max_counted || pictures_.contains(name)) ++pictures_[name];
  }
}

std::vector<std::string> LeftOutTally::names() const {
  std::vector<std::pair<std::string, std::size_t>> sorted(pictures_.begin(), pictures_.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  std::vector<std::string> names;
  for (const auto& [name, pictures] : sorted)
    names.push_back(formatted("{} ({})", name, counted(pictures, "picture")));
  return names;
}

namespace {

std::string outcome(const PictureResult& result) {
  switch (result.status) {
    case PictureStatus::done:
      return formatted("{}x{}, {:.1f} ms{}", result.report.size.width, result.report.size.height,
                       static_cast<double>(result.report.total) / 1e6,
                       result.report.copied ? ", copied unchanged" : "");
    case PictureStatus::exists:
      return "already exists, skipped";
    case PictureStatus::planned:
      return "would be done";
    default:
      return to_string(result.status);
  }
}

// A shard's share of the pictures, in one line:
//   gpufilter: shard 3/8 from SLURM_PROCID 3 of 8: 50 of 400 pictures, 101.2 of 809.0 MB
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

// Warns about metadata and alpha that an output cannot hold.
void warn_of_losses(const OutputReport& output, const WriteOptions& options) {
  if (!output.left_out.empty())
    log::warn(formatted("{}: {}", printable(output.output), left_out_warning(output.left_out)));
  if (output.kept || !output.background || options.is_given(background_option())) return;
  log::warn(formatted("{}: {}", printable(output.output),
                      flattening_notice(*output.output_format, *output.background)));
}

// The program without the files that many kernels share.
std::string without_shared_files(std::string source) {
  for (const char* file : {"common.cl", "window.cl", "pixel_functions.cl"}) {
    const std::string text = kernel_file(file);
    const std::size_t begin = source.find(text);
    if (begin != std::string::npos)
      source.replace(begin, text.size(), formatted("// kernels/stage/{}\n", file));
  }
  return source;
}

// The programs that ran, in the order of their passes.
void print_kernels(const RunReport& report, bool is_short) {
  bool any = false;
  for (const PassReport& pass : report.passes) {
    if (pass.source.empty()) continue;
    any = true;
    print_document(formatted("// {}: {}\n{}\n", pass.stage, pass.variant,
                             is_short ? without_shared_files(pass.source) : pass.source));
  }
  if (!any) log::warn("--show-kernel: no stage ran a kernel");
}

std::string expected_device(const EngineReport& engine, const FilterOptions& options) {
  std::string reason = engine.reason;
  if (reason.empty()) {
    const bool replaces = engine.device == "processor" && options.device != "cpu";
    reason = replaces ? "no such device works" : "requested";
  }
  return formatted("{} ({})", engine.device, printable(reason));
}

// The text of --dry-run for one picture.
std::string planned_text(const PictureReport& preview, const FilterOptions& options) {
  const bool replaces = !preview.kept && is_regular_file(preview.output);
  const char* outcome = preview.kept     ? "would stay unchanged"
                        : preview.copied ? "would be copied unchanged"
                                         : "would be done";
  const std::string notes = preview.encoding ? ", " + preview.encoding->text : "";
  std::string others;
  for (const OutputReport& other : preview.others)
    others += other_output_line(other);
  return formatted("{}: {}{}\n{}; {}{}\n{}device: {}\n",
                   printable(formatted("{} -> {}", preview.input, preview.output)), outcome,
                   replaces ? "; replaces the existing file" : "", pixels_text(preview),
                   preview.output_format->name, notes, others,
                   expected_device(preview.engine, options));
}

}  // namespace

RunReporter::RunReporter(const BatchPlan& plan, const FilterOptions& options, Nanoseconds start,
                         ByteSink* trace, RunPage* page)
    : plan_(plan),
      options_(options),
      start_(start),
      display_(options.progress),
      page_(page),
      option_use_(options.run.write, options.run.limits.damaged) {
  if (trace != nullptr) trace_.emplace(*trace, start_, options.command_line, !plan.is_one_picture);
  if (plan.is_one_picture) {
    progress_.name = plan.items.front().input;
    return;
  }
  progress_.all_pictures = plan.items.size();
  for (const BatchItem& item : plan.items)
    progress_.all += item.bytes;
  if (plan.shard && !options.quiet) print_note(shard_line(plan));
  for (const OtherPicture& other : plan.others)
    log::info(printable(formatted("{}: {} is not supported, skipped", other.name, other.format)));
  prepare_for_signals();
}

RunReporter::~RunReporter() {
  set_message_on_signals("");
}

void RunReporter::prepare_for_signals() const {
  if (options_.quiet || options_.dry_run) return;
  const std::size_t failed = totals_.count(PictureStatus::failed);
  set_message_on_signals(
      formatted("gpufilter: stopped after {} of {}{}; the same command {} does the rest\n",
                progress_.pictures, counted(progress_.all_pictures, "picture"),
                failed > 0 ? formatted(", {} failed", failed) : "", repetition()));
}

// How to repeat the command so that it does the rest.
const char* RunReporter::repetition() const {
  return options_.resume || plan_.shard ? "again" : "with --resume";
}

void RunReporter::report_full_disk() const {
  const std::size_t rest = totals_.count(PictureStatus::not_begun) + 1;
  log::error(printable(
      formatted("{}: no space for more results; {} of {} remain; make room, then "
                "the same command {} does the rest",
                plan_.output, rest, counted(plan_.items.size(), "picture"), repetition())));
}

void RunReporter::show_progress() {
  progress_.elapsed = now() - start_;
  display_.show(progress_);
}

void RunReporter::advanced(std::uint64_t bytes_under_way) {
  const std::uint64_t before = progress_.done;
  progress_.done = finished_bytes_ + bytes_under_way;
  progress_.worked = finished_bytes_filtered_ + bytes_under_way;
  // The progress is less if a picture has just finished: finished() then follows and shows the
  // progress.
  if (progress_.done > before) show_progress();
}

void RunReporter::finished(const PictureResult& result, const RunReport* report) {
  totals_.add(result, report);
  if (report != nullptr) option_use_.add(*report);
  if (trace_ && result.status == PictureStatus::done) trace_->add(*report, result.job);
  plan_.is_one_picture ? finished_alone(result, report) : finished_in_folder(result, report);
}

void RunReporter::finished_alone(const PictureResult& result, const RunReport* report) {
  display_.clear();
  if (report != nullptr) warn_of(*report);
  if (result.status == PictureStatus::done) report_ = report;
}

void RunReporter::finished_in_folder(const PictureResult& result, const RunReport* report) {
  if (result.status == PictureStatus::failed) log::error(result.failure);
  out_of_space_ = out_of_space_ || result.out_of_space;
  const std::uint64_t bytes = result.item->bytes;
  ++progress_.pictures;
  finished_bytes_ += bytes;
  progress_.done += bytes;
  if (report != nullptr) {
    note_losses(*report);
    for (const std::string& warning : report->stage_warnings)
      ++stage_warnings_[warning];
    ++progress_.filtered;
    finished_bytes_filtered_ += bytes;
    progress_.worked += bytes;
    progress_.filtered_pixels = totals_.pixels;
  }
  show_progress();
  prepare_for_signals();
}

// Notes metadata that the outputs cannot hold.
void RunReporter::note_losses(const RunReport& report) {
  std::vector<OutputReport> outputs = report.others;
  outputs.push_back(report);
  std::set<std::string> left_out;
  std::set<const Codec*> flattened;
  for (const OutputReport& output : outputs) {
    left_out.insert(output.left_out.begin(), output.left_out.end());
    const bool asked = options_.run.write.is_given(background_option());
    if (output.background && !output.kept && !asked) flattened.insert(output.output_format);
  }
  left_out_.add({left_out.begin(), left_out.end()});
  unread_.add(report.unread);
  for (const Codec* codec : flattened)
    ++flattened_[codec];
}

void RunReporter::listed(const PictureResult& result) {
  if (result.status == PictureStatus::not_begun) totals_.add(result, nullptr);
  print_line(result);
  if (page_ != nullptr) page_->add(result);
  if (!options_.json) return;
  if (plan_.is_one_picture) return print_data(picture_document(plan_, result));
  if (!document_begun_) print_data(batch_json_begin(plan_, options_.dry_run));
  print_data(batch_json_picture(plan_, result, !document_begun_));
  document_begun_ = true;
}

// A line for the picture: in a dry run the result on standard output, otherwise a log line for -v.
// The only picture has a report instead, unless it is skipped.
void RunReporter::print_line(const PictureResult& result) const {
  const bool is_answer = options_.dry_run && !options_.json;
  const bool is_alone = plan_.is_one_picture;
  if (result.status == PictureStatus::failed) return;
  if (is_alone && result.status == PictureStatus::planned && is_answer)
    return print_result(planned_text(result.report, options_));
  if (is_alone && result.status != PictureStatus::exists) return;
  std::string outputs = is_alone ? result.item->output : plan_.output_path(*result.item);
  if (!is_alone) {
    for (const ChainOutput& other : result.item->others)
      outputs += ", " + other.path;
  }
  const std::string line =
      printable(formatted("{} -> {}: {}", result.item->input, outputs, outcome(result)));
  if (is_answer) return print_result(line + "\n");
  if (!is_alone) return log::info(line);
  if (!options_.quiet) print_note(line + "\n");
}

// To standard output, unless the only picture goes there.
void RunReporter::print_data(const std::string& document) const {
  const bool is_taken =
      plan_.is_one_picture && !options_.dry_run && plan_.items.front().output == standard_stream;
  is_taken ? static_cast<void>(std::fputs(document.c_str(), stderr)) : print_document(document);
}

// Warns of metadata of the only picture that the outputs cannot hold, and of input that was ignored
// or looks like a mistake.
void RunReporter::warn_of(const RunReport& report) const {
  const WriteOptions& write = options_.run.write;
  for (const std::string& warning : option_use_.warnings())
    log::warn(warning);
  for (const OutputReport& other : report.others)
    warn_of_losses(other, write);
  for (const std::string& warning : report.stage_warnings)
    log::warn(formatted("{}: {}", printable(report.input), warning));
  warn_of_losses(report, write);
  warn_of_unread(report.input == standard_stream ? "standard input" : report.input, report.unread);
}

void RunReporter::warn_after_folder() const {
  for (const auto& [codec, count] : flattened_) {
    log::warn(
        formatted("{}: {}", counted(count, "picture"),
                  flattening_notice(*codec, *options_.run.write.get<Color>(background_option()))));
  }
  if (const std::string warning = left_out_warning(left_out_.names()); !warning.empty())
    log::warn(warning);
  if (const std::string warning = unread_warning(unread_.names()); !warning.empty())
    log::warn_of_fallback(warning);
  for (const auto& [warning, count] : stage_warnings_)
    log::warn(formatted("{}: {}", counted(count, "picture"), warning));
  for (const std::string& warning : option_use_.warnings())
    log::warn(warning);
}

void RunReporter::conclude() {
  display_.clear();
  set_message_on_signals("");
  const Nanoseconds elapsed = report_ != nullptr ? report_->total : now() - start_;
  if (!plan_.is_one_picture) conclude_folder(elapsed);
  if (report_ != nullptr && log::level() <= log::Level::info) {
    for (const std::string& line : run_account(*report_, options_.asked_chain))
      log::info(line);
  }
  if (trace_) trace_->finish();
  print_timing(elapsed);
  if (report_ != nullptr && options_.show_kernel) print_kernels(*report_, options_.short_kernel);
  if (page_ != nullptr) page_->write(totals_, elapsed, report_);
}

void RunReporter::conclude_folder(Nanoseconds elapsed) {
  warn_after_folder();
  if (out_of_space_) report_full_disk();
  if (!options_.json) return;
  if (!document_begun_) print_data(batch_json_begin(plan_, options_.dry_run));
  print_data(batch_json_end(totals_, elapsed));
}

void RunReporter::print_timing(Nanoseconds elapsed) const {
  if (plan_.is_one_picture && report_ == nullptr) return;
  const RunReport* one = report_;
  const TimingFormat format = options_.timing;
  if (format == TimingFormat::json)
    print_data(one != nullptr ? timing_json(*one) : batch_timing_json(totals_, elapsed));
  if (format == TimingFormat::csv)
    print_data(one != nullptr ? timing_csv(*one) : batch_csv(totals_, elapsed));
  if (one != nullptr) {
    if (format == TimingFormat::line) print_note(timing_line(*one));
    if (format == TimingFormat::table) print_note(timing_table(*one));
  } else if (!options_.quiet) {
    print_note(batch_summary(plan_, totals_, elapsed));
    if (format == TimingFormat::table && totals_.pixels > 0)
      print_note(batch_table(totals_, elapsed));
  }
}

void RunReporter::advanced_rows(std::int64_t done, std::int64_t all) {
  progress_.done = progress_.worked = static_cast<std::uint64_t>(done);
  progress_.all = static_cast<std::uint64_t>(all);
  show_progress();
}

}  // namespace gpufilter
