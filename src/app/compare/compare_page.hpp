// The page of "gpufilter compare --report".
#pragma once

#include <string>

#include "app/compare/compare_report.hpp"
#include "app/report/report_page.hpp"

namespace gpufilter {

class ComparePage {
 public:
  // Claims the folder. `options` outlive this. Throws UsageError, PictureError.
  explicit ComparePage(const CompareOptions& options);

  // Of two pictures, once they are compared; `open` opens them again. Throws PictureError.
  void write(const FileComparison& files, const OpenSource& open);

  // Of two folders: while they are compared, for each name in order, at the end.
  [[nodiscard]] ComparisonWatch watch();
  void add(const NameComparison& name);
  void write(const std::string& summary, CompareResult result);

 private:
  const CompareOptions& options_;
  ReportPage page_;
};

}  // namespace gpufilter
