#include "base/abandoned_files.hpp"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/posix_file.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

bool all_in(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

// Unlinked under the lock: a writer that has created it but not locked it yet finds out.
bool remove_if_abandoned(const fs::path& path) {
  try {
    // For writing, because network file systems lock only such.
    const FileDescriptor file = open_file(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    return ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 && ::unlink(path.c_str()) == 0;
  } catch (const std::system_error&) {
    return false;  // gone in the meantime, or not ours to write to
  }
}

}  // namespace

bool is_temporary_name(std::string_view name) {
  constexpr std::string_view mark = ".gpufilter-";
  constexpr std::size_t random_digits = 8;
  const std::size_t at = name.rfind(mark);
  if (at == std::string_view::npos || at == 0 || name.front() != '.') return false;
  const std::string_view rest = name.substr(at + mark.size());
  const std::size_t dash = rest.find('-');
  if (dash == std::string_view::npos) return false;
  const std::string_view random = rest.substr(dash + 1);
  return all_in(rest.substr(0, dash), "0123456789") && random.size() == random_digits &&
         all_in(random, "0123456789abcdef");
}

int remove_abandoned_files(const std::string& folder, bool recursive) {
  int removed = 0;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied,
                                         error);
  while (!error && entry != fs::recursive_directory_iterator()) {
    if (!recursive) entry.disable_recursion_pending();
    std::error_code unknown;
    if (is_temporary_name(entry->path().filename().native()) &&
        fs::is_regular_file(entry->symlink_status(unknown)) && remove_if_abandoned(entry->path())) {
      ++removed;
    }
    entry.increment(error);
  }
  return removed;
}

}  // namespace gpufilter
