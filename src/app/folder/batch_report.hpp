// The report of a run over folders as text: the pictures, and where the time went.
#pragma once

#include <string>

#include "app/folder/batch_totals.hpp"

namespace gpufilter {

// "decode", "blur", "build blur"
[[nodiscard]] std::string label_of(const BatchActivity& line);

// A shard's share of the pictures, in one line:
//   gpufilter: shard 3/8 from SLURM_PROCID 3 of 8: 50 of 400 pictures, 101.2 of 809.0 MB
[[nodiscard]] std::string shard_line(const BatchPlan& plan);

// At most three lines, the second only if there are several outputs:
//   in -> out: 12 of 14 pictures done (3 turned upright), 2 failed; 1 file of another format
//   skipped (1 BMP) out: 21 MB, thumbs/: 1.1 MB 3.21 s, 3.7 pictures/s, 29.9 Mpx/s; device:
//   processor
// If several devices were used, each with its number of pictures.
[[nodiscard]] std::string batch_summary(const BatchPlan& plan, const BatchTotals& totals,
                                        Nanoseconds elapsed);
// Its parts: what follows the names in the first line, and the other lines, which may be empty.
[[nodiscard]] std::string batch_outcome(const BatchPlan& plan, const BatchTotals& totals);
[[nodiscard]] std::string batch_sizes(const BatchPlan& plan, const BatchTotals& totals);
[[nodiscard]] std::string batch_rates(const BatchTotals& totals, Nanoseconds elapsed);
[[nodiscard]] std::string batch_table(const BatchTotals& totals, Nanoseconds elapsed);

}  // namespace gpufilter
