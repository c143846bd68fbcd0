// Files that appear complete or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/posix_file.hpp"
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
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;

  void write(std::span<const std::uint8_t> bytes);
  void commit();

 private:
  void create_temporary(unsigned mode);
  void rename_temporary();

  std::string target_;
  std::string temporary_;  // empty: none left
  FileDescriptor file_;
  std::unique_ptr<CleanupSlot> cleanup_;
};

// From now on SIGINT, SIGTERM, SIGHUP and SIGQUIT remove the temporary files in progress and end
// the program with 128 plus the signal's number (130, 143, 129, 131). A signal that is being
// ignored stays ignored. SIGABRT, with which libraries give up, removes them too.
void install_cleanup_on_signals();

}  // namespace gpufilter
