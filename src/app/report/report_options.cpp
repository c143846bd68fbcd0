#include "app/report/report_options.hpp"

#include <cstdint>
#include <filesystem>
#include <span>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"

namespace gpufilter {

void add_report(Arguments& app, std::string& path, const std::string& help) {
  app.add_option("--report", path, help)
      ->option_text("DIR")
      ->suggests({.files = Suggestions::Files::folders});
}

void add_plot(Arguments& app, std::string& path, const std::string& help) {
  app.add_option("--plot", path, help)
      ->option_text("FILE.svg")
      ->suggests({.files = Suggestions::Files::all, .extensions = {".svg"}});
}

std::unique_ptr<ByteSink> open_plot(const std::string& path) {
  if (path.empty()) return nullptr;
  if (path == "-") {
    throw UsageError("--plot -: standard output has the results; name a file");
  }
  if (is_folder(path)) {
    throw UsageError(
        formatted("{}: is a folder; --plot takes the name of a file", printable(path)));
  }
  if (std::filesystem::path(path).extension() != ".svg") {
    throw UsageError(
        formatted("{}: --plot draws SVG; give it a name that ends in .svg", printable(path)));
  }
  return open_sink(path);
}

void write_plot(ByteSink& sink, std::string_view svg) {
  sink.write(std::span(reinterpret_cast<const std::uint8_t*>(svg.data()), svg.size()));
  sink.commit();
}

}  // namespace gpufilter
