// Work done by other threads while the caller continues, on oneTBB.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#if defined(__SANITIZE_THREAD__)
#define GPUFILTER_ANNOTATES_ORDER 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define GPUFILTER_ANNOTATES_ORDER 1
#endif
#endif

#ifdef GPUFILTER_ANNOTATES_ORDER
#include <sanitizer/tsan_interface.h>
#endif

namespace gpufilter {

// Everything that this thread did so far happens before a later happens_after() with this address.
// Says so to ThreadSanitizer, as distributions' oneTBB is not instrumented: otherwise everything
// that two ordered tasks share would be reported as a race. Without the sanitizer, nothing is
// called.
inline void happens_before([[maybe_unused]] const void* address) {
#ifdef GPUFILTER_ANNOTATES_ORDER
  __tsan_release(const_cast<void*>(address));
#endif
}

inline void happens_after([[maybe_unused]] const void* address) {
#ifdef GPUFILTER_ANNOTATES_ORDER
  __tsan_acquire(const_cast<void*>(address));
#endif
}

// Calls happens_before() or happens_after() at the end of its scope, which may be an exception.
template <void (*mark)(const void*)>
class MarkAtEnd {
 public:
  explicit MarkAtEnd(const void* address) : address_(address) {}
  ~MarkAtEnd() { mark(address_); }
  MarkAtEnd(const MarkAtEnd&) = delete;
  MarkAtEnd& operator=(const MarkAtEnd&) = delete;

 private:
  const void* address_;
};
using HappensBefore = MarkAtEnd<happens_before>;
using HappensAfter = MarkAtEnd<happens_after>;

// Objects that take long to create and that nobody uses at the moment. Thread-safe.
template <typename Thing>
class Idle {
 public:
  // The object that was returned last; otherwise a new one by make(), which may take long.
  template <typename Make>
  [[nodiscard]] Thing take(const Make& make) {
    {
      const std::lock_guard lock(mutex_);
      if (!things_.empty()) {
        Thing taken = std::move(things_.back());
        things_.pop_back();
        return taken;
      }
    }
    return make();
  }

  void put(Thing thing) {
    const std::lock_guard lock(mutex_);
    things_.push_back(std::move(thing));
  }

  // All objects in the pool; no other thread may take or put one meanwhile.
  [[nodiscard]] const std::vector<Thing>& all() const { return things_; }

 private:
  std::mutex mutex_;
  std::vector<Thing> things_;
};

// `bytes` rounded up to one of a few sizes; at most an eighth is wasted.
[[nodiscard]] inline std::size_t pooled_size(std::size_t bytes) {
  std::size_t step = 1;
  while (step * 2 <= bytes / 8)
    step *= 2;
  return (bytes + step - 1) / step * step;
}

// Idle objects by their size in bytes. Thread-safe.
template <typename Thing>
class IdlePool {
 public:
  // Keeps up to `maximum` bytes; anything beyond that is dropped.
  explicit IdlePool(std::uint64_t maximum) : maximum_(maximum) {}

  // Takes one of exactly that size, if there is one.
  [[nodiscard]] std::optional<Thing> take(std::size_t size) {
    const std::lock_guard lock(mutex_);
    auto found = idle_.extract(size);
    if (found.empty()) return std::nullopt;
    bytes_ -= size;
    return std::move(found.mapped());
  }

  void put(std::size_t size, Thing thing) {
    const std::lock_guard lock(mutex_);
    if (bytes_ + size > maximum_) return;
    idle_.emplace(size, std::move(thing));
    bytes_ += size;
  }

  void clear() {
    const std::lock_guard lock(mutex_);
    idle_.clear();
    bytes_ = 0;
  }

 private:
  std::mutex mutex_;
  std::uint64_t maximum_;
  std::uint64_t bytes_ = 0;
  std::multimap<std::size_t, Thing> idle_;
};

// The threads that a group of tasks runs on: up to allowed_threads() of the process's threads. A
// thread that waits for a task of the group helps with the group's tasks and with no others.
class Background {
 public:
  Background();
  ~Background();  // all its tasks have to be destroyed before

