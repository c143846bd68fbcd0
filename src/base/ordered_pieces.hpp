// Work in pieces that other threads do while the caller prepares the next ones.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <utility>

#include "base/background.hpp"
#include "base/idle.hpp"

namespace gpufilter {

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

// Pieces are delivered in the order in which they were added, by the caller's thread, and then used
// again. The caller bounds their number. Whoever destroys this waits for work in progress.
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
  // Those that were added and not delivered, in order.
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
