// Filters pictures in memory, into memory.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <optional>

#include "base/stop.hpp"
#include "base/threads.hpp"
#include "host/parallel.hpp"
#include "image/metadata.hpp"
#include "image/rows.hpp"
#include "pipeline/choose/dispatcher.hpp"
#include "pipeline/choose/engine.hpp"
#include "pipeline/run/chain_part.hpp"

namespace gpufilter {

// One call of a filter: its limits, its progress callback and its stop token. Belongs to the
// calling thread.
class MemoryCall {
 public:
  MemoryCall(const Limits& limits, const RunControl& control)
      : limits_(limits), control_(control), scope_(control.stop) {}

  [[nodiscard]] const Limits& limits() const { return limits_; }
  // How many threads this call may use, including the caller's; at least one.
  [[nodiscard]] std::size_t threads() const;
  [[nodiscard]] bool reports() const { return control_.progress != nullptr; }
  [[nodiscard]] bool is_watched() const { return reports() || control_.stop.stop_possible(); }

  // How many times the rows of a picture will be walked through.
  void expect_walks(int walks) { walks_ = walks; }
  // Says that `rows` of the `all` rows of this walk are done now, in any order. Throws what the
  // progress callback throws.
  void add_rows(int rows, int all);
  // The next walk begins.
  void end_walk();

  // Work on this device of `engine` begins.
  void use_device(Engine& engine, std::shared_ptr<Session> session);
  // After it threw `failure`: leaves the device, as Engine::leave() does. If true, the picture can
  // be filtered again from its beginning.
  [[nodiscard]] bool leave_device(const DeviceError& failure);

 private:
  const Limits& limits_;
  const RunControl& control_;
  StopScope scope_;
  std::mutex mutex_;
  int walks_ = 1;
  int walk_ = 0;
  std::int64_t rows_ = 0;  // done in this walk
  Engine* engine_ = nullptr;
  std::shared_ptr<Session> session_;  // nullptr: no device is in use
};

// Calls work(block) for blocks of at least `minimum` rows that cover `rows`, on the threads of the
// call; watched calls have blocks of about `suitable` rows. The rows count as a walk through the
// picture. An exception of `work` ends the other blocks and propagates.
template <typename Work>
void for_blocks(MemoryCall& call, const RowRange& rows, int minimum, int suitable,
                const Work& work) {
  // With several blocks for each thread, none waits long for another.
  constexpr int blocks_a_thread = 4;
  const int count = rows.count();
  const int workers =
      std::clamp(count / minimum, 1, static_cast<int>(std::min<std::size_t>(call.threads(), 4096)));
  int height = (count + workers - 1) / workers;
  if (workers > 1) height = std::max((height + blocks_a_thread - 1) / blocks_a_thread, 2 * minimum);
  if (call.is_watched()) height = std::min(height, std::max(suitable, 2 * minimum));
  const int blocks = (count + height - 1) / height;
  std::atomic<int> next = 0;
  const auto take = [&](int) {
    try {
      for (int i = next++; i < blocks; i = next++) {
        check_stop();
        const int begin = rows.begin + i * height;
        const RowRange block{begin, std::min(begin + height, rows.end)};
        work(block);
        call.add_rows(block.count(), count);
      }
    } catch (...) {
      next = blocks;
      throw;
    }
  };
  if (workers == 1) {
    take(0);
  } else {
    run_parts(std::min(workers, blocks), take);
  }
  call.end_walk();
}

class MemoryPart {
 public:
  // Throws DeviceError, UsageError.
  MemoryPart(Engine& engine, Work work);

  [[nodiscard]] const EngineReport& report() const { return part_.prepared().report; }
  [[nodiscard]] const PictureShape& output() const { return part_.output(); }

  // Whether it may run many pictures: spans of devices add up.
  [[nodiscard]] bool is_reusable() const { return !is_on_device(); }

  // Fills `target` from `source`, which has the shape of the work. They do not overlap; rows may
  // have any pitch, and bytes between them are neither read nor written. Safe to call from several
  // threads. Throws DeviceError, Stopped.
  void run(const ConstRows& source, const MutableRows& target, MemoryCall& call);

  // For work that measures; call it once.
  [[nodiscard]] PictureStatistics measure(const ConstRows& source, MemoryCall& call);

 private:
  [[nodiscard]] bool is_on_device() const { return part_.prepared().session != nullptr; }
  template <typename RunOnHost>
  void for_blocks_on_host(const ConstRows& source, MemoryCall& call, const RunOnHost& work);
  template <typename Filter, typename Take>
  void walk_on_device(const ConstRows& source, MemoryCall& call, const Filter& filter,
                      const Take& take);

  Engine& engine_;
  ChainPart part_;
};

struct MemoryResult {
  EngineReport report;
  std::shared_ptr<const IccProfile> profile;  // of the result, if the chain gave it one
};

// Keeps the prepared work for the next pictures of the same shape. Thread-safe.
class MemoryFilter {
 public:
  // Returns the destination of a result of this shape; called before its pixels are computed, and
  // again if a device fails meanwhile.
  using TargetOf = std::function<MutableRows(const PictureShape& shape)>;

  // `dispatcher` has to outlive the filter.
  MemoryFilter(StageChain chain, Dispatcher& dispatcher);

  // The shape of the result for a picture with this metadata. Throws UsageError, also if it depends
  // on the pixels, and PictureError if a stage cannot work on such a picture.
  [[nodiscard]] PictureShape result_shape(const PictureShape& input,
                                          const Metadata& metadata) const;

  // Filters a picture, which may have metadata; see MemoryPart::run(). Throws UsageError,
  // PictureError if a limit is exceeded, DeviceError, Stopped.
  MemoryResult run(const ConstRows& input, const Metadata* metadata, const TargetOf& target_of,
                   MemoryCall& call);

  // Whether the chain applies the EXIF orientation.
  [[nodiscard]] bool is_oriented() const { return is_oriented_; }
  // Whether each pixel of its result is where it was in a picture of this size, whatever that says
  // about its orientation.
  [[nodiscard]] bool keeps_positions(ImageSize size) const;

 private:
  struct Kept;
  [[nodiscard]] std::shared_ptr<Kept> kept_for(const PictureShape& input, const MemoryCall& call);
  MemoryResult run_once(const ConstRows& input, const Metadata* metadata, const TargetOf& target_of,
                        MemoryCall& call);

  StageChain chain_;
  Dispatcher& dispatcher_;
  bool is_oriented_;
  bool depends_on_colors_;
  std::mutex mutex_;
  std::list<std::shared_ptr<Kept>> kept_;  // most recently used first
};

}  // namespace gpufilter
