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
#include "base/process_token.hpp"
#include "base/regular_file.hpp"

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

// Marks the file as in use for base/abandoned_files. False if another process has just removed it
// as abandoned. On file systems without locks, this succeeds.
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
  // Only the superuser can give files away; all other users get a file of their own, as with an
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
  rename_temporary();
  if (folder) sync(folder.get());
}

// A signal finds the file either under its temporary name or complete. It never removes the file
// during rename(), which would look like a failure of the picture.
void AtomicFile::rename_temporary() {
  const SignalsHeld held;
  cleanup_->disarm();
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    const int error = errno;
    cleanup_->arm();
    throw_error(error);
  }
  temporary_.clear();
  cleanup_.reset();
}

}  // namespace gpufilter
