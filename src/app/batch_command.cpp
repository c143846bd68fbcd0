#include "app/batch_command.hpp"

#include <algorithm>
#include <cstdio>
#include <map>

#include "app/batch_progress.hpp"
#include "app/batch_report.hpp"
#include "app/lasting_dispatcher.hpp"
#include "app/parse.hpp"
#include "app/paths.hpp"
#include "app/timing_report.hpp"
#include "app/trace_file.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "base/thread_limit.hpp"

namespace gpufilter {
namespace {

BatchRequest request_for(const FilterOptions& options) {
  BatchRequest request;
  request.input = options.input;
  request.output = options.output;
  request.recursive = options.folder.recursive;
  request.patterns = options.folder.match;
  request.to = options.folder.to;
  request.on_exists = options.on_exists_given ? options.on_exists : OnExists::fail;
  request.in_place = options.in_place;
  request.resume = options.folder.resume;
  return request;
}

// What the pictures under way may take together. More would let more be decoded before a GPU has
// started, but pinned memory takes as long to give back.
std::uint64_t memory_for(const FilterOptions& options) {
  constexpr std::uint64_t enough_for_one = std::uint64_t{16} << 20U;
  const auto jobs = static_cast<std::uint64_t>(options.folder.jobs);
  return options.max_memory.value_or(std::max(options.run.max_memory, jobs * enough_for_one));
}

// Each job is a thread already; the others are for all to share.
std::unique_ptr<ThreadLimit> limit_threads(const FilterOptions& options) {
  if (!options.threads) return nullptr;
  return std::make_unique<ThreadLimit>(
      static_cast<std::size_t>(*options.threads - options.folder.jobs + 1));
}

bool timing_is_data(const FilterOptions& options) {
  return options.timing == TimingFormat::json || options.timing == TimingFormat::csv;
}

void check_streams(const FilterOptions& options) {
  if (options.output == standard_stream) {
    throw UsageError(formatted(
        "{}: is a folder; its pictures go to a folder, not to standard output", options.input));
  }
  if (options.show_kernel) throw UsageError("--show-kernel is for one picture, not for folders");
  if (options.folder.json && timing_is_data(options)) {
    throw UsageError("--json holds the timing too; leave --timing out");
  }
  if (options.trace == standard_stream && (options.folder.json || timing_is_data(options))) {
    throw UsageError("--trace -: standard output is taken already; give --trace a file");
  }
}

void check_trace(const BatchPlan& plan, const std::string& trace) {
  for (const BatchItem& item : plan.items) {
    if (same_file(trace, plan.input_path(item)) || same_file(trace, plan.output_path(item))) {
      throw UsageError(formatted("{}: is a picture of this run; give --trace another file", trace));
    }
  }
}

class BatchReporter final : public BatchListener {
 public:
  BatchReporter(const BatchPlan& plan, const FilterOptions& options, Nanoseconds start,
                ByteSink* trace)
      : plan_(plan), options_(options), start_(start), progress_(options.progress) {
    if (trace != nullptr) trace_.emplace(*trace, start_);
    state_.all_pictures = plan.items.size();
    for (const BatchItem& item : plan.items)
      state_.all_bytes += item.bytes;
  }

  void advanced(std::uint64_t bytes_under_way) override {
    const bool more = bytes_under_way > state_.bytes_under_way;
    state_.bytes_under_way = bytes_under_way;
    if (!more) return;  // a picture is finished, and reported next
    state_.elapsed = now() - start_;
    progress_.show(state_);
  }

  void finished(const PictureResult& result, const RunReport* report) override {
    totals_.add(result, report);
    if (report != nullptr && trace_) trace_->add(*report, result.job);
    if (result.status == PictureStatus::failed) log::error(printable(result.failure));
    if (report != nullptr && report->alpha_flattened) ++flattened_[report->output_format];
    ++state_.pictures;
    state_.bytes += result.item->bytes;
    if (report != nullptr) {
      ++state_.filtered;
      state_.filtered_bytes += result.item->bytes;
      state_.filtered_pixels = totals_.pixels();
    }
    state_.elapsed = now() - start_;
    progress_.show(state_);
  }

