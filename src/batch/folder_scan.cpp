#include "batch/folder_scan.hpp"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>
#include <unordered_map>

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include "base/error.hpp"
#include "base/files.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/printable.hpp"
#include "codec/codec_table.hpp"

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

FileIdentity identity_from(const struct stat& status) {
  return {status.st_dev, status.st_ino};
}

bool is_excluded_name(std::string_view name) {
  return name.starts_with('.') || name == "@eaDir" || name == "Thumbs.db";
}

// Names in a folder, sorted; those that are always excluded left out. Throws std::system_error.
std::vector<std::string> visible_names(const std::string& folder) {
  const auto close = [](DIR* opened) { ::closedir(opened); };
  const std::unique_ptr<DIR, decltype(close)> opened(::opendir(folder.c_str()), close);
  if (!opened) throw std::system_error(errno, std::generic_category());
  std::vector<std::string> names;
  errno = 0;
  // readdir() is safe unless two threads read from the same DIR.
  while (const dirent* entry = ::readdir(opened.get())) {  // NOLINT(concurrency-mt-unsafe)
    if (!is_excluded_name(entry->d_name)) names.emplace_back(entry->d_name);
  }
  if (errno != 0) throw std::system_error(errno, std::generic_category());
  std::sort(names.begin(), names.end());
  return names;
}

FoundFile problem_with(const std::string& relative, const std::string& problem) {
  FoundFile file;
  file.relative = relative;
  file.problem = problem;
  return file;
}

std::vector<std::uint8_t> first_bytes(const FileDescriptor& file) {
  std::vector<std::uint8_t> head(recognition_size());
  head.resize(read_fully(file.get(), head));
  return head;
}

// Recognises pictures by content if their names do not. Most such files are something else, and on
// a network file system each costs a millisecond to open, so it gives up on extensions, and in the
// end on all of them.
class Recognition {
 public:
  // Empty if the file is not a picture, or is not opened.
  [[nodiscard]] std::string format_of(const std::string& path) {
    int& misses = misses_[extension_of(path)];
    if (misses == max_misses_of_ending || all_misses_ == max_misses) return "";
    std::string format;
    try {
      format =
          other_format_of_content(first_bytes(open_file(path, O_RDONLY | O_NOCTTY | O_NONBLOCK)));
    } catch (const std::system_error& error) {
      log::info(formatted("{}: {}", printable(path), describe_system_error(error.code().value())));
    }
    if (format.empty()) {
      ++misses;
      ++all_misses_;
    }
    return format;
  }

 private:
  static constexpr int max_misses_of_ending = 32;
  static constexpr int max_misses = 1000;

  std::unordered_map<std::string, int> misses_;
  int all_misses_ = 0;
};

// Throws std::system_error.
FoundFile look_at_regular_file(const std::string& path, const std::string& relative) {
  constexpr const char* not_regular = "is not a regular file";
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    const int error = errno;
    if (error == ENOENT && ::lstat(path.c_str(), &status) == 0)
      return problem_with(relative, "is a link to a file that does not exist");
    throw std::system_error(error, std::generic_category());
  }
  if (!S_ISREG(status.st_mode)) return problem_with(relative, not_regular);
  // O_NONBLOCK: if it has become a pipe by now, opening it does not wait for the other end.
  const FileDescriptor file = open_file(path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
  if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) {
    return problem_with(relative, not_regular);
  }
  const std::vector<std::uint8_t> head = first_bytes(file);
  if (codec_of_content(head) == nullptr) return problem_with(relative, no_picture(head));
  return {relative, static_cast<std::uint64_t>(status.st_size), ""};
}

FoundFile look_at_file(const std::string& path, const std::string& relative) {
  try {
    return look_at_regular_file(path, relative);
  } catch (const std::system_error& error) {
    return problem_with(relative, describe_system_error(error.code().value()));
  }
}

class Scanner {
 public:
  explicit Scanner(const FolderScan& scan) : scan_(scan) {
    if (scan.left_out) left_out_ = identity_of(*scan.left_out);
    for (const std::string& text : scan.excluded)
      excluded_.emplace_back(text);
  }

  ScanResult run() {
    const auto top = identity_of(scan_.folder);
    if (top) entered_.insert(*top);
    try {
      scan_one("");
    } catch (const std::system_error& error) {
      throw PictureError(scan_.folder, describe_system_error(error.code().value()));
    }
    // Links to folders wait until every folder has been entered under its own name.
    while (!folders_.empty() || !linked_folders_.empty()) {
      auto& waiting = folders_.empty() ? linked_folders_ : folders_;
      const Folder next = std::move(waiting.front());
      waiting.pop_front();
      enter(next);
    }
    std::sort(result_.files.begin(), result_.files.end(),
              [](const FoundFile& a, const FoundFile& b) { return a.relative < b.relative; });
    std::sort(result_.others.begin(), result_.others.end(),
              [](const OtherPicture& a, const OtherPicture& b) { return a.name < b.name; });
    return std::move(result_);
  }

