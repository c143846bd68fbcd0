// Runs work that may crash its process (a driver's library that aborts) in a separate process. See
// docs/engineering/decisions/0008.
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
  bool survived = false;  // it ran to its end
  // If it did not: whether it failed by itself (an abort, an exit, a hang), so that another attempt
  // would fail in the same way. False if it was killed from outside or could not be started.
  bool conclusive = false;
  std::string ending;              // how it ended: "SIGABRT while looking for devices"
  std::vector<std::string> notes;  // its notes, in order
};

// What a trial reports while it runs.
class TrialNotes {
 public:
  explicit TrialNotes(int pipe) : pipe_(pipe) {}

  // The current step, as in "while looking for devices".
  void step(std::string_view what) const { send('s', what); }
  void note(std::string_view text) const { send('n', text); }
  // Reports that the trial ran to its end.
  void end() const { send('e', ""); }

 private:
  void send(char kind, std::string_view text) const;

  int pipe_;
};

// A copy of this process, made when there are no other threads. Trials are forked from it later,
// since forking from a process with threads is not safe. It ends with this object or with the
// process, whichever is first, and so does a running trial.
class TrialServer {
 public:
  using Trial = std::function<void(const std::string& subject, const TrialNotes& notes)>;

  // Construct this before other threads are started; otherwise a trial might wait forever for a
  // lock that one of them held, and no failure is conclusive. A trial is killed after `limit`.
  TrialServer(const Trial& trial, std::chrono::milliseconds limit);
  ~TrialServer();
  TrialServer(const TrialServer&) = delete;
  TrialServer& operator=(const TrialServer&) = delete;

  // Runs the trial on `subject` and waits for its end. Its output does not reach the user's
  // terminal; the first line is quoted if it fails. Not thread-safe.
  [[nodiscard]] TrialResult run(const std::string& subject);

 private:
  FileDescriptor socket_;
  pid_t server_ = -1;
  bool forked_alone_ = false;  // no other threads
};

}  // namespace gpufilter
