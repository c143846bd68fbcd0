// Reports of "gpufilter compare" on two pictures or two folders, as text and JSON.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "compare/comparison.hpp"

namespace gpufilter {

struct CompareOptions {
  std::string a;
  std::string b;
  Tolerance tolerance;
  std::optional<std::string> drawing;  // the requested file for the differences
  std::string report;                  // folder of a page; empty: none
  std::string command_line;            // quoted for a shell
  ReadLimits limits;
  bool recursive = false;
  bool json = false;
  bool quiet = false;
};

enum class CompareResult {
  equal,
  within_tolerance,
  different,
  other_size_or_format,
  // Only for names in two folders:
  only_in_a,
  only_in_b,
  unreadable
};

[[nodiscard]] CompareResult result_of(const FileComparison& files);
[[nodiscard]] CompareResult result_of(const NameComparison& name);

// The subcommand's, 0 to 4. A name that only one folder has counts as different.
[[nodiscard]] int exit_code(CompareResult result);
// "within the tolerance": the result on pages.
[[nodiscard]] const char* status_text(CompareResult result);

// A few lines of text about two pictures, each with a line end.
[[nodiscard]] std::string text_report(const CompareOptions& options, const FileComparison& files);

// One JSON object, "gpufilter-compare-1", and a line end. docs/engineering/json.md describes it.
[[nodiscard]] std::string json_report(const CompareOptions& options, const FileComparison& files);

// The differences in a phrase, for one of many pairs: "different: 12 of 3000 pixels (0.40 %)
// differ, by at most 9 at x 4, y 7, PSNR 41.20 dB, SSIM 0.9731".
[[nodiscard]] std::string phrase(const FileComparison& files);

// "12 of 3000 pixels (0.40 %) differ, by at most 9 at x 4, y 7", of pictures that are not equal.
[[nodiscard]] std::string differing_text(const Comparison& comparison);

// The report on two folders. Prints the result for each name to standard output at once; failures
// are logged. Every member throws PictureError if standard output cannot be written.
class FoldersReport {
 public:
  // `options` outlive this.
  explicit FoldersReport(const CompareOptions& options) : options_(options) {}

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
  [[nodiscard]] std::string words_of(CompareResult result) const;
  void add_text(const NameComparison& name, CompareResult result) const;
  void add_json(const NameComparison& name, CompareResult result);
  [[nodiscard]] std::string summary_json() const;

  const CompareOptions& options_;
  std::array<std::uint64_t, 7> counts_{};  // by CompareResult
  std::uint64_t names_ = 0;
  int exit_code_ = 0;
};

}  // namespace gpufilter
