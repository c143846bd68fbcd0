// --plot FILE.svg, for every command that draws.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "app/cli/arguments.hpp"
#include "codec/byte_sink.hpp"

namespace gpufilter {

// `path` stays empty if the option is not given.
void add_plot(Arguments& app, std::string& path, const std::string& help);

// Opened first, so that no work is wasted if the chart cannot be written; nullptr for an empty
// path. Throws UsageError if it is not a name for an SVG file, PictureError if it cannot be
// created.
[[nodiscard]] std::unique_ptr<ByteSink> open_plot(const std::string& path);

// Makes `svg` the file's contents. Throws PictureError.
void write_plot(ByteSink& sink, std::string_view svg);

}  // namespace gpufilter
