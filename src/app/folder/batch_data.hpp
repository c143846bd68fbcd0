// The report of a run over folders as JSON and CSV.
#pragma once

#include <string>

#include "app/folder/batch_totals.hpp"

namespace gpufilter {

// Schema "gpufilter-batch-timing-1".
[[nodiscard]] std::string batch_timing_json(const BatchTotals& totals, Nanoseconds elapsed);
[[nodiscard]] std::string batch_csv(const BatchTotals& totals, Nanoseconds elapsed);

// The document "gpufilter-batch-1" in pieces: its beginning, an object for each picture, its end.
[[nodiscard]] std::string batch_json_begin(const BatchPlan& plan, bool dry_run);
[[nodiscard]] std::string batch_json_picture(const BatchPlan& plan, const PictureResult& result,
                                             bool is_first);
[[nodiscard]] std::string batch_json_end(const BatchTotals& totals, Nanoseconds elapsed);

}  // namespace gpufilter
