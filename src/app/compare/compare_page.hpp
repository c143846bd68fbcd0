// The page of "gpufilter compare --report".
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "app/compare/compare_report.hpp"
#include "app/report/page_parts.hpp"
#include "compare/folder_comparison.hpp"

namespace gpufilter {

struct ComparePageRequest {
  std::string folder;        // of the page
  std::string command_line;  // quoted for a shell
  bool quiet = false;
  std::string a;
  std::string b;
  ReadLimits limits;
  Tolerance tolerance;
};

class ComparePage {
 public:
  // Claims the folder. Throws UsageError, PictureError.
  explicit ComparePage(ComparePageRequest request);

  // Writes the page of two pictures, once they are compared; `open` opens them again. Throws
  // PictureError.
  void write(const FileComparison& files, const OpenSource& open);

  // The page of two folders: called while they are compared, for each name in order, and at the
  // end.
  [[nodiscard]] ComparisonWatch watch();
  void add(const NameComparison& name);
  void write(const std::string& summary, CompareResult result);

 private:
  void publish_page(html::Page page);

  ComparePageRequest request_;
  html::PageFolder folder_;
  std::optional<PagePreviews> previews_;
  std::vector<html::Entry> entries_;
};

}  // namespace gpufilter
