#include "batch/folder_scan.hpp"

#include <algorithm>
#include <cerrno>
#include <deque>
#include <filesystem>
#include <memory>
#include <set>
#include <system_error>

#include <dirent.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <sys/stat.h>

#include "base/error.hpp"
#include "base/log.hpp"
#include "base/posix_file.hpp"
#include "base/printable.hpp"

namespace gpufilter {
namespace {

FileIdentity identity_of(const struct stat& status) {
  return {status.st_dev, status.st_ino};
}

// Names in a folder, sorted; hidden ones left out. Throws std::system_error.
std::vector<std::string> visible_names(const std::string& folder) {
  const auto close = [](DIR* opened) { ::closedir(opened); };
  const std::unique_ptr<DIR, decltype(close)> opened(::opendir(folder.c_str()), close);
  if (!opened) throw std::system_error(errno, std::generic_category());
  std::vector<std::string> names;
  errno = 0;
  // readdir() is safe where no two threads read through one DIR.
  while (const dirent* entry = ::readdir(opened.get())) {  // NOLINT(concurrency-mt-unsafe)
    if (entry->d_name[0] != '.') names.emplace_back(entry->d_name);
  }
  if (errno != 0) throw std::system_error(errno, std::generic_category());
  std::sort(names.begin(), names.end());
  return names;
}

class Scanner {
 public:
  explicit Scanner(const FolderScan& scan) : scan_(scan) {
    if (scan.left_out) left_out_ = gpufilter::identity_of(*scan.left_out);
  }

  std::vector<FoundFile> run() {
    const auto top = gpufilter::identity_of(scan_.folder);
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
    std::sort(found_.begin(), found_.end(),
              [](const FoundFile& a, const FoundFile& b) { return a.relative < b.relative; });
    return std::move(found_);
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
      log::info(printable(path_of(folder.relative)) +
                ": has been read under another name, skipped");
      return;
    }
    try {
      scan_one(folder.relative + "/");
    } catch (const std::system_error& error) {
      add_problem(folder.relative, error.code().value());
    }
  }

  void scan_one(const std::string& prefix) {
    for (const std::string& name : visible_names(path_of(prefix)))
      take(prefix + name, name);
  }

  void take(const std::string& relative, const std::string& name) {
    const std::string path = path_of(relative);
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0) {
      if (matches(name)) add_problem(relative, errno);
      return;
    }
    if (S_ISDIR(status.st_mode)) {
      take_folder({relative, identity_of(status)});
    } else if (!S_ISREG(status.st_mode)) {
      log::info(printable(path) + ": is not a plain file, skipped");
    } else if (matches(name)) {
      take_file(relative, path);
    }
  }

  void take_folder(Folder folder) {
    if (!scan_.recursive) {
      log::info(printable(path_of(folder.relative)) +
                ": is a folder, skipped; --recursive enters it");
    } else if (folder.identity != left_out_) {
      std::error_code ignored;
      const bool is_link = std::filesystem::is_symlink(path_of(folder.relative), ignored);
      (is_link ? linked_folders_ : folders_).push_back(std::move(folder));
    }
  }

  void take_file(const std::string& relative, const std::string& path) {
    try {
      // If it has become a pipe by now, opening it does not wait for the other end.
      const FileDescriptor file = open_file(path, O_RDONLY | O_NOCTTY | O_NONBLOCK);
      struct stat status {};
      if (::fstat(file.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
      std::vector<std::uint8_t> head(signature_size());
      head.resize(read_fully(file.get(), head));
      if (const Codec* format = codec_of_content(head)) {
        found_.push_back({relative, format, static_cast<std::uint64_t>(status.st_size),
                          identity_of(status), ""});
      } else {
        skip(path);
      }
    } catch (const std::system_error& error) {
      add_problem(relative, error.code().value());
    }
  }

  // A file that is named like a picture deserves a warning.
  static void skip(const std::string& path) {
    const std::string why = printable(path) + ": " + no_picture() + ", skipped";
    codec_of_name(path) != nullptr ? log::warn(why) : log::info(why);
  }

  [[nodiscard]] bool matches(const std::string& name) const {
    return scan_.patterns.empty() ||
           std::any_of(scan_.patterns.begin(), scan_.patterns.end(), [&](const auto& pattern) {
             return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
           });
  }

  void add_problem(const std::string& relative, int error) {
    FoundFile file;
    file.relative = relative;
    file.problem = describe_system_error(error);
    found_.push_back(std::move(file));
  }

  const FolderScan& scan_;
  std::optional<FileIdentity> left_out_;
  std::set<FileIdentity> entered_;
  std::deque<Folder> folders_;
  std::deque<Folder> linked_folders_;
  std::vector<FoundFile> found_;
};

}  // namespace

std::optional<FileIdentity> identity_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return identity_of(status);
}

std::vector<FoundFile> scan_folder(const FolderScan& scan) {
  return Scanner(scan).run();
}

}  // namespace gpufilter
