// Reports on a run for people: lines and tables, about one picture or about a folder.
#pragma once

#include <string>
#include <vector>

#include "app/report/report_data.hpp"
#include "pipeline/run/run.hpp"
#include "pipeline/run/run_totals.hpp"

namespace gpufilter {

// The short report on a picture. Three lines: input and output, device and reason; the steps in
// order, in milliseconds; the total. A line more for each further output. Names are shortened, and
// transfers without a copy are left out.
[[nodiscard]] std::string timing_line(const RunReport& report);

// The long report on a picture: device, reasons, and all times.
[[nodiscard]] std::string timing_table(const RunReport& report);

// Lines for the log, which -v prints: the device and the full reason, the plan (stages, bands,
// memory), each stage's code and the source of its program, the time of the start. `chain` is the
// requested one.
[[nodiscard]] std::vector<std::string> run_account(const RunReport& report,
                                                   const StageChain& chain);

// The short report on a folder. At most three lines, the second only if there are several outputs:
//   in -> out: 12 of 14 pictures done (3 turned upright), 2 failed; 1 file of another format
//   skipped (1 BMP) out: 21 MB, thumbs/: 1.1 MB 3.21 s, 3.7 pictures/s, 29.9 Mpx/s; device:
//   processor
// If several devices were used, each with its number of pictures.
[[nodiscard]] std::string batch_summary(const BatchPlan& plan, const BatchTotals& totals,
                                        Nanoseconds elapsed);
// The parts of batch_summary(): the end of the first line, after the names, and the other lines,
// which may be empty.
[[nodiscard]] std::string batch_outcome(const BatchPlan& plan, const BatchTotals& totals);
[[nodiscard]] std::string batch_sizes(const BatchPlan& plan, const BatchTotals& totals);
[[nodiscard]] std::string batch_rates(const BatchTotals& totals, Nanoseconds elapsed);

// The times by step, summed over a folder.
[[nodiscard]] std::string batch_table(const BatchTotals& totals, Nanoseconds elapsed);

// Parts of these reports:
// "decode", "blur", "build blur"
[[nodiscard]] std::string label_of(const ActivityTotal& total);

// "also small/a.webp: 400x300, RGB, 8-bit; WebP, 14 kB"
[[nodiscard]] std::string other_output_line(const OutputReport& report);

// "1000x500 -> 200x100, RGBA, 16-bit -> RGB, 8-bit (alpha flattened onto #ffffff)": size and pixels
// in the input file and, if different, in the output file; then an EXIF orientation, applied or
// not.
[[nodiscard]] std::string pixels_text(const PictureReport& report);

// "processor (42 ms estimated; no GPU found)": the device, the reason, and devices that were left
// out.
[[nodiscard]] std::string device_text(const EngineReport& engine);

// "alpha is flattened onto #ffffff, because JPEG has none; --background sets another colour"
[[nodiscard]] std::string flattening_notice(const Codec& output_format, const Color& background);

// "812 bytes", "1.6 MB"
[[nodiscard]] std::string size_text(std::uint64_t bytes);

// A duration or rate with about three digits: "0.05", "2.1", "1520".
[[nodiscard]] std::string brief(double value);

// The name of the walk through the picture with this number, from 1 on: "second pass".
[[nodiscard]] std::string pass_heading(int walk);

}  // namespace gpufilter
