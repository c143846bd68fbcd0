// What filter_picture() would do, without doing it.
#pragma once

#include "pipeline/run/run.hpp"

namespace gpufilter {

// Reads the header of `input` and writes nothing. The report has the size, the formats, how the
// output would be encoded, and the device as far as it is known before the work: `engine` has the
// device "processor", "OpenCL" or "none", and the reason. Throws what filter_picture() would throw
// before the first row.
[[nodiscard]] RunReport preview_picture(const std::string& input, const std::string& output,
                                        const Codec* output_format, const StageChain& chain,
                                        Dispatcher& dispatcher, const RunOptions& options);

}  // namespace gpufilter
