// Keeps PoCL from crashing the process when kernels are launched from several threads.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>

namespace gpufilter {

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

  // What distinguishes PoCL's entries, apart from the width: program, function, work-group.
  using Key = std::tuple<std::string, std::string, std::size_t, std::size_t>;

  // Calls `enqueue`, which submits the kernel to `client`, when that is allowed. `width`: of the
  // grid, in work-items along its longer side. Throws what `enqueue` and the clients throw.
  void launch(const Key& key, std::size_t width, Client& client,
              const std::function<void()>& enqueue);

  // All commands of `client` have ended. Every client calls this before it is destroyed.
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
