// What "gpufilter compare" says about two folders, name by name as they are compared.
#pragma once

#include <array>
#include <cstdint>

#include "app/compare/compare_report.hpp"
#include "compare/folder_comparison.hpp"

namespace gpufilter {

[[nodiscard]] CompareResult result_of(const NameComparison& name);

enum class ReportForm { none, text, json };

// Prints the result for each name to standard output at once; failures are logged. Every member
// throws PictureError if standard output cannot be written.
class FoldersReport {
 public:
  FoldersReport(const FolderComparisonRequest& request, ReportForm form);

  // Prints a line of text for a name that is not equal in both, or a JSON object for every name.
  void add(const NameComparison& name);

  // Prints the summary. Throws UsageError if no name was added, so nothing was compared.
  void finish();

  // The highest code of all names.
  [[nodiscard]] int exit_code() const { return exit_code_; }

  // The worst result of all names.
  [[nodiscard]] CompareResult result() const;

  // How many names have which result, in one line.
  [[nodiscard]] std::string summary_text() const;

 private:
  void add_text(const NameComparison& name, CompareResult result) const;
  void add_json(const NameComparison& name, CompareResult result);
  [[nodiscard]] std::string summary_json() const;

  const FolderComparisonRequest& request_;
  ReportForm form_;
  std::array<std::uint64_t, 7> counts_{};  // by CompareResult
  std::uint64_t names_ = 0;
  int exit_code_ = 0;
};

}  // namespace gpufilter
