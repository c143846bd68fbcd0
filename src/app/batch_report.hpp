// The report of a run over folders as text: the pictures, and where the time went.
#pragma once

#include <string>

#include "app/batch_totals.hpp"

namespace gpufilter {

// "decode", "blur", "build blur"
[[nodiscard]] std::string label_of(const BatchActivity& line);

// A shard's share of the pictures, in one line:
//   gpufilter: shard 3/8 from SLURM_PROCID 3 of 8: 50 of 400 pictures, 101.2 of 809.0 MB
[[nodiscard]] std::string shard_line(const BatchPlan& plan);

// At most two lines:
//   in -> out: 12 of 14 pictures done, 2 failed; 3 files of other formats skipped (2 BMP, 1 GIF)
//   3.21 s, 3.7 pictures/s, 29.9 Mpx/s; device: processor
// If several devices were used, each with its number of pictures.
[[nodiscard]] std::string batch_summary(const BatchPlan& plan, const BatchTotals& totals,
                                        Nanoseconds elapsed);
// Its parts: what follows the names in the first line; the second line, empty if no picture was
// filtered.
[[nodiscard]] std::string batch_outcome(const BatchPlan& plan, const BatchTotals& totals);
[[nodiscard]] std::string batch_rates(const BatchTotals& totals, Nanoseconds elapsed);
[[nodiscard]] std::string batch_table(const BatchTotals& totals, Nanoseconds elapsed);

}  // namespace gpufilter
