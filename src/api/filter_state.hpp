// The implementation of the public PictureFilter.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <gpufilter/filter.hpp>

#include "api/picture_state.hpp"
#include "pipeline/run/memory_filter.hpp"

namespace gpufilter {

// Memory of released results, reused for new ones: fresh memory costs a page fault per page,
// several times as long as a filter. Thread-safe; blocks may outlive it.
class ResultMemory {
 public:
  ResultMemory();

  // A block of at least `bytes`, whose contents are unspecified; it comes back once nobody uses it.
  // Throws as allocate_image_memory() does.
  [[nodiscard]] std::shared_ptr<std::uint8_t> take(std::size_t bytes);

 private:
  struct State;
  std::shared_ptr<State> state_;
};

// The chain that public uses of stages mean; `limits` are for pictures that they read. Throws
// UsageError for unknown or invalid stages and parameters.
[[nodiscard]] StageChain chain_of(const std::vector<StageUse>& uses, const ReadLimits& limits);

// A file, or the bytes of one, whose name is for messages.
struct FileInput {
  std::string name;
  std::optional<std::span<const std::uint8_t>> bytes = {};
};
// An output file, or bytes that receive the file's; the name decides the format.
struct FileOutput {
  std::string name;
  std::vector<std::uint8_t>* bytes = nullptr;
};

class PictureFilter::State {
 public:
  // Throws UsageError.
  State(StageChain chain, FilterSettings settings);
  ~State();
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  [[nodiscard]] const StageChain& chain() const { return chain_; }
  [[nodiscard]] const FilterSettings& settings() const { return settings_; }
  // The dispatcher and what it needs, of this process. Throw DeviceError in a forked process that
  // requires a device.
  [[nodiscard]] Dispatcher& dispatcher() { return *work().dispatcher; }
  [[nodiscard]] MemoryFilter& memory() { return *work().memory; }

  // Filters `input`, whose file has this metadata or none, into a new picture. Throws as
  // MemoryFilter does, std::overflow_error, std::bad_alloc.
  [[nodiscard]] MemoryResult run(const ConstRows& input, const Metadata* metadata,
                                 const RunControl& control, std::unique_ptr<PictureState>& result);
  // Filters into existing memory, which may overlap the input's.
  [[nodiscard]] MemoryResult run_into(const ConstRows& input, const Metadata* metadata,
                                      const MutableRows& target, const RunControl& control);
  FilterResult run_file(const FileInput& input, const FileOutput& output,
                        const FormatOptions& options, const RunControl& control);
  // The shape of the result for a picture with this metadata. Throws UsageError.
  [[nodiscard]] Shape result_shape(const PictureShape& input, const Metadata& metadata);

 private:
  // Threads and devices, which belong to one process: they do not survive a fork.
  struct Work {
    std::unique_ptr<Dispatcher> dispatcher;
    std::unique_ptr<MemoryFilter> memory;
  };
  [[nodiscard]] Work make_work(const std::string& device, bool require_device) const;
  [[nodiscard]] Work& work();

  StageChain chain_;
  FilterSettings settings_;
  ResultMemory results_;
  int process_;  // that made the filter
  Work work_;
  std::once_flag forked_;  // of forked processes
  Work work_after_fork_;
};

}  // namespace gpufilter