 private:
  struct Folder {
    std::string relative;
    FileIdentity identity;
  };

  [[nodiscard]] std::string path_of(const std::string& relative) const {
    return std::filesystem::path(scan_.folder) / relative;
  }

  void enter(const Folder& folder) {
    if (!entered_.insert(folder.identity).second) {
      log::info(printable(path_of(folder.relative)) + ": already read under another name, skipped");
      return;
    }
    try {
      scan_one(folder.relative + "/");
    } catch (const std::system_error& error) {
      add(problem_with(folder.relative, describe_system_error(error.code().value())));
    }
  }

  void scan_one(const std::string& prefix) {
    for (const std::string& name : visible_names(path_of(prefix)))
      take(prefix + name, name);
  }

  void take(const std::string& relative, const std::string& name) {
    const std::string path = path_of(relative);
    struct stat status {};
    const bool leads_somewhere = ::stat(path.c_str(), &status) == 0;
    const bool is_folder = leads_somewhere && S_ISDIR(status.st_mode);
    if (is_excluded(relative, is_folder)) {
      if (!is_folder && codec_of_name(name) != nullptr) ++result_.excluded;
      log::info(printable(path) + ": is excluded, skipped");
      return;
    }
    if (is_folder) {
      take_folder({relative, identity_from(status)});
    } else if (codec_of_name(name) == nullptr) {
      if (leads_somewhere && S_ISREG(status.st_mode) && matches(name)) take_other(relative);
    } else if (matches(name)) {
      const auto bytes = leads_somewhere ? static_cast<std::uint64_t>(status.st_size) : 0;
      add(scan_.look_inside ? look_at_file(path, relative) : FoundFile{relative, bytes, ""});
    } else {
      ++result_.unmatched;
    }
  }

  void take_other(const std::string& relative) {
    const std::string path = path_of(relative);
    std::string format = other_format_of_name(relative);
    if (format.empty() && scan_.look_inside) format = recognition_.format_of(path);
    if (!format.empty()) {
      result_.others.push_back({relative, std::move(format)});
    } else {
      log::info(printable(path) + ": is not a picture, skipped");
    }
  }

  void take_folder(Folder folder) {
    const std::string path = path_of(folder.relative);
    std::error_code ignored;
    const bool is_link = std::filesystem::is_symlink(path, ignored);
    if (std::filesystem::exists(std::filesystem::path(path) / page_mark, ignored)) {
      log::info(printable(path) + ": is a report with previews, skipped");
    } else if (!scan_.recursive) {
      ++result_.not_entered;
      log::info(printable(path) +
                (is_link ? ": is a link to a folder, skipped; --recursive --follow-links enters it"
                         : ": is a folder, skipped; --recursive enters it"));
    } else if (is_link && !scan_.follow_links) {
      log::info(printable(path) + ": is a link to a folder, skipped; --follow-links enters it");
    } else if (folder.identity != left_out_) {
      (is_link ? linked_folders_ : folders_).push_back(std::move(folder));
    }
  }

  [[nodiscard]] bool is_excluded(const std::string& relative, bool is_folder) const {
    return std::any_of(excluded_.begin(), excluded_.end(), [&](const PathPattern& pattern) {
      return pattern.matches(relative, is_folder);
    });
  }

  [[nodiscard]] bool matches(const std::string& name) const {
    return scan_.patterns.empty() ||
           std::ranges::any_of(scan_.patterns, [&](const std::string& pattern) {
             return name_matches(pattern, name);
           });
  }

  void add(FoundFile file) { result_.files.push_back(std::move(file)); }

  const FolderScan& scan_;
  std::optional<FileIdentity> left_out_;
  std::vector<PathPattern> excluded_;
  std::set<FileIdentity> entered_;
  Recognition recognition_;
  std::deque<Folder> folders_;
  std::deque<Folder> linked_folders_;
  ScanResult result_;
};

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

std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return identity_from(status);
}

std::filesystem::path path_within(const std::filesystem::path& inner,
                                  const std::filesystem::path& outer) {
  const auto place = [](const std::filesystem::path& path) {
    std::error_code ignored;
    // weakly_canonical() keeps an empty last part after a slash as a dot.
    return std::filesystem::weakly_canonical(std::filesystem::absolute(path / ".", ignored),
                                             ignored)
        .lexically_normal();
  };
  const std::filesystem::path way = place(inner).lexically_relative(place(outer));
  return !way.empty() && *way.begin() == ".." ? std::filesystem::path() : way;
}

bool always_excluded(std::string_view path) {
  for (std::size_t at = 0; at != std::string_view::npos;) {
    const std::size_t end = path.find('/', at);
    if (is_excluded_name(path.substr(at, end - at))) return true;
    at = end == std::string_view::npos ? end : end + 1;
  }
  return false;
}

FoundFile look_at(const std::string& path) {
  return look_at_file(path, std::filesystem::path(path).filename());
}

ScanResult scan_folder(const FolderScan& scan) {
  return Scanner(scan).run();
}

}  // namespace gpufilter
