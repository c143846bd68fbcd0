// Measures that keep PoCL, OpenCL for CPUs, from ending the process. It keeps compiled kernels in
// its own folder. If that folder is damaged, PoCL aborts the process; if it is full, PoCL exits; if
// it is read-only, PoCL has no device. So each process gets a new folder; ProgramCache keeps the
// compiled programs and checks what it reads.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <tuple>

namespace gpufilter {

// PoCL's name for its platform.
inline constexpr const char* pocl_platform = "Portable Computing Language";

// Before OpenCL is first used: limits PoCL's threads if not all of them can be started, and sets
// POCL_CACHE_DIR unless the user's own setting names a usable folder. The folder is removed when
// the process ends; a folder left by a killed process is removed by the next process. Kernels are
// compiled for work-groups of every size at once, unless the user has set
// POCL_WORK_GROUP_SPECIALIZATION. Only the first call does anything, and only if
// may_change_environment().
void prepare_pocl_environment();

// Limits PoCL to `threads` threads instead of one for each core. Call it before OpenCL is first
// used; other platforms have no such setting.
void limit_pocl_threads(int threads);

// A new folder inside `base` (created if necessary) that is writable, has free space and allows
// running code; nothing if `base` allows none. Exposed for tests.
[[nodiscard]] std::optional<std::filesystem::path> make_scratch_folder(
    const std::filesystem::path& base);

// PoCL (at least 3.1 and 5.0) loads a kernel again if its grid is wider than any before, and then
// has several entries for it that differ only in that width. When a command ends, it releases the
// first entry that it finds. If commands of two entries are running, that may be the wrong one, and
// an assertion ends the process. So a launch that is wider than those before it runs alone; all
// others run in parallel.
//
// All methods may be called from several threads at the same time.
class LaunchGate {
 public:
  // Something that commands are submitted to.
  class Client {
   public:
    Client() = default;
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;
    virtual ~Client() = default;
    // Returns when all commands submitted so far have ended; any thread may call it.
    virtual void wait() = 0;
  };

  // Identifies PoCL's entries, apart from their width: program, function, work-group.
  using Key = std::tuple<std::string, std::string, std::size_t, std::size_t>;

  // Calls `enqueue`, which submits the kernel to `client`, when that is allowed. `width`:
  // work-items along the longer side of the grid. Throws what `enqueue` and the clients throw.
  void launch(const Key& key, std::size_t width, Client& client,
              const std::function<void()>& enqueue);

  // Notes that all commands of `client` have ended. Every client calls this before it is destroyed.
  void ended(Client& client);

  // Calls `work` when nothing is running, and lets nothing begin meanwhile: for work that creates
  // entries itself, such as requesting a program's binary. Throws what `work` and the clients
  // throw.
  void alone(const std::function<void()>& work);

 private:
  void wait_for_all();

  std::mutex mutex_;
  std::map<Key, std::size_t> widest_;
  std::set<Client*> busy_;
};

}  // namespace gpufilter
