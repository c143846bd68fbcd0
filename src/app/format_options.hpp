// The options of the formats that pictures are written in, as the table of codecs declares them.
#pragma once

#include <CLI/CLI.hpp>

#include "codec/write_options.hpp"

namespace gpufilter {

// `options` outlives the parsing.
void add_format_options(CLI::App& app, WriteOptions& options);

}  // namespace gpufilter
