// Cleanup when a signal ends the program: files to remove, a message to print.
#pragma once

#include <csignal>
#include <string>
#include <string_view>

namespace gpufilter {

// Blocks the signals that end the program (SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT) on this
// thread while it exists.
class SignalsHeld {
 public:
  SignalsHeld();
  ~SignalsHeld();
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_{};
};

// A slot for one file in the table that the signal handler reads. The handler waits for slots that
// are not armed, so a file has to be created or renamed quickly and under a SignalsHeld.
class CleanupSlot {
 public:
  // The slot is not armed at first. Throws std::system_error if the table is full or `path` is too
  // long.
  explicit CleanupSlot(const std::string& path);
  ~CleanupSlot();
  CleanupSlot(const CleanupSlot&) = delete;
  CleanupSlot& operator=(const CleanupSlot&) = delete;

  // The file exists: from now on a signal removes it.
  void arm() noexcept;
  // Does not return if a signal is already ending the program.
  void disarm() noexcept;

 private:
  std::size_t index_ = 0;
};

// Removes the files of all armed slots, before the program ends. No file can be committed any more.
// Async-signal-safe. Does not return on a second thread.
void remove_unfinished_files() noexcept;

// Makes SIGINT, SIGTERM, SIGHUP and SIGQUIT remove the temporary files in progress and end the
// program with 128 plus the signal's number (130, 143, 129, 131). Ignored signals stay ignored.
// SIGABRT, which libraries raise on fatal errors, removes them too.
void install_cleanup_on_signals();

// A library has replaced the handlers of install_cleanup_on_signals(), or may have: sets them
// again. Does nothing if none were installed.
void restore_cleanup_on_signals() noexcept;

// From now on a signal that ends the program writes `text`, at most one kilobyte of it, to standard
// error; nothing if it is empty. Only one thread at a time may call this.
void set_message_on_signals(std::string_view text) noexcept;

// Whether that signal first removes the terminal's status line.
void erase_line_on_signals(bool erase) noexcept;

}  // namespace gpufilter
