// The output of "gpufilter bench".
#pragma once

#include <string>

#include "lab/bench/report.hpp"

namespace gpufilter::lab {

// The device that was measured, a table, notes.
[[nodiscard]] std::string bench_text(const Report& report, const std::string& date);

// One JSON object, "gpufilter-bench-1"; docs/engineering/bench.md describes it.
[[nodiscard]] std::string bench_json(const Report& report, const std::string& date);

// CSV: a line of headings and a line for each row, with benchmark, version, date and device.
[[nodiscard]] std::string bench_csv(const Report& report, const std::string& date);

// The report's chart as SVG.
[[nodiscard]] std::string bench_chart(const Report& report, const std::string& date);

// Now, in UTC: "2026-01-31T12:00:00Z".
[[nodiscard]] std::string date_now();

}  // namespace gpufilter::lab
