#include "app/filter/output_choice.hpp"

#include <algorithm>
#include <filesystem>

#include "app/cli/choice_option.hpp"
#include "app/cli/misplaced_words.hpp"
#include "app/cli/paths.hpp"
#include "app/filter/format_options.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"
#include "batch/output_name.hpp"
#include "codec/codec_table.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

constexpr const char* on_exists_variable = "GPUFILTER_ON_EXISTS";

const Choices<OnExists>& on_exists_choices() {
  static const Choices<OnExists> choices{
      {"fail", OnExists::fail}, {"skip", OnExists::skip}, {"overwrite", OnExists::overwrite}};
  return choices;
}

void read_on_exists_variable(FilterOptions& options) {
  const auto choice = choice_of_variable(on_exists_variable, on_exists_choices());
  if (!choice) return;
  options.on_exists = *choice;
  options.on_exists_given = true;
}

void require_name(const Arguments& app, const char* name, bool is_given) {
  if (!is_given) throw UsageError(formatted("{} is required (see {} --help)", name, app.name()));
}

void take_last_name(const Arguments& app, FilterOptions& options) {
  require_name(app, "INPUT", !options.inputs.empty());
  if (options.inputs.size() == 1 && app.count("--output") > 0) {
    throw UsageError(
        "OUTPUT is required: --output names only what is written before the end of the chain; "
        "gpufilter INPUT OUTPUT");
  }
  require_name(app, "OUTPUT", options.inputs.size() > 1);
  options.output = options.inputs.back();
  options.inputs.pop_back();
}

std::string folder_of(const std::string& file) {
  const std::string folder = fs::path(file).parent_path();
  return folder.empty() ? "." : folder;
}

// The one folder with all the inputs. Its journal records what has been filtered, so that nothing
// is filtered twice.
std::string folder_of_all(const std::vector<std::string>& inputs) {
  const std::string folder = folder_of(inputs.front());
  for (const std::string& input : inputs) {
    if (is_folder_argument(input)) {
      throw UsageError(printable(formatted(
          "{}: is a folder; --in-place takes one folder alone, or pictures of one folder", input)));
    }
    std::error_code error;
    if (fs::equivalent(folder, folder_of(input), error) || error) continue;
    throw UsageError(printable(
        formatted("{} and {}: are in different folders; --in-place takes pictures of one folder",
                  inputs.front(), input)));
  }
  return folder;
}

// With --in-place all names are inputs. The name of the only input may be repeated, as INPUT and
// OUTPUT.
void replace_inputs(const Arguments& app, FilterOptions& options) {
  std::vector<std::string>& inputs = options.inputs;
  require_name(app, "INPUT", !inputs.empty());
  if (inputs.size() == 2 && same_file(inputs[0], inputs[1])) inputs.pop_back();
  if (std::find(inputs.begin(), inputs.end(), standard_stream) != inputs.end()) {
    throw UsageError("-: --in-place replaces files, not standard input");
  }
  const std::string& first = inputs.front();
  const bool is_one =
      inputs.size() == 1 && (options.folder.given.empty() || is_folder_argument(first));
  options.output = is_one ? first : folder_of_all(inputs);
}

// The path of an output besides OUTPUT.
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

// INPUT takes any number of names, so the parser gives it the last one too. OUTPUT is declared only
// for the help.
void add_names(Arguments& app, FilterOptions& options) {
  app.add_option(
         "INPUT", options.inputs,
         formatted("Picture to read: {}; several if OUTPUT is a folder. A folder stands for "
                   "every picture in it.",
                   names_of(codecs())))
      ->option_text("...")
      ->suggests(picture_files());
  app.add_option(
         "OUTPUT", options.output,
         "Picture to write; its name decides the format. In a folder, results get the names "
         "of their inputs. For several inputs the folder exists, or its name ends in a slash.")
      ->suggests(picture_files());
}

void add_existing_file_options(Arguments& app, FilterOptions& options) {
  add_choice<OnExists>(
      app, "--on-exists", options.on_exists, on_exists_choices(),
      formatted(
          "What to do if OUTPUT already exists. For folders and several inputs the default is "
          "fail. {}, if it is set, is the default for both.",
          on_exists_variable));
  app.add_flag(
      "--in-place", options.in_place,
      "Replace each INPUT, a picture or a folder of pictures, by its result. There is no OUTPUT. A "
      "file that holds more than is read (pages, frames, a film, a gain map) is refused.");
  app.add_option_function(
         "--pages", [&options](const std::string&) { options.run.first_page = true; },
         "What is read of a file that holds more than one picture. first: the first or main one "
         "alone; --in-place then replaces the file.")
      ->check(one_of({"first"}))
      ->option_text("first");
}

void choose_output(const Arguments& app, const std::vector<CommandWord>& words,
                   FilterOptions& options) {
  options.on_exists_given = app.count("--on-exists") > 0;
  if (!options.on_exists_given) read_on_exists_variable(options);
  options.in_place ? replace_inputs(app, options) : take_last_name(app, options);
  options.run.refuse_unread = options.in_place && !options.run.first_page;
  options.input = options.inputs.front();
  const auto& given = app.parse_order();
  options.only_names = !options.on_exists_given &&
                       std::all_of(given.begin(), given.end(),
                                   [](const Option* option) { return option->is_positional(); });
  refuse_misplaced_words(app, words, options);
}

void add_chain_outputs(Arguments& app, std::vector<std::string>& names) {
  app.add_option("--output", names,
                 "Write what the chain holds here, and go on. OUTPUT gets what it holds at its "
                 "end. May be repeated; in a folder, results get the names of their inputs.")
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
