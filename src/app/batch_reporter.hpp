// What the user hears while a folder is worked on, and at its end.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "app/batch_totals.hpp"
#include "app/filter_options.hpp"
#include "app/format_options.hpp"
#include "app/progress.hpp"
#include "app/trace_file.hpp"

namespace gpufilter {

class BatchReporter final : public BatchListener {
 public:
  // `plan`, `options` and `trace`, which may be nullptr, outlive it; the work began at `start`.
  // While it exists, a signal that ends the program says how far it came.
  BatchReporter(const BatchPlan& plan, const FilterOptions& options, Nanoseconds start,
                ByteSink* trace);
  ~BatchReporter() override;

  void advanced(std::uint64_t bytes_under_way) override;
  void finished(const PictureResult& result, const RunReport* report) override;
  void listed(const PictureResult& result) override;

  // The account of everything. Throws PictureError.
  void conclude();

  [[nodiscard]] bool any_failed() const { return totals_.count(PictureStatus::failed) > 0; }

 private:
  void show_progress();
  void prepare_for_signals() const;
  void print_line(const PictureResult& result) const;
  void print_data(Nanoseconds elapsed);

  const BatchPlan& plan_;
  const FilterOptions& options_;
  Nanoseconds start_;
  ProgressDisplay display_;
  Progress progress_;
  std::uint64_t finished_bytes_ = 0;           // of inputs
  std::uint64_t finished_bytes_filtered_ = 0;  // of those that took work
  BatchTotals totals_;
  std::optional<BatchTrace> trace_;
  OptionUse option_use_;
  std::map<const Codec*, std::size_t> flattened_;  // pictures that lost their alpha, by format
  bool document_begun_ = false;
};

}  // namespace gpufilter
