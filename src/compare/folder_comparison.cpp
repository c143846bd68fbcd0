#include "compare/folder_comparison.hpp"

#include <exception>
#include <filesystem>
#include <map>
#include <new>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/thread_limit.hpp"
#include "batch/folder_scan.hpp"
#include "pipeline/execute/band_pipeline.hpp"

namespace gpufilter {
namespace {

std::string path_of(const std::string& folder, const std::string& name) {
  return std::filesystem::path(folder) / name;
}

// The pictures of `folder`, and the files and folders that cannot be read.
std::vector<FoundFile> pictures_in(const FolderComparisonRequest& request,
                                   const std::string& folder, const std::string& other) {
  FolderScan scan;
  scan.folder = folder;
  scan.recursive = request.recursive;
  scan.left_out = other;
  return scan_folder(scan).files;
}

bool exists(const std::string& path) {
  std::error_code ignored;
  return std::filesystem::exists(path, ignored);
}

// All names, in order. A name that only one scan has found may still exist in the other folder, as
// something that the scan ignores.
std::vector<NameComparison> names_of(const FolderComparisonRequest& request) {
  std::map<std::string, NameComparison> names;
  const auto add = [&](const std::string& folder, const std::string& other,
                       bool NameComparison::*here) {
    for (const FoundFile& file : pictures_in(request, folder, other)) {
      NameComparison& name = names[file.relative];
      name.name = file.relative;
      name.*here = true;
      if (!file.problem.empty() && name.failure.empty()) {
        name.failure = path_of(folder, file.relative) + ": " + file.problem;
      }
    }
  };
  add(request.a, request.b, &NameComparison::in_a);
  add(request.b, request.a, &NameComparison::in_b);
  std::vector<NameComparison> list;
  for (auto& [relative, name] : names) {
    name.in_a = name.in_a || exists(path_of(request.a, relative));
    name.in_b = name.in_b || exists(path_of(request.b, relative));
    list.push_back(std::move(name));
  }
  return list;
}

void compare_name(const FolderComparisonRequest& request, NameComparison& name) {
  if (!name.failure.empty() || !name.in_a || !name.in_b) return;
  const std::string a = path_of(request.a, name.name);
  try {
    name.files = compare_files(
        {a, path_of(request.b, name.name), request.tolerance, request.limits, std::nullopt});
  } catch (const PictureError& error) {
    name.failure = error.what();
  } catch (const std::bad_alloc&) {
    name.failure = a + ": not enough memory to compare it";
  } catch (const std::exception& error) {
    name.failure = a + ": " + error.what();
  }
}

}  // namespace

void compare_folders(const FolderComparisonRequest& request,
                     const std::function<void(const NameComparison&)>& take,
                     const ComparisonWatch& watch) {
  std::vector<NameComparison> names = names_of(request);
  if (watch.begin) watch.begin(names.size());
  std::size_t next = 0;
  run_band_pipeline<NameComparison>(
      allowed_threads(),
      [&]() -> NameComparison* { return next == names.size() ? nullptr : &names[next++]; },
      [&](NameComparison& name) {
        compare_name(request, name);
        if (watch.look) watch.look(static_cast<std::size_t>(&name - names.data()), name);
      },
      [&](NameComparison& name) {
        take(name);
        name = {};
      });
}

}  // namespace gpufilter
