#include "app/filter/chain_outputs.hpp"

#include <algorithm>
#include <filesystem>

#include "app/cli/paths.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "batch/output_name.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

std::string path_of(const FilterOptions& options, const std::string& name) {
  if (!names_folder(name)) return name;
  if (options.input == standard_stream) {
    throw UsageError(formatted(
        "--output {}: is a folder, and standard input has no name; name a file", printable(name)));
  }
  const fs::path input = options.input;
  return fs::path(name) /
         output_name(input.parent_path(), input.filename(), options.to, options.name);
}

void check_against(const std::string& path, const std::string& other, const char* reason) {
  if (same_file(path, other))
    throw UsageError(formatted("--output {}: {}", printable(path), reason));
}

}  // namespace

void add_chain_outputs(Arguments& app, std::vector<std::string>& names) {
  app.add_option("--output", names,
                 "Also save the picture at this point. OUTPUT gets the result of all stages. May "
                 "be repeated; in a folder, results get the names of their inputs.")
      ->one_value_each()
      ->option_text("FILE|DIR")
      ->suggests({.files = Suggestions::Files::all});
}

std::vector<ChainOutput> chain_outputs(const Arguments& app,
                                       const std::vector<std::string>& names) {
  std::vector<ChainOutput> outputs;
  std::size_t stages = 0;
  bool in_light = false;
  for (const Option* option : app.parse_order()) {
    const std::string name = option->name();
    if (find_stage(name) != nullptr) ++stages;
    if (name == "--linear" || name == "--encoded") in_light = name == "--linear";
    if (name != "--output") continue;
    const std::string& path = names.at(outputs.size());
    if (in_light) {
      throw UsageError(formatted(
          "--output {}: the stages before it work in linear light; put --encoded before it",
          printable(path)));
    }
    if (path == standard_stream) {
      throw UsageError("--output -: only OUTPUT can be standard output; name a file or folder");
    }
    outputs.push_back({.stages = stages, .path = path});
  }
  return outputs;
}

bool names_folder(const std::string& output) {
  return is_folder_argument(output) || output.ends_with('/');
}

bool any_takes_format(const FilterOptions& options) {
  return std::any_of(options.outputs.begin(), options.outputs.end(),
                     [](const ChainOutput& output) { return names_folder(output.path); });
}

std::vector<ChainOutput> outputs_of_picture(const FilterOptions& options,
                                            const std::string& output) {
  std::vector<ChainOutput> outputs = options.outputs;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    std::string& path = outputs[i].path;
    path = path_of(options, path);
    outputs[i].format = &codec_for_output(path);
    check_against(path, options.input, "is the input; give the output another name");
    constexpr const char* twice = "two outputs have this name; give one of them another";
    check_against(path, output, twice);
    for (std::size_t other = 0; other < i; ++other)
      check_against(path, outputs[other].path, twice);
  }
  return outputs;
}

}  // namespace gpufilter
