#include "app/kernel_folder_option.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <system_error>

#include "base/error.hpp"
#include "base/folder.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "base/regular_file.hpp"
#include "device/kernel_source.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t largest_explanation = 4096;

std::vector<std::string> kernel_files_in(const std::string& folder) {
  std::vector<std::string> files;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    const fs::path name = entry->path().filename();
    if (embedded_kernels().contains(name.string())) {
      files.push_back(name.string());
    } else if (name.extension() == ".cl") {
      std::vector<std::string> known;
      for (const auto& [file, text] : embedded_kernels())
        if (file.ends_with(".cl")) known.push_back(file);
      throw UsageError(formatted("{}: replaces no kernel file; those are {}",
                                 printable(entry->path().string()), fmt::join(known, ", ")));
    }
  }
  if (failure)
    throw UsageError(formatted("{}: cannot be read: {}", printable(folder), failure.message()));
  std::ranges::sort(files);
  return files;
}

// One line.
std::string explanation_in(const std::string& folder) {
  try {
    std::string text = read_regular_file(fs::path(folder) / "why.txt", largest_explanation);
    std::ranges::replace(text, '\n', ' ');
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
  } catch (const std::system_error&) {
    return "";
  }
}

}  // namespace

void add_kernel_folder(Arguments& app, std::string& folder) {
  app.add_option("--kernels", folder,
                 "Check these kernel files in place of the built-in ones of the same names.")
      ->option_text("FOLDER");
}

KernelFolderFiles use_kernel_folder(const std::string& folder) {
  if (folder.empty()) return {};
  if (!is_folder(folder)) throw UsageError(formatted("{}: is not a folder", printable(folder)));
  KernelFolderFiles found{folder, kernel_files_in(folder), explanation_in(folder)};
  if (found.files.empty()) {
    throw UsageError(
        formatted("{}: has no kernel file; copy one there, such as kernels/blur.cl, and change it",
                  printable(folder)));
  }
  setenv("GPUFILTER_KERNELS", folder.c_str(), 1);
  return found;
}

}  // namespace gpufilter