  void listed(const PictureResult& result) override {
    if (result.status == PictureStatus::not_begun) totals_.add(result, nullptr);
    tell(result);
    if (!options_.folder.json) return;
    if (!document_begun_) print_result(batch_json_begin(plan_, options_.folder.dry_run));
    print_result(batch_json_picture(plan_, result, !document_begun_));
    document_begun_ = true;
  }

  // What is said at the end. Throws PictureError.
  void conclude() {
    progress_.clear();
    const Nanoseconds elapsed = now() - start_;
    for (const auto& [codec, count] : flattened_) {
      log::warn(formatted("{} picture{}: {}", count, count == 1 ? "" : "s",
                          flattening_notice(*codec, options_.run.write)));
    }
    if (trace_) trace_->finish();
    if (options_.folder.json) {
      if (!document_begun_) print_result(batch_json_begin(plan_, options_.folder.dry_run));
      print_result(batch_json_end(totals_, elapsed));
    }
    if (options_.timing == TimingFormat::json) print_result(batch_timing_json(totals_, elapsed));
    if (options_.timing == TimingFormat::csv) print_result(batch_csv(totals_, elapsed));
    if (options_.quiet) return;
    std::fputs(batch_summary(totals_, elapsed).c_str(), stderr);
    if (options_.timing == TimingFormat::table && totals_.pixels() > 0) {
      std::fputs(batch_table(totals_, elapsed).c_str(), stderr);
    }
  }

  [[nodiscard]] bool any_failed() const { return totals_.count(PictureStatus::failed) > 0; }

 private:
  // A line for the picture: the answer of a dry run, else for those who want to hear of everything.
  void tell(const PictureResult& result) {
    const bool answer = options_.folder.dry_run && !options_.folder.json;
    if ((!answer && log::level() > log::Level::info) || result.status == PictureStatus::failed) {
      return;
    }
    const std::string line = printable(formatted("{} -> {}: {}", plan_.input_path(*result.item),
                                                 plan_.output_path(*result.item), words(result)));
    if (answer) return print_result(line + "\n");
    log::info(line);
  }

  static std::string words(const PictureResult& result) {
    switch (result.status) {
      case PictureStatus::done:
        return formatted("{}x{}, {:.1f} ms", result.size.width, result.size.height,
                         static_cast<double>(result.duration) / 1e6);
      case PictureStatus::exists:
        return "already exists, skipped";
      case PictureStatus::planned:
        return "would be done";
      default:
        return to_string(result.status);
    }
  }

  const BatchPlan& plan_;
  const FilterOptions& options_;
  Nanoseconds start_;
  BatchProgress progress_;
  BatchState state_;
  BatchTotals totals_;
  std::optional<BatchTrace> trace_;
  std::map<const Codec*, std::size_t> flattened_;  // pictures that lost their alpha, by format
  bool document_begun_ = false;
};

}  // namespace

int run_batch_command(const FilterOptions& options, Nanoseconds start) {
  check_streams(options);
  const LastingDispatcher lasting(options);  // which looks for devices meanwhile
  Dispatcher& dispatcher = lasting.get();
  const BatchPlan plan = make_batch_plan(request_for(options));
  if (plan.items.empty()) log::warn(printable(options.input) + ": holds no picture");
  BatchOptions batch;
  batch.run = options.run;
  batch.run.max_memory = memory_for(options);
  batch.jobs = options.folder.jobs;
  batch.stop_on_error = options.folder.stop_on_error;
  batch.dry_run = options.folder.dry_run;
  const auto limit = limit_threads(options);
  // A device that was asked for and does not exist is reported before anything is written.
  const bool needs_none = options.device == "auto" || options.device == "all";
  if (!needs_none || options.require_device) dispatcher.await_choice();
  std::unique_ptr<ByteSink> trace;
  if (!options.trace.empty() && !batch.dry_run) {
    check_trace(plan, options.trace);
    trace = open_sink(options.trace);
  }
  BatchReporter reporter(plan, options, start, trace.get());
  run_batch(plan, options.chain, dispatcher, batch, reporter);
  reporter.conclude();
  return reporter.any_failed() ? 1 : 0;
}

}  // namespace gpufilter
