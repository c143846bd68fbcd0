// The report of a run: what was used, why, and how long everything took.
#pragma once

#include <string>

#include "app/filter/filter_options.hpp"
#include "pipeline/run/run.hpp"

namespace gpufilter {

[[nodiscard]] std::string timing_table(const RunReport& report);
// With the schema "gpufilter-timing-1".
[[nodiscard]] std::string timing_json(const RunReport& report);
[[nodiscard]] std::string timing_csv(
    const RunReport& report);  // columns as its first line names them

// Parts that the report of a folder has too: the device and the reason, in lines; the table's line
// about --verify, with a first column of `width`; a field of a CSV line, quoted if necessary.
[[nodiscard]] std::string device_lines(const EngineReport& engine);
[[nodiscard]] std::string verified_line(std::uint64_t blocks, std::size_t width);
[[nodiscard]] std::string csv_text(const std::string& text);

// "alpha is flattened onto #ffffff, because JPEG has none; --background sets another colour"
[[nodiscard]] std::string flattening_notice(const Codec& output_format, const Color& background);

// Lines and table go to standard error, JSON and CSV to standard output unless the picture goes
// there. Throws PictureError if a result cannot be written.
void print_timing(const RunReport& report, TimingFormat format, bool picture_on_standard_output);

}  // namespace gpufilter
