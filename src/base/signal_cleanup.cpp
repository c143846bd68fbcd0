#include "base/signal_cleanup.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <climits>
#include <cstring>
#include <system_error>

#include <poll.h>
#include <unistd.h>

#include "base/terminal.hpp"

namespace gpufilter {
namespace {

// busy: its thread creates or renames the file, with the signals blocked. removing: the handler
// owns it until the end.
enum class State { unused, busy, armed, removing };

struct Slot {
  std::atomic<State> state = State::unused;
  std::array<char, PATH_MAX> path;
};
static_assert(std::atomic<State>::is_always_lock_free);

// More files than a batch ever has in progress; memory that is never touched costs nothing.
std::array<Slot, 256> table;
std::atomic<bool> ending = false;

// The handler reads one message while the next is written to the other buffer. It cannot be
// overtaken: once `ending` is set, no message is written.
struct Message {
  std::array<char, 1024> text;
  std::size_t size = 0;
};
std::array<Message, 2> messages;
std::atomic<unsigned> current_message = 0;
std::atomic<bool> has_status_line = false;

// Async-signal-safe. A failure cannot be reported.
void write_to_standard_error(std::string_view text) noexcept {
  static_cast<void>(!::write(STDERR_FILENO, text.data(), text.size()));
}

[[noreturn]] void wait_for_the_end() noexcept {
  while (true)
    ::pause();
}

// Async-signal-safe. The interrupted thread is never the one that is busy with a file, so waiting
// cannot deadlock. A second is enough unless the file system hangs.
void remove_file(Slot& slot) noexcept {
  for (int tries = 0; slot.state == State::busy && tries < 1000; ++tries) {
    ::poll(nullptr, 0, 1);
  }
  State expected = State::armed;
  if (slot.state.compare_exchange_strong(expected, State::removing)) {
    ::unlink(slot.path.data());
  }
}

// The signals that end a program from outside, and SIGABRT, which libraries raise on fatal errors.
constexpr std::array ending_signals{SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGABRT};

sigset_t ending_set() noexcept {
  sigset_t set;
  sigemptyset(&set);
  for (const int signal_number : ending_signals)
    sigaddset(&set, signal_number);
  return set;
}

extern "C" void gpufilter_remove_files_and_exit(int signal_number) {
  remove_unfinished_files();
  if (signal_number == SIGABRT) {
    std::signal(SIGABRT, SIG_DFL);
    ::raise(SIGABRT);  // is delivered on return; abort() would do the same
    return;
  }
  if (has_status_line) write_to_standard_error(erase_line);
  const Message& message = messages.at(current_message);
  write_to_standard_error({message.text.data(), message.size});
  ::_exit(128 + signal_number);
}

// The signals of install_cleanup_on_signals(), which is called before there are threads.
sigset_t handled{};

void handle(int signal_number) noexcept {
  struct sigaction action {};
  action.sa_handler = gpufilter_remove_files_and_exit;
  action.sa_mask = ending_set();
  sigaction(signal_number, &action, nullptr);
}

}  // namespace

SignalsHeld::SignalsHeld() {
  const sigset_t held = ending_set();
  pthread_sigmask(SIG_BLOCK, &held, &before_);
}

SignalsHeld::~SignalsHeld() {
  pthread_sigmask(SIG_SETMASK, &before_, nullptr);
}

CleanupSlot::CleanupSlot(const std::string& path) {
  if (path.size() >= PATH_MAX) throw std::system_error(ENAMETOOLONG, std::generic_category());
  for (; index_ < table.size(); ++index_) {
    State expected = State::unused;
    if (table.at(index_).state.compare_exchange_strong(expected, State::busy)) break;
  }
  if (index_ == table.size()) throw std::system_error(EMFILE, std::generic_category());
  Slot& slot = table.at(index_);
  // The handler sets `ending` before it reads the table: it either sees this slot, or is seen here.
  if (ending) {
    slot.state = State::unused;
    wait_for_the_end();
  }
  std::memcpy(slot.path.data(), path.c_str(), path.size() + 1);
}

CleanupSlot::~CleanupSlot() {
  State expected = State::armed;
  if (table.at(index_).state.compare_exchange_strong(expected, State::unused)) return;
  expected = State::busy;
  table.at(index_).state.compare_exchange_strong(expected, State::unused);
}

void CleanupSlot::arm() noexcept {
  table.at(index_).state = State::armed;
}

void CleanupSlot::disarm() noexcept {
  State expected = State::armed;
  if (!table.at(index_).state.compare_exchange_strong(expected, State::busy)) wait_for_the_end();
}

void remove_unfinished_files() noexcept {
  if (ending.exchange(true)) wait_for_the_end();
  for (Slot& slot : table)
    remove_file(slot);
}

void install_cleanup_on_signals() {
  for (const int signal_number : ending_signals) {
    struct sigaction before {};
    sigaction(signal_number, nullptr, &before);
    // A program started with the signal ignored (nohup, a shell's background job) has to keep
    // ignoring it.
    if (before.sa_handler == SIG_IGN) continue;
    handle(signal_number);
    sigaddset(&handled, signal_number);
  }
}

void restore_cleanup_on_signals() noexcept {
  if (ending) return;
  for (const int signal_number : ending_signals) {
    if (sigismember(&handled, signal_number) == 1) handle(signal_number);
  }
}

void set_message_on_signals(std::string_view text) noexcept {
  if (ending) return;
  const unsigned next = 1 - current_message;
  Message& message = messages.at(next);
  message.size = std::min(text.size(), message.text.size());
  std::memcpy(message.text.data(), text.data(), message.size);
  current_message = next;
}

void erase_line_on_signals(bool erase) noexcept {
  has_status_line = erase;
}

}  // namespace gpufilter
