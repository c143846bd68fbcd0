#include "base/threads.hpp"

#include <algorithm>
#include <atomic>
#include <charconv>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <limits>
#include <mutex>
#include <string>

#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <tbb/global_control.h>
#include <tbb/info.h>
#include <tbb/task_arena.h>
#include <tbb/task_scheduler_observer.h>
#include <unistd.h>

#include "base/background.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/words.hpp"

namespace gpufilter {
namespace {

// In run_with_threads(); 0: no limit.
thread_local std::size_t threads_of_call = 0;

std::size_t threads_of_tbb() {
  const std::size_t all =
      tbb::global_control::active_value(tbb::global_control::max_allowed_parallelism);
  return threads_of_call == 0 ? all : std::min(all, threads_of_call);
}

// Tells every thread in an arena how many there may be.
class ArenaLimit final : public tbb::task_scheduler_observer {
 public:
  ArenaLimit(tbb::task_arena& arena, std::size_t threads)
      : tbb::task_scheduler_observer(arena), threads_(threads) {
    happens_before(this);
    observe(true);
  }
  ~ArenaLimit() override {
    observe(false);  // waits for calls in progress
    happens_after(this);
  }
  ArenaLimit(const ArenaLimit&) = delete;
  ArenaLimit& operator=(const ArenaLimit&) = delete;

  void on_scheduler_entry(bool /*is_worker*/) override {
    happens_after(this);
    const HappensBefore order(this);
    threads_of_call = threads_;
  }
  void on_scheduler_exit(bool /*is_worker*/) override { threads_of_call = 0; }

