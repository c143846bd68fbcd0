// Runs work that may end its process (a driver's library that aborts) in a process of its own.
// See docs/decisions/0008.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <sys/types.h>

#include "base/posix_file.hpp"

namespace gpufilter {

struct TrialResult {
  bool survived = false;  // it came to its end
  // Where it did not: whether it ended itself (an abort, an exit, a hang), so that another attempt
  // would end likewise. Not so where it was killed from outside or could not be started.
  bool conclusive = false;
  std::string ending;              // how it ended: "SIGABRT while looking for devices"
  std::vector<std::string> notes;  // what it left, in its order
};

// What a trial says of itself while it runs.
class TrialNotes {
 public:
  explicit TrialNotes(int pipe) : pipe_(pipe) {}

  // What it does from now on, as in "while looking for devices".
  void step(std::string_view what) const { send('s', what); }
  void note(std::string_view text) const { send('n', text); }
  // It survived.
  void end() const { send('e', ""); }

 private:
  void send(char kind, std::string_view text) const;

  int pipe_;
};

// A copy of this process, made when there are no other threads, from which later trials are
// forked: forking them from a process with threads would not be safe. It ends with this object or
// with the process, whichever is first, and so does a trial under way.
class TrialServer {
 public:
  using Trial = std::function<void(const std::string& subject, const TrialNotes& notes)>;

  // To be constructed before other threads are started; otherwise a trial might wait for ever for
  // what one of them held, and no failure is conclusive. A trial is killed after `limit`.
  TrialServer(const Trial& trial, std::chrono::milliseconds limit);
  ~TrialServer();
  TrialServer(const TrialServer&) = delete;
  TrialServer& operator=(const TrialServer&) = delete;

  // Runs the trial on `subject` and waits for its end. What it prints is kept from the user's
  // terminal; the first line is quoted where it fails. Not for use by two threads at a time.
  [[nodiscard]] TrialResult run(const std::string& subject);

 private:
  FileDescriptor socket_;
  pid_t server_ = -1;
  bool forked_alone_ = false;  // no other threads
};

}  // namespace gpufilter
