#include "compare/folder_comparison.hpp"

#include <exception>
#include <filesystem>
#include <map>
#include <memory>
#include <new>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/threads.hpp"
#include "batch/folder_scan.hpp"
#include "codec/unread.hpp"
#include "compare/difference_picture.hpp"
#include "pipeline/execute/band_pipeline.hpp"

namespace gpufilter {
namespace {

std::unique_ptr<RowReader> open(const FileComparisonRequest& request, const std::string& path,
                                ComparedFile& file) {
  std::unique_ptr<ByteSource> source = request.open(path);
  file.name = source->name();
  std::unique_ptr<RowReader> reader = open_picture(std::move(source), request.limits);
  file.file_format = reader->header().file_format;
  file.size = reader->header().size;
  file.format = reader->header().format;
  return reader;
}

Comparison compare_and_draw(RowReader& a, RowReader& b, const Tolerance& tolerance,
                            const std::string& drawing) {
  const std::unique_ptr<ByteSink> sink = open_sink(drawing);
  PictureHeader header;
  header.size = a.header().size;
  header.format = difference_format;
  const std::unique_ptr<RowWriter> writer =
      create_picture(codec_for_output(drawing), *sink, header);
  Comparison comparison = compare_pictures(a, b, tolerance, writer.get());
  sink->commit();
  return comparison;
}

}  // namespace

FileComparison compare_files(const FileComparisonRequest& request) {
  FileComparison files;
  const std::unique_ptr<RowReader> a = open(request, request.a, files.a);
  const std::unique_ptr<RowReader> b = open(request, request.b, files.b);
  if (files.a.size != files.b.size || files.a.format != files.b.format) return files;
  files.comparison = request.drawing ? compare_and_draw(*a, *b, request.tolerance, *request.drawing)
                                     : compare_pictures(*a, *b, request.tolerance);
  warn_of_unread(files.a.name, a->header().unread);
  warn_of_unread(files.b.name, b->header().unread);
  return files;
}

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
