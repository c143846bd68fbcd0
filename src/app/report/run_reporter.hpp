// Reports to the user during a run and at its end, as the options request.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/progress.hpp"
#include "app/filter/filter_options.hpp"
#include "app/filter/format_options.hpp"
#include "app/report/report_data.hpp"
#include "app/report/run_page.hpp"
#include "app/report/trace_file.hpp"

namespace gpufilter {

// Counts over the pictures of a folder.
class LeftOutTally {
 public:
  // RunReport::left_out of a picture, or its RunReport::unread.
  void add(const std::vector<std::string>& names);

  // "gamma (3 pictures)", "XMP (1 picture)": the commonest first.
  [[nodiscard]] std::vector<std::string> names() const;

 private:
  std::map<std::string, std::size_t> pictures_;  // by name
};

// Metadata that an output cannot hold: "not carried over: gamma, XMP"; of more than a few only
// their number. Empty if all was carried over.
[[nodiscard]] std::string left_out_warning(const std::vector<std::string>& names);

class RunReporter final : public BatchListener {
 public:
  // `plan`, `options`, `trace` and `page` (these may be nullptr) have to outlive this object. Times
  // are counted from `start`. While it exists, a signal that ends a run over a folder prints how
  // many pictures are done.
  RunReporter(const BatchPlan& plan, const FilterOptions& options, Nanoseconds start,
              ByteSink* trace, RunPage* page);
  ~RunReporter() override;

  void advanced(std::uint64_t bytes_under_way) override;
  void finished(const PictureResult& result, const RunReport* report) override;
  void listed(const PictureResult& result) override;

  // Prints the final report, for a single picture the one passed to finished(), and writes the
  // page. Throws PictureError.
  void conclude();

  // For a run over one picture: rows are done.
  void advanced_rows(std::int64_t done, std::int64_t all);

  [[nodiscard]] bool any_failed() const { return totals_.count(PictureStatus::failed) > 0; }

 private:
  void show_progress();
  void prepare_for_signals() const;
  [[nodiscard]] const char* repetition() const;
  void report_full_disk() const;
  void finished_alone(const PictureResult& result, const RunReport* report);
  void finished_in_folder(const PictureResult& result, const RunReport* report);
  void warn_of(const RunReport& report) const;
  void note_losses(const RunReport& report);
  void warn_after_folder() const;
  void conclude_folder(Nanoseconds elapsed);
  void print_line(const PictureResult& result) const;
  void print_data(const std::string& document) const;
  void print_timing(Nanoseconds elapsed) const;

  const BatchPlan& plan_;
  const FilterOptions& options_;
  Nanoseconds start_;
  ProgressDisplay display_;
  Progress progress_;
  std::uint64_t finished_bytes_ = 0;           // of all finished inputs
  std::uint64_t finished_bytes_filtered_ = 0;  // of those that were filtered
  BatchTotals totals_;
  std::optional<TraceFile> trace_;
  RunPage* page_;
  const RunReport* report_ = nullptr;  // of the only picture, if it is done
  OptionUse option_use_;
  std::map<const Codec*, std::size_t> flattened_;  // pictures that lost their alpha, by format
  LeftOutTally left_out_;
  LeftOutTally unread_;
  std::map<std::string, std::size_t> stage_warnings_;  // with the number of pictures
  bool document_begun_ = false;
  bool out_of_space_ = false;  // the run ended early, because the disk is full
};

}  // namespace gpufilter
