// A part of a chain, without stages that need the whole picture, on a picture in memory.
#pragma once

#include <optional>

#include "pipeline/choose/engine.hpp"
#include "pipeline/execute/host_passes.hpp"
#include "pipeline/run/memory_call.hpp"

namespace gpufilter {

class MemoryPart {
 public:
  // Throws DeviceError, UsageError.
  MemoryPart(Engine& engine, const Work& work);

  [[nodiscard]] const EngineReport& report() const { return prepared_.report; }
  [[nodiscard]] const PictureShape& output() const { return prepared_.plan->output(); }

  // Whether it may run many pictures: spans of devices add up.
  [[nodiscard]] bool is_reusable() const { return on_host_ || !prepared_.executor; }

  // Fills `target` from `source`, which has the shape of the work. They do not overlap; rows may
  // have any pitch, and bytes between them are neither read nor written. Safe to call from several
  // threads. Throws DeviceError, Stopped.
  void run(const ConstRows& source, const MutableRows& target, MemoryCall& call);

  // For work that measures; call it once.
  [[nodiscard]] PictureStatistics measure(const ConstRows& source, MemoryCall& call);

 private:
  template <typename RunOnHost>
  void for_blocks_on_host(const ConstRows& source, MemoryCall& call, const RunOnHost& work);
  template <typename Filter, typename Take>
  void walk_on_device(const ConstRows& source, MemoryCall& call, const Filter& filter,
                      const Take& take);
  [[nodiscard]] PictureStatistics measure_on_host(const ConstRows& source, MemoryCall& call);

  Engine& engine_;
  Timeline timeline_;  // nobody asks for it
  Prepared prepared_;
  std::optional<HostPasses> on_host_;
};

}  // namespace gpufilter
