#include "device/pocl.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <vector>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/format.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "base/threads.hpp"
#include "device/stores.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;

constexpr const char* scratch_prefix = "gpufilter-pocl-";
constexpr const char* lock_name = "lock";
constexpr const char* thread_count_variable = "POCL_MAX_PTHREAD_COUNT";  // up to PoCL 3
// More than the kernels of one run need there.
constexpr std::uint64_t room_needed = 16U << 20U;

// A process that uses a scratch folder holds a lock on a file in it. The operating system releases
// the lock when the process ends for any reason. -1 if another process holds it or it cannot be
// taken.
int lock_file(const fs::path& file, int flags) {
  const int descriptor = open(file.c_str(), O_RDWR | O_CLOEXEC | flags, 0600);
  if (descriptor < 0) return -1;
  if (flock(descriptor, LOCK_EX | LOCK_NB) == 0) return descriptor;
  close(descriptor);
  return -1;
}

// The lock file gets its name only once it is locked, so that no process finds it unlocked before.
int claim(const fs::path& folder) {
  const fs::path unnamed = folder / "lock.new";
  const int descriptor = lock_file(unnamed, O_CREAT);
  std::error_code ignored;
  fs::rename(unnamed, folder / lock_name, ignored);
  return descriptor;
}

void remove_abandoned(const fs::path& base) {
  std::error_code ignored;
  std::vector<fs::path> candidates;
  for (const auto& entry : fs::directory_iterator(base, ignored)) {
    if (entry.path().filename().string().starts_with(scratch_prefix)) {
      candidates.push_back(entry.path());
    }
  }
  for (const fs::path& folder : candidates) {
    struct stat status {};
    const bool own = lstat(folder.c_str(), &status) == 0 && status.st_uid == geteuid();
    if (!own) continue;
    const int descriptor = lock_file(folder / lock_name, 0);
    if (descriptor < 0) continue;  // in use, or another process is just setting it up
    fs::remove_all(folder, ignored);
    close(descriptor);
  }
}

bool usable(const fs::path& folder) {
  struct statvfs file_system {};
  if (access(folder.c_str(), W_OK | X_OK) != 0 || statvfs(folder.c_str(), &file_system) != 0) {
    return false;
  }
  const bool code_may_run = (file_system.f_flag & ST_NOEXEC) == 0;
  return code_may_run && std::uint64_t{file_system.f_bavail} * file_system.f_frsize >= room_needed;
}

// Removes the process's scratch folder when the process ends.
class Scratch {
 public:
  explicit Scratch(fs::path folder) : folder_(std::move(folder)), lock_(claim(folder_)) {}
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
    if (lock_ >= 0) close(lock_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

 private:
  fs::path folder_;
  int lock_;
};

void choose_scratch() {
  if (const char* own = std::getenv("POCL_CACHE_DIR")) {
    std::error_code ignored;
    fs::create_directories(own, ignored);
    if (usable(own)) return;
    log::warn_of_fallback(
        formatted("POCL_CACHE_DIR={} cannot be used (read-only, full or not executable); "
                  "using a temporary folder instead",
                  own));
  }
  // A file system in memory first, because PoCL syncs every file that it writes.
  std::vector<fs::path> bases{"/dev/shm"};
  if (const auto cache = cache_folder()) bases.push_back(*cache);
  std::error_code ignored;
  bases.push_back(fs::temp_directory_path(ignored));
  bases.emplace_back("/var/tmp");
  for (const fs::path& base : bases) {
    if (const auto folder = make_scratch_folder(base)) {
      static const Scratch scratch(*folder);
      setenv("POCL_CACHE_DIR", folder->c_str(), 1);
      return;
    }
  }
  log::debug("no folder for PoCL's temporary files: its device may be missing");
}

// PoCL ends the process if it cannot start its threads. Where there is little room, most of it is
// left to the host's threads, and to the process in which PoCL is tried.
void fit_threads() {
  const char* given = std::getenv(thread_count_variable);
  const std::size_t wanted =
      given == nullptr ? available_cores() : std::strtoul(given, nullptr, 10);
  const std::size_t room = startable_threads(2 * wanted);
  if (room < 2 * wanted) limit_pocl_threads(static_cast<int>(std::max<std::size_t>(room / 8, 1)));
}

}  // namespace

std::optional<fs::path> make_scratch_folder(const fs::path& base) {
  if (base.empty()) return std::nullopt;
  std::error_code error;
  fs::create_directories(base, error);
  if (!usable(base)) return std::nullopt;
  remove_abandoned(base);
  std::string name = base / (std::string(scratch_prefix) + "XXXXXX");
  if (mkdtemp(name.data()) == nullptr) return std::nullopt;
  return name;
}

void limit_pocl_threads(int threads) {
  const std::string number = std::to_string(threads);
  setenv(thread_count_variable, number.c_str(), 1);
  setenv("POCL_CPU_MAX_CU_COUNT", number.c_str(), 1);  // from PoCL 4 on
}

void prepare_pocl_environment() {
  static const bool prepared = [] {
    if (!may_change_environment()) {
      log::debug(
          "PoCL keeps kernels in its own folder, because other threads may read the environment");
      return false;
    }
    choose_scratch();
    fit_threads();
    // Programs are kept with kernels for work-groups of every size. Without this, PoCL compiles
    // others for the first run: everything twice, and other code than the next run has.
    setenv("POCL_WORK_GROUP_SPECIALIZATION", "0", 0);
    return true;
  }();
  static_cast<void>(prepared);
}

void LaunchGate::launch(const Key& key, std::size_t width, Client& client,
                        const std::function<void()>& enqueue) {
  const std::lock_guard lock(mutex_);
  std::size_t& widest = widest_[key];
  if (width <= widest) {
    enqueue();
    busy_.insert(&client);
    return;
  }
  wait_for_all();
  enqueue();
  client.wait();
  widest = width;
}

void LaunchGate::alone(const std::function<void()>& work) {
  const std::lock_guard lock(mutex_);
  wait_for_all();
  widest_.clear();  // which entry serves which width is no longer known
  work();
}

void LaunchGate::wait_for_all() {
  for (Client* client : busy_)
    client->wait();
}

void LaunchGate::ended(Client& client) {
  const std::lock_guard lock(mutex_);
  busy_.erase(&client);
}

}  // namespace gpufilter
