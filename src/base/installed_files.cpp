#include "base/installed_files.hpp"

#include <cstdlib>
#include <filesystem>
#include <system_error>

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// The folder share/ beside bin/; empty without /proc.
fs::path share_folder() {
  std::error_code ignored;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  return program.empty() ? fs::path() : program.parent_path().parent_path() / "share";
}

fs::path data_folder() {
  const char* variable = std::getenv("GPUFILTER_DATA");
  if (variable != nullptr && *variable != '\0') return variable;
  return share_folder() / "gpufilter";
}

}  // namespace

std::string found_file(const std::string& name, std::string_view extension) {
  if (name.empty() || name.find('/') != std::string::npos || is_there(name)) return name;
  const fs::path data = data_folder();
  for (const char* folder : {"networks", "recipes", "matrices", "luts", "profiles"}) {
    for (const std::string& file : {name, name + std::string(extension)}) {
      const fs::path path = data / folder / file;
      std::error_code ignored;
      if (fs::is_regular_file(path, ignored)) return path;
    }
  }
  return name;
}

std::string documentation_page(std::string_view page) {
  const fs::path installed = share_folder() / "doc/gpufilter/docs" / page;
  return is_there(installed) ? installed.string() : "docs/" + std::string(page);
}

}  // namespace gpufilter
