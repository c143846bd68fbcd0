// Filters pictures in memory, into memory.
#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>

#include "image/metadata.hpp"
#include "pipeline/choose/dispatcher.hpp"
#include "pipeline/run/memory_part.hpp"

namespace gpufilter {

struct MemoryResult {
  EngineReport report;
  std::shared_ptr<const IccProfile> profile;  // of the result, if the chain gave it one
};

// What is prepared for pictures of one shape is kept for the next ones. Thread-safe.
class MemoryFilter {
 public:
  // Where a result of this shape goes; called before its pixels are computed, and once more if a
  // device fails meanwhile.
  using TargetOf = std::function<MutableRows(const PictureShape& shape)>;

  // `dispatcher` has to outlive the filter.
  MemoryFilter(StageChain chain, Dispatcher& dispatcher);

  // The shape of the result for a picture without metadata. Throws UsageError, also if it depends
  // on the pixels.
  [[nodiscard]] PictureShape result_shape(const PictureShape& input) const;

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
  std::list<std::shared_ptr<Kept>> kept_;  // the one used last comes first
};

}  // namespace gpufilter
