// What happens when a signal ends the program: files to remove, a message to print.
#pragma once

#include <csignal>
#include <string>
#include <string_view>

namespace gpufilter {

// Keeps SIGINT and SIGTERM from this thread while it exists.
class SignalsHeld {
 public:
  SignalsHeld();
  ~SignalsHeld();
  SignalsHeld(const SignalsHeld&) = delete;
  SignalsHeld& operator=(const SignalsHeld&) = delete;

 private:
  sigset_t before_{};
};

// A place in the table that the signal handler reads, for one file. The handler waits for a slot
// that is not armed, so what happens to a file in between (it is created, renamed) happens under a
// SignalsHeld, and briefly.
class CleanupSlot {
 public:
  // Not armed. Throws std::system_error where the table is full or `path` too long.
  explicit CleanupSlot(const std::string& path);
  ~CleanupSlot();
  CleanupSlot(const CleanupSlot&) = delete;
  CleanupSlot& operator=(const CleanupSlot&) = delete;

  // The file exists: from now on a signal removes it.
  void arm() noexcept;
  // Where a signal is ending the program already, this does not return.
  void disarm() noexcept;

 private:
  std::size_t index_ = 0;
};

// From now on a signal that ends the program writes `text` to standard error; empty: nothing. What
// exceeds one kilobyte is cut. One thread at a time.
void set_message_on_signals(std::string_view text) noexcept;

// Whether that signal takes the terminal's status line away first.
void erase_line_on_signals(bool erase) noexcept;

}  // namespace gpufilter
