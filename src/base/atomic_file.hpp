// Files that appear complete or not at all, and the temporary files that killed programs left.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "base/files.hpp"
#include "base/signal_cleanup.hpp"

namespace gpufilter {

// The target of `path`, through links to links and dangling links. Throws std::system_error.
[[nodiscard]] std::string follow_links(const std::string& path);

// Writes a temporary file beside `path`; commit() syncs it and renames it to `path`. Readers see
// either the complete new contents or the old ones. A symbolic link is followed. A replaced file
// keeps its mode and, if permitted, its owner; a file that may not be written to is not replaced.
// Without commit(), the destructor removes the temporary file, and so do the signals of
// install_cleanup_on_signals() once that was called. `path` has to be a regular file or not exist;
// if it is relative, the working folder must not change. Failures throw std::system_error with the
// reason.
class AtomicFile {
 public:
  explicit AtomicFile(const std::string& path);
  ~AtomicFile();

  void write(std::span<const std::uint8_t> bytes);
  void commit();

 private:
  void create_temporary(unsigned mode);
  void rename_temporary(int descriptor);
  void forget_temporary();

  std::string target_;
  std::string temporary_;  // empty: none left
  FileDescriptor file_;
  std::unique_ptr<CleanupSlot> cleanup_;
};

// Whether a file of this name (without folder) is the temporary file of an AtomicFile.
[[nodiscard]] bool is_temporary_name(std::string_view name);

// The process_token() in a temporary name; empty for other names, and for names by versions without
// tokens.
[[nodiscard]] std::string_view token_in_name(std::string_view name);

// Removes the temporary files in `folder`, and with `recursive` in its subfolders, whose writers
// have ended. A writer holds a lock on its file, which the system releases when the process ends
// for any reason, so this works across containers too, where process ids mean nothing. Folders and
// files that cannot be opened are skipped. Returns the number of files removed.
int remove_abandoned_files(const std::string& folder, bool recursive);

// Removes only files that were to become `target`, a path to a file.
int remove_abandoned_files_for(const std::string& target);

// Removes only the files of these processes, in all subfolders. On a file system without locks, the
// caller has to know that the processes have ended.
int remove_abandoned_files_of(const std::set<std::string, std::less<>>& tokens,
                              const std::string& folder);

}  // namespace gpufilter
