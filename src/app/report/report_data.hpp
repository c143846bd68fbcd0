// Reports on a run for programs: JSON and CSV, about one picture or about a folder.
#pragma once

#include <string>

#include "app/report/batch_totals.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter {

// The timing of a picture: "gpufilter-timing-1", and CSV with columns as its first line names them.
[[nodiscard]] std::string timing_json(const RunReport& report);
[[nodiscard]] std::string timing_csv(const RunReport& report);

// What became of a picture, a document: "gpufilter-picture-1".
[[nodiscard]] std::string picture_document(const BatchPlan& plan, const PictureResult& result);

// The timing of a folder: "gpufilter-batch-timing-1", and CSV.
[[nodiscard]] std::string batch_timing_json(const BatchTotals& totals, Nanoseconds elapsed);
[[nodiscard]] std::string batch_csv(const BatchTotals& totals, Nanoseconds elapsed);

// A document about a folder in pieces: the beginning, each picture, the end. "gpufilter-batch-1".
[[nodiscard]] std::string batch_json_begin(const BatchPlan& plan, bool dry_run);
[[nodiscard]] std::string batch_json_picture(const BatchPlan& plan, const PictureResult& result,
                                             bool is_first);
[[nodiscard]] std::string batch_json_end(const BatchTotals& totals, Nanoseconds elapsed);

}  // namespace gpufilter
