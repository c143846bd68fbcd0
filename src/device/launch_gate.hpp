// Keeps PoCL from ending the process when kernels are launched from several threads.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <mutex>
#include <set>
#include <string>
#include <tuple>

namespace gpufilter {

// PoCL (3.1 and 5.0 at least) loads a kernel anew where its grid is wider than any before, and then
// holds it under several entries that differ in nothing but that width. When a command ends, it
// releases whichever entry it finds first: with commands of two entries under way that is the
// wrong one, and an assertion ends the process. So a launch that is wider than those before it has
// the device to itself; all others go on beside each other.
//
// All methods may be called from several threads at a time.
class LaunchGate {
 public:
  // Something that commands are given to.
  class Client {
   public:
    Client() = default;
    Client(const Client&) = delete;
    Client& operator=(const Client&) = delete;
    virtual ~Client() = default;
    // Returns when all commands given so far have ended; any thread may call it.
    virtual void wait() = 0;
  };

  // What PoCL tells entries apart by, the width aside: program, function, work-group.
  using Key = std::tuple<std::string, std::string, std::size_t, std::size_t>;

  // Calls `enqueue`, which gives the kernel to `client`, when it may. `width`: of the grid, in
  // work-items along its longer side. Throws what `enqueue` and the clients throw.
  void launch(const Key& key, std::size_t width, Client& client,
              const std::function<void()>& enqueue);

  // All commands of `client` have ended. Every client says so before it goes.
  void ended(Client& client);

  // Calls `work` when nothing is under way, and lets nothing begin meanwhile: for what makes
  // entries of its own, as asking for a program's binary does. Throws what `work` and the clients
  // throw.
  void alone(const std::function<void()>& work);

 private:
  void wait_for_all();

  std::mutex mutex_;
  std::map<Key, std::size_t> widest_;
  std::set<Client*> busy_;
};

}  // namespace gpufilter
