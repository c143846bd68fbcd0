#include "app/folder/batch_reporter.hpp"

#include <cstdio>
#include <set>

#include "app/cli/parse.hpp"
#include "app/filter/timing_report.hpp"
#include "app/folder/batch_data.hpp"
#include "app/folder/batch_report.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "base/signal_cleanup.hpp"
#include "base/words.hpp"
#include "codec/unread.hpp"

namespace gpufilter {
namespace {

std::string outcome(const PictureResult& result) {
  switch (result.status) {
    case PictureStatus::done:
      return formatted("{}x{}, {:.1f} ms{}", result.size.width, result.size.height,
                       static_cast<double>(result.duration) / 1e6,
                       result.copied ? ", copied unchanged" : "");
    case PictureStatus::exists:
      return "already exists, skipped";
    case PictureStatus::planned:
      return "would be done";
    default:
      return to_string(result.status);
  }
}

}  // namespace

BatchReporter::BatchReporter(const BatchPlan& plan, const FilterOptions& options, Nanoseconds start,
                             ByteSink* trace, BatchPage* page)
    : plan_(plan),
      options_(options),
      start_(start),
      display_(options.progress),
      page_(page),
      option_use_(options.run.write, options.run.limits.damaged) {
  if (trace != nullptr) trace_.emplace(*trace, start_, options.command_line);
  progress_.all_pictures = plan.items.size();
  for (const BatchItem& item : plan.items)
    progress_.all += item.bytes;
  if (plan.shard && !options.quiet) print_note(shard_line(plan));
  for (const OtherPicture& other : plan.others)
    log::info(printable(formatted("{}: {} is not supported, skipped", other.name, other.format)));
  prepare_for_signals();
}

BatchReporter::~BatchReporter() {
  set_message_on_signals("");
}

void BatchReporter::prepare_for_signals() const {
  if (options_.quiet || options_.dry_run) return;
  const std::size_t failed = totals_.count(PictureStatus::failed);
  set_message_on_signals(
      formatted("gpufilter: stopped after {} of {}{}; the same command {} does the rest\n",
                progress_.pictures, counted(progress_.all_pictures, "picture"),
                failed > 0 ? formatted(", {} failed", failed) : "", repetition()));
}

// How to repeat the command so that it does the rest.
const char* BatchReporter::repetition() const {
  return options_.folder.resume || plan_.shard ? "again" : "with --resume";
}

void BatchReporter::report_full_disk() const {
  const std::size_t rest = totals_.count(PictureStatus::not_begun) + 1;
  log::error(printable(
      formatted("{}: no space for more results; {} of {} remain; make room, then "
                "the same command {} does the rest",
                plan_.output, rest, counted(plan_.items.size(), "picture"), repetition())));
}

void BatchReporter::show_progress() {
  progress_.elapsed = now() - start_;
  display_.show(progress_);
}

void BatchReporter::advanced(std::uint64_t bytes_under_way) {
  const std::uint64_t before = progress_.done;
  progress_.done = finished_bytes_ + bytes_under_way;
  progress_.worked = finished_bytes_filtered_ + bytes_under_way;
  // The progress is less if a picture has just finished: finished() then follows and shows the
  // progress.
  if (progress_.done > before) show_progress();
}

void BatchReporter::finished(const PictureResult& result, const RunReport* report) {
  totals_.add(result, report);
  if (report != nullptr && trace_) trace_->add(*report, result.job);
  if (result.status == PictureStatus::failed) log::error(result.failure);
  out_of_space_ = out_of_space_ || result.out_of_space;
  if (report != nullptr) option_use_.add(*report);
  if (report != nullptr) note_losses(*report);
  if (report != nullptr) {
    for (const std::string& doubt : report->doubts)
      ++doubts_[doubt];
  }
  const std::uint64_t bytes = result.item->bytes;
  ++progress_.pictures;
  finished_bytes_ += bytes;
  progress_.done += bytes;
  if (report != nullptr) {
    ++progress_.filtered;
    finished_bytes_filtered_ += bytes;
    progress_.worked += bytes;
    progress_.filtered_pixels = totals_.pixels();
  }
  show_progress();
  prepare_for_signals();
}

// What the outputs cannot hold.
void BatchReporter::note_losses(const RunReport& report) {
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

void BatchReporter::listed(const PictureResult& result) {
  if (result.status == PictureStatus::not_begun) totals_.add(result, nullptr);
  print_line(result);
  if (page_ != nullptr) page_->add(result);
  if (!options_.json) return;
  if (!document_begun_) print_document(batch_json_begin(plan_, options_.dry_run));
  print_document(batch_json_picture(plan_, result, !document_begun_));
  document_begun_ = true;
}

// A line for the picture: in a dry run the result on standard output, otherwise a log line for -v.
void BatchReporter::print_line(const PictureResult& result) const {
  const bool is_answer = options_.dry_run && !options_.json;
  if (!is_answer && log::level() > log::Level::info) return;
  if (result.status == PictureStatus::failed) return;
  std::string outputs = plan_.output_path(*result.item);
  for (const ChainOutput& other : result.item->others)
    outputs += ", " + other.path;
  const std::string line =
      printable(formatted("{} -> {}: {}", result.item->input, outputs, outcome(result)));
  is_answer ? print_result(line + "\n") : log::info(line);
}

void BatchReporter::print_data(Nanoseconds elapsed) {
  if (options_.json) {
    if (!document_begun_) print_document(batch_json_begin(plan_, options_.dry_run));
    print_document(batch_json_end(totals_, elapsed));
  }
  if (options_.timing == TimingFormat::json) print_document(batch_timing_json(totals_, elapsed));
  if (options_.timing == TimingFormat::csv) print_document(batch_csv(totals_, elapsed));
}

void BatchReporter::conclude() {
  display_.clear();
  set_message_on_signals("");
  const Nanoseconds elapsed = now() - start_;
  for (const auto& [codec, count] : flattened_) {
    log::warn(
        formatted("{}: {}", counted(count, "picture"),
                  flattening_notice(*codec, *options_.run.write.get<Color>(background_option()))));
  }
  if (const std::string warning = left_out_warning(left_out_.names()); !warning.empty())
    log::warn(warning);
  if (const std::string warning = unread_warning(unread_.names()); !warning.empty())
    log::warn_of_fallback(warning);
  for (const auto& [doubt, count] : doubts_)
    log::warn(formatted("{}: {}", counted(count, "picture"), doubt));
  for (const std::string& warning : option_use_.warnings())
    log::warn(warning);
  if (out_of_space_) report_full_disk();
  if (trace_) trace_->finish();
  print_data(elapsed);
  print_summary(elapsed);
  if (page_ != nullptr) page_->write(totals_, elapsed);
}

void BatchReporter::print_summary(Nanoseconds elapsed) const {
  if (options_.quiet) return;
  print_note(batch_summary(plan_, totals_, elapsed));
  if (options_.timing == TimingFormat::table && totals_.pixels() > 0) {
    print_note(batch_table(totals_, elapsed));
  }
}

}  // namespace gpufilter
