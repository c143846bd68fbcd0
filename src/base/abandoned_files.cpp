#include "base/abandoned_files.hpp"

#include <cerrno>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/posix_file.hpp"
#include "base/process_token.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

bool all_in(std::string_view text, std::string_view characters) {
  return !text.empty() && text.find_first_not_of(characters) == std::string_view::npos;
}

constexpr std::string_view mark = ".gpufilter-";

bool remove_if_abandoned(const fs::path& path, bool without_locks) {
  try {
    // For writing, because network file systems lock only files opened for writing.
    const FileDescriptor file = open_file(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK);
    const bool is_free =
        ::flock(file.get(), LOCK_EX | LOCK_NB) == 0 || (without_locks && errno != EWOULDBLOCK);
    // Unlinked under the lock: a writer that has created but not yet locked the file notices that.
    return is_free && ::unlink(path.c_str()) == 0;
  } catch (const std::system_error&) {
    return false;  // gone in the meantime, or not ours to write to
  }
}

template <typename Wanted>
int remove_where(const std::string& folder, bool recursive, bool without_locks,
                 const Wanted& wanted) {
  int removed = 0;
  std::error_code error;
  fs::recursive_directory_iterator entry(folder, fs::directory_options::skip_permission_denied,
                                         error);
  while (!error && entry != fs::recursive_directory_iterator()) {
    if (!recursive) entry.disable_recursion_pending();
    std::error_code unknown;
    if (wanted(entry->path().filename().native()) &&
        fs::is_regular_file(entry->symlink_status(unknown)) &&
        remove_if_abandoned(entry->path(), without_locks)) {
      ++removed;
    }
    entry.increment(error);
  }
  return removed;
}

}  // namespace

bool is_temporary_name(std::string_view name) {
  constexpr std::size_t old_digits = 8;
  const std::size_t at = name.rfind(mark);
  if (at == std::string_view::npos || at == 0 || name.front() != '.') return false;
  const std::string_view rest = name.substr(at + mark.size());
  const std::size_t dash = rest.find('-');
  if (dash == std::string_view::npos) return false;
  const std::string_view random = rest.substr(dash + 1);
  return all_in(rest.substr(0, dash), "0123456789") &&
         (random.size() == process_token_digits || random.size() == old_digits) &&
         all_in(random, "0123456789abcdef");
}

std::string_view token_in_name(std::string_view name) {
  if (!is_temporary_name(name)) return {};
  const std::string_view token = name.substr(name.rfind('-') + 1);
  return token.size() == process_token_digits ? token : std::string_view{};
}

int remove_abandoned_files(const std::string& folder, bool recursive) {
  return remove_where(folder, recursive, false, is_temporary_name);
}

// Long names are shortened in temporary ones.
int remove_abandoned_files_for(const std::string& target) {
  constexpr std::size_t possibly_shortened = 100;
  const fs::path path = fs::path(target);
  const std::string name = path.filename();
  const fs::path folder = path.parent_path();
  return remove_where(folder.empty() ? "." : folder, false, false, [&](std::string_view found) {
    if (!is_temporary_name(found)) return false;
    const std::string_view wanted = found.substr(1, found.rfind(mark) - 1);
    return wanted == name || (wanted.size() >= possibly_shortened && name.starts_with(wanted));
  });
}

int remove_abandoned_files_of(const std::set<std::string, std::less<>>& tokens,
                              const std::string& folder) {
  return remove_where(folder, true, true, [&](std::string_view name) {
    const std::string_view token = token_in_name(name);
    return !token.empty() && tokens.contains(token);
  });
}

}  // namespace gpufilter
