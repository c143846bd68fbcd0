// Files that appear whole or not at all.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "base/posix_file.hpp"
#include "base/signal_cleanup.hpp"

namespace gpufilter {

// Writes a temporary file beside `path`, which commit() syncs and renames to `path`: whoever looks
// there sees the complete new contents or what was there before. A symbolic link is followed; the
// mode (and, where permitted, the owner) of a file that is replaced is kept, and a file that may
// not be written to is not replaced. Destroyed without commit(), it leaves nothing behind; a
// program ended by SIGINT or SIGTERM neither, once install_cleanup_on_signals() was called. `path`
// is a regular file or nothing yet, and relative paths ask that the working folder stays the same.
// Failures throw std::system_error, whose code says why.
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

// From now on SIGINT and SIGTERM remove the temporary files in progress and end the program with
// 128 plus the signal's number (130, 143). A signal that is being ignored stays ignored.
void install_cleanup_on_signals();

}  // namespace gpufilter
