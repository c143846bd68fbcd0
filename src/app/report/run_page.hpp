// The page of --report about a run: one picture, or a folder of them.
#pragma once

#include <memory>

#include "app/filter/filter_options.hpp"
#include "app/report/report_data.hpp"
#include "app/report/report_page.hpp"
#include "base/files.hpp"
#include "batch/batch_run.hpp"
#include "codec/byte_source.hpp"

namespace gpufilter {

class RunPage {
 public:
  // Claims the folder. `options` and `plan` outlive this. Throws UsageError, PictureError.
  RunPage(const FilterOptions& options, const BatchPlan& plan);

  // For BatchOptions::before_picture: watches a picture of a folder. This outlives the run.
  [[nodiscard]] AfterPicture watch(const BatchItem& item);
  // Before a run over one picture: keeps an input that is replaced, and what passes through
  // standard input and output. This outlives the run. Throws PictureError.
  void watch_run(RunOptions& run);

  // Adds a picture to the page; every one is added, in the order of the page.
  void add(const PictureResult& result);
  // Writes the page. `report` is the only picture's; nullptr for a folder, and if the output
  // already existed and was kept. Throws PictureError, also if a preview could not be written.
  void write(const BatchTotals& totals, Nanoseconds elapsed, const RunReport* report);

 private:
  void look(const PictureResult& result, std::unique_ptr<ByteSource> replaced);
  [[nodiscard]] std::size_t index_of(const BatchItem& item) const;
  [[nodiscard]] html::Page folder_page(const BatchTotals& totals, Nanoseconds elapsed) const;
  [[nodiscard]] html::Page picture_page(const RunReport* report) const;

  const FilterOptions& options_;
  const BatchPlan& plan_;
  ReportPage page_;
  std::unique_ptr<ByteSource> replaced_;      // the only picture, if its result replaces it
  std::unique_ptr<RepeatableSource> stream_;  // the input, if it can be read only once
  FileDescriptor copy_;                       // of an output that cannot be read again
};

// The page that options ask for; nullptr if they ask for none.
[[nodiscard]] std::unique_ptr<RunPage> page_for(const FilterOptions& options,
                                                const BatchPlan& plan);

}  // namespace gpufilter
