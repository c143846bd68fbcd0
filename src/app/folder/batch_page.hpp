// The page of --report about a run over many pictures.
#pragma once

#include <memory>
#include <vector>

#include "app/filter/filter_options.hpp"
#include "app/report/page_parts.hpp"

namespace gpufilter {

class BatchPage {
 public:
  // Claims the folder. `options` and `plan` outlive this. Throws UsageError, PictureError.
  BatchPage(const FilterOptions& options, const BatchPlan& plan);

  // For BatchOptions::before_picture. This outlives the run.
  [[nodiscard]] BeforePicture watcher();

  // Every picture, in the order of the page.
  void add(const PictureResult& result);

  // Throws PictureError, also if a preview could not be written.
  void write(const BatchTotals& totals, Nanoseconds elapsed);

 private:
  void look(const PictureResult& result, std::unique_ptr<ByteSource> replaced);
  [[nodiscard]] std::size_t index_of(const BatchItem& item) const;

  const FilterOptions& options_;
  const BatchPlan& plan_;
  html::PageFolder folder_;
  PagePreviews previews_;
  std::vector<html::Entry> entries_;
};

// The page that options ask for; nullptr if they ask for none.
[[nodiscard]] std::unique_ptr<BatchPage> page_for(const FilterOptions& options,
                                                  const BatchPlan& plan);

}  // namespace gpufilter
