#include "app/compare/compare_folders_report.hpp"

#include <algorithm>
#include <vector>

#include "app/cli/parse.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"

namespace gpufilter {
namespace {

constexpr std::array all_results{CompareResult::equal,     CompareResult::within_tolerance,
                                 CompareResult::different, CompareResult::other_size_or_format,
                                 CompareResult::only_in_a, CompareResult::only_in_b,
                                 CompareResult::unreadable};

// The result for the folders as a whole, by exit code.
constexpr std::array by_exit_code{CompareResult::equal, CompareResult::within_tolerance,
                                  CompareResult::different, CompareResult::other_size_or_format,
                                  CompareResult::unreadable};

}  // namespace

CompareResult result_of(const NameComparison& name) {
  if (!name.failure.empty()) return CompareResult::unreadable;
  if (!name.in_b) return CompareResult::only_in_a;
  if (!name.in_a) return CompareResult::only_in_b;
  return gpufilter::result_of(*name.files);
}

FoldersReport::FoldersReport(const FolderComparisonRequest& request, ReportForm form)
    : request_(request), form_(form) {}

void FoldersReport::add(const NameComparison& name) {
  const CompareResult result = result_of(name);
  ++names_;
  ++counts_.at(static_cast<std::size_t>(result));
  exit_code_ = std::max(exit_code_, gpufilter::exit_code(result));
  if (!name.failure.empty()) log::error(name.failure);
  if (form_ == ReportForm::text) add_text(name, result);
  if (form_ == ReportForm::json) add_json(name, result);
}

void FoldersReport::add_text(const NameComparison& name, CompareResult result) const {
  std::string text;
  switch (result) {
    case CompareResult::equal:
      return;
    case CompareResult::only_in_a:
      text = "only in " + request_.a;
      break;
    case CompareResult::only_in_b:
      text = "only in " + request_.b;
      break;
    case CompareResult::unreadable:
      text = "cannot be read";
      break;
    default:
      text = phrase(*name.files);
  }
  print_result(printable(formatted("{}: {}", name.name, text)) + "\n");
}

void FoldersReport::add_json(const NameComparison& name, CompareResult result) {
  std::string text = ",\n";
  if (names_ == 1) {
    const Json about{{"schema", "gpufilter-compare-folders-1"},
                     {"tolerance", request_.tolerance.steps},
                     {"fail_percent", request_.tolerance.percent},
                     {"recursive", request_.recursive},
                     {"a", request_.a},
                     {"b", request_.b}};
    text = about.on_one_line();
    text.pop_back();  // the brace: more follows
    text += ",\"pictures\":[\n";
  }
  Json json{{"name", name.name},
            {"result", to_string(result)},
            {"exit_code", gpufilter::exit_code(result)}};
  if (name.files) add_pictures(json, *name.files);
  if (!name.failure.empty()) json["error"] = name.failure;
  print_document(text + json.on_one_line());
}

std::string FoldersReport::summary_text() const {
  const auto count = [this](CompareResult result) {
    return counts_.at(static_cast<std::size_t>(result));
  };
  std::vector<std::string> parts{formatted("{} equal", count(CompareResult::equal))};
  const auto add = [&](CompareResult result, const std::string& words) {
    if (count(result) > 0) parts.push_back(formatted("{} {}", count(result), words));
  };
  add(CompareResult::within_tolerance, "equal within the tolerance");
  add(CompareResult::different, "different");
  add(CompareResult::other_size_or_format, "not comparable");
  add(CompareResult::only_in_a, "only in " + request_.a);
  add(CompareResult::only_in_b, "only in " + request_.b);
  add(CompareResult::unreadable, "cannot be read");
  const char* names = names_ == 1 ? "name" : "names";
  return printable(formatted("{} {}: {}", names_, names, fmt::join(parts, ", ")));
}

void FoldersReport::finish() {
  if (names_ == 0) {
    throw UsageError(
        formatted("{} and {}: neither folder holds a picture", request_.a, request_.b));
  }
  if (form_ == ReportForm::text) print_result(summary_text() + "\n");
  if (form_ == ReportForm::json) print_document(summary_json());
}

CompareResult FoldersReport::result() const {
  return by_exit_code.at(static_cast<std::size_t>(exit_code_));
}

std::string FoldersReport::summary_json() const {
  Json counts{{"names", names_}};
  for (const CompareResult result : all_results)
    counts[to_string(result)] = counts_.at(static_cast<std::size_t>(result));
  const Json summary{
      {"result", to_string(result())}, {"exit_code", exit_code_}, {"counts", counts}};
  return "\n],\"summary\":" + summary.on_one_line() + "}\n";
}

}  // namespace gpufilter
