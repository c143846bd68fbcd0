// What "gpufilter compare" says about two pictures, for people and for programs.
#pragma once

#include <optional>
#include <string>

#include "base/json.hpp"
#include "compare/file_comparison.hpp"

namespace gpufilter {

enum class CompareResult {
  equal,
  within_tolerance,
  different,
  other_size_or_format,
  // Results of names in two folders:
  only_in_a,
  only_in_b,
  unreadable
};

[[nodiscard]] CompareResult result_of(const FileComparison& files);

// The subcommand's, 0 to 4. A name that only one folder has counts as different.
[[nodiscard]] int exit_code(CompareResult result);

// As JSON has it: "within_tolerance".
[[nodiscard]] const char* to_string(CompareResult result);

struct CompareReport {
  FileComparison files;
  Tolerance tolerance;
  std::optional<std::string> wanted_drawing;  // the requested file for the differences
};

// A few lines of text, each with a line end.
[[nodiscard]] std::string text_report(const CompareReport& report);

// The differences in a phrase, for one of many pairs: "different: 12 of 3000 pixels (0.40 %)
// differ, by at most 9 at x 4, y 7, PSNR 41.20 dB, SSIM 0.9731".
[[nodiscard]] std::string phrase(const FileComparison& files);

// "12 of 3000 pixels (0.40 %) differ, by at most 9 at x 4, y 7", of pictures that are not equal.
[[nodiscard]] std::string differing_text(const Comparison& comparison);

// One JSON object, "gpufilter-compare-1", and a line end. docs/engineering/json.md describes it.
[[nodiscard]] std::string json_report(const CompareReport& report);

// The part of it about the pictures: "a", "b" and, if they were compared, all numbers.
void add_pictures(Json& json, const FileComparison& files);

}  // namespace gpufilter
