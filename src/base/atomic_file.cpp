#include "base/atomic_file.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <filesystem>
#include <optional>
#include <system_error>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/format.hpp"
#include "base/process.hpp"

namespace gpufilter {
namespace {

[[noreturn]] void throw_error(int error) {
  throw std::system_error(error, std::generic_category());
}

// The file that will be replaced, if there is one. Throws if it must not or cannot be replaced.
std::optional<struct stat> status_of_replaced(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) {
    if (errno == ENOENT) return std::nullopt;
    throw_error(errno);
  }
  if (S_ISDIR(status.st_mode)) throw_error(EISDIR);
  if (!S_ISREG(status.st_mode)) throw UnsuitableFile("is not a regular file");
  if (::faccessat(AT_FDCWD, path.c_str(), W_OK, AT_EACCESS) != 0) throw_error(errno);
  return status;
}

std::filesystem::path folder_of(const std::string& path) {
  const auto folder = std::filesystem::path(path).parent_path();
  return folder.empty() ? "." : folder;
}

// The first bytes of `name`, at most `maximum`, not ending inside a UTF-8 character.
std::string shortened(std::string name, std::size_t maximum) {
  if (name.size() <= maximum) return name;
  while (maximum > 0 && (static_cast<unsigned char>(name[maximum]) & 0xC0U) == 0x80U)
    --maximum;
  name.resize(maximum);
  return name;
}

// A hidden name beside `target` that identifies the writing process and is very unlikely to be in
// use.
std::string temporary_name(const std::string& target) {
  static std::atomic<unsigned> count = 0;
  const std::string suffix = formatted(".gpufilter-{}-{}", count++, process_token());
  const auto folder = folder_of(target);
  const long reported = ::pathconf(folder.c_str(), _PC_NAME_MAX);
  const std::size_t name_max = reported > 0 ? static_cast<std::size_t>(reported) : 255;
  const std::size_t room = name_max - std::min(name_max, suffix.size() + 1);
  const std::string name = std::filesystem::path(target).filename();
  return folder / formatted(".{}{}", shortened(name, room), suffix);
}

// Marks the file as in use for remove_abandoned_files(). False if another process has just removed
// it as abandoned. On file systems without locks, this succeeds.
bool lock_against_removal(int descriptor) {
  if (::flock(descriptor, LOCK_EX | LOCK_NB) != 0) return errno != EWOULDBLOCK;
  struct stat status {};
  return ::fstat(descriptor, &status) != 0 || status.st_nlink > 0;
}

// Some file systems cannot sync and say so, which is not a failure.
void sync(int descriptor) {
  while (::fsync(descriptor) != 0) {
    if (errno == EINVAL || errno == ENOTSUP || errno == EROFS) return;
    if (errno != EINTR) throw_error(errno);
  }
}

// For syncing a new name in it, so that the name survives a power failure too. Nothing if the
// folder may be written but not read: then it cannot be opened for that.
FileDescriptor open_folder(const std::filesystem::path& folder) {
  try {
    return open_file(folder, O_RDONLY | O_DIRECTORY);
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::permission_denied) return {};
    throw;
  }
}

// Whether `path` is the name of this open file.
bool is_open_file(const std::string& path, int descriptor) {
  struct stat named {};
  struct stat open {};
  return ::stat(path.c_str(), &named) == 0 && ::fstat(descriptor, &open) == 0 &&
         named.st_dev == open.st_dev && named.st_ino == open.st_ino;
}

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

// Not canonical(), which requires that the file exists.
std::string follow_links(const std::string& path) {
  constexpr int maximum_links = 40;  // as in Linux
  std::filesystem::path target = path;
  for (int links = 0; links < maximum_links; ++links) {
    if (!std::filesystem::is_symlink(std::filesystem::symlink_status(target))) return target;
    target = target.parent_path() / std::filesystem::read_symlink(target);
  }
  throw_error(ELOOP);
}

AtomicFile::AtomicFile(const std::string& path) : target_(follow_links(path)) {
  const auto replaced = status_of_replaced(target_);
  // If it replaces a file, nobody else may open it until it has that file's mode; otherwise the
  // umask decides.
  create_temporary(replaced ? 0600 : 0666);
  if (!replaced) return;
  // Only the superuser can give files away; for other users the file becomes theirs, as with an
  // editor that saves by renaming.
  const bool given = ::fchown(file_.get(), replaced->st_uid, replaced->st_gid) == 0;
  const mode_t kept = replaced->st_mode & (given ? 07777U : 0777U);
  if (::fchmod(file_.get(), kept) != 0) {
    const int error = errno;
    ::unlink(temporary_.c_str());
    throw_error(error);
  }
}

AtomicFile::~AtomicFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void AtomicFile::create_temporary(unsigned mode) {
  for (int tries = 0;; ++tries) {
    temporary_ = temporary_name(target_);
    const SignalsHeld held;
    auto slot = std::make_unique<CleanupSlot>(temporary_);
    try {
      file_ = open_file(temporary_, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, mode);
    } catch (const std::system_error& error) {
      if (error.code() == std::errc::file_exists && tries < 100) continue;
      throw;
    }
    if (!lock_against_removal(file_.get())) {
      ::unlink(temporary_.c_str());
      if (tries < 100) continue;
      throw_error(EBUSY);
    }
    slot->arm();
    cleanup_ = std::move(slot);
    return;
  }
}

void AtomicFile::write(std::span<const std::uint8_t> bytes) {
  write_fully(file_.get(), bytes);
}

void AtomicFile::commit() {
  // Opened before the renaming: if too many files are open, the target is still the old one.
  const FileDescriptor folder = open_folder(folder_of(target_));
  sync(file_.get());
  // Errors that the file system reports only on closing have to appear before the renaming; the
  // lock is needed until after it.
  const FileDescriptor lock(::fcntl(file_.get(), F_DUPFD_CLOEXEC, 0));
  file_.close();
  rename_temporary(lock.get());
  if (folder) sync(folder.get());
}

// A signal finds the file either under its temporary name or complete. It never removes the file
// during rename(), which would look like a failure of the picture. Over a network the answer to a
// renaming that was done may be lost, and its repetition fails.
void AtomicFile::rename_temporary(int descriptor) {
  const SignalsHeld held;
  cleanup_->disarm();
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    const int error = errno;
    if (error == ENOENT && is_open_file(target_, descriptor)) return forget_temporary();
    cleanup_->arm();
    throw_error(error);
  }
  forget_temporary();
}

void AtomicFile::forget_temporary() {
  temporary_.clear();
  cleanup_.reset();
}

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

// Temporary names shorten long names.
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
