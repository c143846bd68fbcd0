// Files that belong to the program: those installed with it (networks, recipes, matrices, tables,
// profiles, pages), and those that the build compiles into it (cmake/EmbedFiles.cmake).
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace gpufilter {

// The file that a user names: `name` itself if there is such a file or if it is a path; otherwise
// an installed file of this name, which may lack `extension` (".onnx"); otherwise `name`.
// The folder of installed files is share/gpufilter beside the folder of the running program, or
// GPUFILTER_DATA.
[[nodiscard]] std::string found_file(const std::string& name, std::string_view extension = {});

// The path of a page of docs/, "recipes.md": the installed one, or docs/recipes.md if the program
// was not installed.
[[nodiscard]] std::string documentation_page(std::string_view page);

// The texts of compiled-in files by name ("blur.cl").
using EmbeddedFiles = std::map<std::string, std::string_view, std::less<>>;

}  // namespace gpufilter
