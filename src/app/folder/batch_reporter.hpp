// Reports to the user during a run over folders, and at its end.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "app/cli/left_out_tally.hpp"
#include "app/cli/progress.hpp"
#include "app/filter/filter_options.hpp"
#include "app/filter/format_options.hpp"
#include "app/filter/trace_file.hpp"
#include "app/folder/batch_page.hpp"
#include "app/folder/batch_totals.hpp"

namespace gpufilter {

class BatchReporter final : public BatchListener {
 public:
  // `plan`, `options`, `trace` and `page` (these may be nullptr) have to outlive this object. Times
  // are counted from `start`. While it exists, a signal that ends the program prints how many
  // pictures are done.
  BatchReporter(const BatchPlan& plan, const FilterOptions& options, Nanoseconds start,
                ByteSink* trace, BatchPage* page);
  ~BatchReporter() override;

  void advanced(std::uint64_t bytes_under_way) override;
  void finished(const PictureResult& result, const RunReport* report) override;
  void listed(const PictureResult& result) override;

  // Prints the final report and writes the page. Throws PictureError.
  void conclude();

  [[nodiscard]] bool any_failed() const { return totals_.count(PictureStatus::failed) > 0; }

 private:
  void show_progress();
  void prepare_for_signals() const;
  [[nodiscard]] const char* repetition() const;
  void report_full_disk() const;
  void note_losses(const RunReport& report);
  void print_line(const PictureResult& result) const;
  void print_data(Nanoseconds elapsed);
  void print_summary(Nanoseconds elapsed) const;

  const BatchPlan& plan_;
  const FilterOptions& options_;
  Nanoseconds start_;
  ProgressDisplay display_;
  Progress progress_;
  std::uint64_t finished_bytes_ = 0;           // of all finished inputs
  std::uint64_t finished_bytes_filtered_ = 0;  // of those that were filtered
  BatchTotals totals_;
  std::optional<BatchTrace> trace_;
  BatchPage* page_;
  OptionUse option_use_;
  std::map<const Codec*, std::size_t> flattened_;  // pictures that lost their alpha, by format
  LeftOutTally left_out_;
  LeftOutTally unread_;
  std::map<std::string, std::size_t> doubts_;  // with the number of pictures
  bool document_begun_ = false;
  bool out_of_space_ = false;  // the run ended early, because the disk is full
};

}  // namespace gpufilter
