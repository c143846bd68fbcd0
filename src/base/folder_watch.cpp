#include "base/folder_watch.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <poll.h>
#include <sys/inotify.h>
#include <unistd.h>

namespace gpufilter {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using std::chrono::steady_clock;

std::string normal(const fs::path& path) {
  return path.lexically_normal();
}

[[noreturn]] void fail() {
  throw std::system_error(errno, std::generic_category());
}

// Whether events can be read within `time`.
bool has_events(int notifier, milliseconds time) {
  pollfd poll{.fd = notifier, .events = POLLIN, .revents = 0};
  return ::poll(&poll, 1, static_cast<int>(time.count())) > 0;
}

}  // namespace

FolderWatch::FolderWatch() : notifier_(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK)) {
  if (!notifier_) fail();
}

void FolderWatch::add(const std::string& folder, bool recursive) {
  add_one(folder);
  if (!recursive) return;
  std::error_code ignored;  // of folders that are gone or closed to us, which scans report
  constexpr auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator at(folder, options, ignored), end; at != end;
       at.increment(ignored)) {
    if (at->is_directory(ignored)) add_one(at->path());
  }
}

void FolderWatch::add_one(const std::string& folder) {
  constexpr auto events =
      IN_CREATE | IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_MOVED_FROM | IN_DELETE | IN_ONLYDIR;
  const int watch = ::inotify_add_watch(notifier_.get(), folder.c_str(), events);
  if (watch >= 0) {
    folders_[watch] = folder;
  } else if (errno == ENOSPC || errno == ENOMEM) {
    fail();
  }
}

void FolderWatch::wait(milliseconds longest, milliseconds quiet) {
  const auto end = steady_clock::now() + longest;
  if (!has_events(notifier_.get(), longest)) return;
  do
    read_events();
  while (has_events(notifier_.get(), quiet) && steady_clock::now() < end);
}

void FolderWatch::read_events() {
  alignas(inotify_event) std::array<char, 1U << 16U> buffer;
  for (;;) {
    const ssize_t count = ::read(notifier_.get(), buffer.data(), buffer.size());
    if (count <= 0) return;
    for (const char* at = buffer.data(); at < buffer.data() + count;) {
      inotify_event event{};
      std::memcpy(&event, at, sizeof event);
      const char* name = at + sizeof event;
      at = name + event.len;
      if ((event.mask & IN_Q_OVERFLOW) != 0) written_.clear();
      if ((event.mask & IN_IGNORED) != 0) folders_.erase(event.wd);
      const auto folder = folders_.find(event.wd);
      if (event.len == 0 || folder == folders_.end()) continue;
      const std::string path = normal(fs::path(folder->second) / name);
      if ((event.mask & IN_MODIFY) != 0) {
        written_.insert(path);
      } else {
        written_.erase(path);
      }
    }
  }
}

bool FolderWatch::is_being_written(const std::string& path) const {
  return written_.contains(normal(path));
}

}  // namespace gpufilter
