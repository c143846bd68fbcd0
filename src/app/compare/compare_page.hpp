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

  // Writes the page about two pictures, once they are compared; `open` opens them again. Throws
  // PictureError.
  void write(const FileComparison& files, const OpenSource& open);

  // For a page about two folders: watches the comparison, takes each name in order, writes the
  // page at the end.
  [[nodiscard]] ComparisonWatch watch();
  void add(const NameComparison& name);
  void write(const std::string& summary, CompareResult result);

 private:
  const CompareOptions& options_;
  ReportPage page_;
};

}  // namespace gpufilter