  [[nodiscard]] std::size_t threads() const;

 private:
  friend class BackgroundTask;
  struct Arena;
  std::unique_ptr<Arena> arena_;
};

// One piece of work, done at some time between start() and the return of wait().
class BackgroundTask {
 public:
  // `background` has to outlive the task.
  explicit BackgroundTask(Background& background);
  // If wait() was not called, cancels work that no thread has begun and waits for work in progress.
  ~BackgroundTask();

  // May be called again after wait().
  void start(std::function<void()> work);

  // Returns when the work is done; rethrows its exception.
  void wait();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Divides buffers and threads among the pictures that are processed at the same time, such as those
// of a folder.
class FairShare {
 public:
  // `users` is the number of objects that share.
  explicit FairShare(std::atomic<std::size_t>& users) : users_(users) { ++users_; }
  ~FairShare() { --users_; }
  FairShare(const FairShare&) = delete;
  FairShare& operator=(const FairShare&) = delete;

  // How many of `all` buffers this user may have at the moment: at least two, if there are that
  // many, so that one can be filled while the other is being processed.
  [[nodiscard]] std::size_t of(std::size_t all) const {
    return std::max(all / users_.load(), std::min<std::size_t>(all, 2));
  }

  // How many of `all` threads: at least one.
  [[nodiscard]] std::size_t of_threads(std::size_t all) const {
    return std::max<std::size_t>(all / users_.load(), 1);
  }

 private:
  std::atomic<std::size_t>& users_;
};

// Work in pieces that other threads do while the caller prepares the next ones. Pieces are
// delivered in the order in which they were added, on the caller's thread, and then reused. The
// caller bounds their number. The destructor waits for work in progress.
template <typename Piece>
class OrderedPieces {
 public:
  struct Entry {
    template <typename... Arguments>
    explicit Entry(Background& background, Arguments&&... arguments)
        : piece(std::forward<Arguments>(arguments)...), task(background) {}

    Piece piece;
    BackgroundTask task;  // destroyed first: it uses the piece
  };
  using Owned = std::unique_ptr<Entry>;

  [[nodiscard]] std::size_t threads() const { return background_.threads(); }
  // The pieces that were added and not delivered, in order.
  [[nodiscard]] const std::deque<Owned>& pending() const { return pending_; }
  [[nodiscard]] Piece& first() { return pending_.front()->piece; }

  // A piece that was delivered before, as it was left; otherwise a new one of `arguments`.
  template <typename... Arguments>
  [[nodiscard]] Owned take(Arguments&&... arguments) {
    return idle_.take([&] {
      return std::make_unique<Entry>(background_, std::forward<Arguments>(arguments)...);
    });
  }

  // Adds a piece that needs no work in the background, or none yet.
  Piece& add(Owned entry) {
    pending_.push_back(std::move(entry));
    return pending_.back()->piece;
  }

  // Has other threads do the work of the piece that was added last.
  void start_last(std::function<void()> work) { pending_.back()->task.start(std::move(work)); }

  // Returns when the work of the first piece is done; rethrows its exception.
  void wait_for_first() { pending_.front()->task.wait(); }

  // Removes the first piece without waiting for it.
  [[nodiscard]] Owned take_first() {
    Owned entry = std::move(pending_.front());
    pending_.pop_front();
    return entry;
  }
  void put(Owned entry) { idle_.put(std::move(entry)); }

  // Calls deliver(piece) for the first pieces, until only `count` are left.
  template <typename Deliver>
  void deliver_down_to(std::size_t count, const Deliver& deliver) {
    while (pending_.size() > count) {
      wait_for_first();
      deliver(first());
      put(take_first());
    }
  }

 private:
  Background background_;
  Idle<Owned> idle_;
  std::deque<Owned> pending_;
};

}  // namespace gpufilter