 private:
  std::size_t threads_;
};

// How many threads can run, including the one that starts parallel work.
std::atomic<std::size_t> startable = 1;

using Control = tbb::global_control;

// To be called before oneTBB may start `wanted` threads. If that many cannot be started, they are
// never allowed: oneTBB would try. Returns whether that was found just now.
bool keep_to_startable(std::size_t wanted) {
  static std::mutex mutex;
  static Control* limit = nullptr;  // reachable until the end
  if (wanted <= startable) return false;
  const std::lock_guard lock(mutex);
  if (wanted <= startable || limit != nullptr) return false;
  const std::size_t found = startable_threads(wanted - 1) + 1;
  if (found < wanted) limit = new Control(Control::max_allowed_parallelism, found);
  startable = found;
  return found < wanted;
}

}  // namespace

struct ThreadLimit::Control {
  tbb::global_control control;
};

ThreadLimit::ThreadLimit(std::size_t threads) {
  set(threads);
}

void ThreadLimit::set(std::size_t threads) {
  if (control_) keep_to_startable(threads);
  control_.reset(new Control{
      {tbb::global_control::max_allowed_parallelism, std::max<std::size_t>(threads, 1)}});
}

// oneTBB may start threads for work that ended under the limit.
ThreadLimit::~ThreadLimit() {
  keep_to_startable(available_cores());
}

std::size_t available_cores() {
  return static_cast<std::size_t>(tbb::info::default_concurrency());
}

void run_with_threads(std::size_t threads, const std::function<void()>& work) {
  // oneTBB prints a warning if more threads are requested than there are cores.
  threads = std::min(threads, available_cores());
  tbb::task_arena arena(static_cast<int>(threads));
  arena.initialize();
  const ArenaLimit limit(arena, threads);
  happens_before(&work);
  const HappensAfter done(&work);
  arena.execute([&work] {  // on another thread, if the arena has no slot for this one
    happens_after(&work);
    const HappensBefore order(&work);
    work();
  });
}

std::optional<std::size_t> threads_of_this_call() {
  return threads_of_call == 0 ? std::nullopt : std::optional(threads_of_call);
}

std::size_t allowed_threads() {
  const std::size_t wanted = threads_of_tbb();
  if (!keep_to_startable(wanted)) return threads_of_tbb();
  const std::size_t found = threads_of_tbb();
  log::warn(formatted("{} instead of {}: a limit on processes or memory allows no more",
                      counted(found, "thread"), wanted));
  return found;
}

namespace {

namespace fs = std::filesystem;

// A limit that leaves room for fewer other processes and threads may be near.
constexpr std::uint64_t margin = 256;
// Address space of a thread: its stack in oneTBB, and the memory that it works in.
constexpr std::uint64_t thread_space = std::uint64_t{16} << 20U;
// glibc reserves 128 MiB for each memory pool.
constexpr std::uint64_t enough_for_pools = std::uint64_t{8} << 30U;
constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();

std::uint64_t limit_of(__rlimit_resource resource) {
  struct rlimit limit {};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return unlimited;
  return limit.rlim_cur;
}

// The address space that may still be used.
std::uint64_t space_left() {
  const std::uint64_t limit = address_space_limit();
  if (limit == unlimited) return unlimited;
  std::uint64_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return limit - std::min(limit, pages * static_cast<std::uint64_t>(::sysconf(_SC_PAGESIZE)));
}

// A number in a file; nothing if there is none. "max" means no limit.
std::optional<std::uint64_t> number_in(const fs::path& path) {
  std::string word;
  if (!(std::ifstream(path) >> word)) return std::nullopt;
  if (word == "max") return unlimited;
  std::uint64_t number = 0;
  const auto end = std::from_chars(word.data(), word.data() + word.size(), number).ptr;
  return end == word.data() ? std::nullopt : std::optional(number);
}

// Whether a control group and those above it all leave room for `needed` more threads. In a
// container the outermost visible one is not the system's, and limits above it cannot be seen.
bool group_has_room(const fs::path& root, const fs::path& group, std::uint64_t needed) {
  for (fs::path at = group;; at = at.parent_path()) {
    const fs::path folder = root / at.relative_path();
    const auto limit = number_in(folder / "pids.max");
    const bool outermost = !at.has_relative_path();
    if (outermost) return !limit;
    if (!limit) return false;
    if (*limit == unlimited) continue;
    const auto used = number_in(folder / "pids.current");
    if (!used || *limit < *used + needed) return false;
  }
}

// False if that cannot be found out.
bool groups_have_room(std::uint64_t needed) {
  std::ifstream groups("/proc/self/cgroup");
  bool known = false;
  for (std::string line; std::getline(groups, line); known = true) {  // ID:CONTROLLERS:PATH
    const std::size_t first = line.find(':');
    const std::size_t second = line.find(':', first + 1);
    if (second == std::string::npos) return false;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const fs::path group = line.substr(second + 1);
    if (controllers.empty() && group == "/") {
      // With both versions mounted, version 2 has no group for this process.
      if (number_in("/sys/fs/cgroup/pids.max")) return false;
    } else if (controllers.empty() || controllers == "pids") {
      const fs::path root = controllers.empty() ? "/sys/fs/cgroup" : "/sys/fs/cgroup/pids";
      if (!group_has_room(root, group, needed)) return false;
    }
  }
  return known;
}

// The superuser has no limit of processes. How many processes a user has is not known without
// looking at all of them.
bool user_has_room(std::uint64_t needed) {
  const std::uint64_t limit = limit_of(RLIMIT_NPROC);
  return ::geteuid() == 0 || limit == unlimited || limit >= 16 * (needed + margin);
}

struct Probe {
  std::mutex end;  // held while the probe's threads have to stay
  std::vector<pthread_t> threads;
  std::vector<pid_t> tasks;  // the same threads in /proc; guarded by `end`
};

void* wait_for_end(void* probe) {
  const std::lock_guard lock(static_cast<Probe*>(probe)->end);
  static_cast<Probe*>(probe)->tasks.push_back(::gettid());
  return nullptr;
}

// A joined thread still counts until the kernel has removed it, which takes a moment, on a busy
// machine longer.
void await_end_of(const std::vector<pid_t>& tasks) {
  using Clock = std::chrono::steady_clock;
  const auto limit = Clock::now() + std::chrono::seconds(2);
  for (const pid_t task : tasks) {
    const std::string entry = formatted("/proc/self/task/{}", task);
    while (::access(entry.c_str(), F_OK) == 0 && Clock::now() < limit)
      std::this_thread::yield();
  }
}

// How many of `count` threads can be started at the same time.
std::size_t probe_threads(std::size_t count) {
  constexpr std::size_t stack = 64U << 10U;
  Probe probe;
  probe.threads.reserve(count);
  probe.tasks.reserve(count);
  pthread_attr_t attributes;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, stack);
  {
    const std::lock_guard lock(probe.end);
    pthread_t thread{};
    while (probe.threads.size() < count &&
           ::pthread_create(&thread, &attributes, wait_for_end, &probe) == 0)
      probe.threads.push_back(thread);
  }
  for (const pthread_t thread : probe.threads)
    ::pthread_join(thread, nullptr);
  pthread_attr_destroy(&attributes);
  await_end_of(probe.tasks);
  return probe.threads.size();
}

}  // namespace

std::size_t startable_threads(std::size_t wanted) {
  const std::uint64_t space = space_left();
  // The other half is for the picture.
  if (space != unlimited) wanted = std::min<std::uint64_t>(wanted, space / 2 / thread_space);
  if (wanted == 0 || (user_has_room(wanted) && groups_have_room(wanted + margin))) return wanted;
  const std::size_t with_others = wanted + wanted / 3 + 4;
  const std::size_t found = probe_threads(with_others);
  return found == with_others ? wanted : std::min(wanted, found - std::min(found, found / 4 + 1));
}

std::vector<std::jthread> start_threads(std::size_t count,
                                        const std::function<void(std::size_t index)>& work) {
  std::vector<std::jthread> threads;
  threads.reserve(count);
  try {
    for (std::size_t i = 0; i < count; ++i)
      threads.emplace_back(work, i);
  } catch (const std::system_error&) {
    // The others do the work.
  }
  return threads;
}

std::uint64_t address_space_limit() {
  return limit_of(RLIMIT_AS);
}

void save_address_space() {
  if (address_space_limit() < enough_for_pools) mallopt(M_ARENA_MAX, 1);
}

}  // namespace gpufilter
