// --report DIR and --plot FILE.svg, for every command that makes a page or draws.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "app/cli/arguments.hpp"
#include "codec/byte_sink.hpp"

namespace gpufilter {

// A page for browsers, in the folder `path`. `help` says what it shows.
void add_report(Arguments& app, std::string& path, const std::string& help);

// A chart. `path` stays empty if the option is not given.
void add_plot(Arguments& app, std::string& path, const std::string& help);

// Opened first, so that no work is wasted if the chart cannot be written; nullptr for an empty
// path. Throws UsageError if it is not a name for an SVG file, PictureError if it cannot be
// created.
[[nodiscard]] std::unique_ptr<ByteSink> open_plot(const std::string& path);

// Makes `svg` the file's contents. Throws PictureError.
void write_plot(ByteSink& sink, std::string_view svg);

}  // namespace gpufilter
