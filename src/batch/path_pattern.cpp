#include "batch/path_pattern.hpp"

#include <string_view>
#include <utility>

#include <fnmatch.h>

namespace gpufilter {
namespace {

bool name_matches(const std::string& pattern, const std::string& name) {
  return ::fnmatch(pattern.c_str(), name.c_str(), FNM_CASEFOLD) == 0;
}

// Removes the first name and its slash.
std::string take_first_name(std::string_view& path) {
  const std::size_t slash = path.find('/');
  std::string name(path.substr(0, slash));
  path.remove_prefix(slash == std::string_view::npos ? path.size() : slash + 1);
  return name;
}

bool path_matches(std::string_view pattern, std::string_view path) {
  if (pattern.empty() || path.empty()) return pattern.empty() && path.empty();
  const std::string name = take_first_name(pattern);
  if (name != "**") return name_matches(name, take_first_name(path)) && path_matches(pattern, path);
  if (pattern.empty()) return true;
  for (; !path.empty(); take_first_name(path)) {
    if (path_matches(pattern, path)) return true;
  }
  return false;
}

}  // namespace

PathPattern::PathPattern(std::string text) : text_(std::move(text)) {
  if (text_.starts_with("./")) text_.erase(0, 1);
  only_folders_ = text_.ends_with('/');
  if (only_folders_) text_.pop_back();
  is_name_ = text_.find('/') == std::string::npos;
  if (text_.starts_with('/')) text_.erase(0, 1);
}

bool PathPattern::matches(const std::string& path, bool is_folder) const {
  if (only_folders_ && !is_folder) return false;
  if (!is_name_) return path_matches(text_, path);
  return name_matches(text_, path.substr(path.rfind('/') + 1));
}

}  // namespace gpufilter
