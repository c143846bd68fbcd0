// Programs of one context: compiled at most once, or taken from the cache. For this folder alone.
#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "device/device_info.hpp"
#include "device/opencl.hpp"
#include "device/program_cache.hpp"
#include "device/session.hpp"

namespace gpufilter {

// What a program is compiled from.
struct ProgramText {
  std::string options;
  std::string source;
  std::string key;  // a hash of both
};

struct BuiltProgram {
  cl::Program program;
  ProgramOrigin origin = ProgramOrigin::compiled;
  std::shared_ptr<const ProgramText> text;
};

class ProgramBuilder {
 public:
  ProgramBuilder(DeviceInfo device, cl::Context context, std::optional<ProgramCache> cache)
      : device_(std::move(device)),
        context_(std::move(context)),
        cache_(std::move(cache)),
        compiles_alone_(device_.kind == DeviceKind::cpu) {}

  // A program that has the kernel asked for; of the kernels that the file keeps between
  // "#ifdef KERNEL_name" and "#endif", no other. May be called from several threads: each program
  // is compiled once, and different ones at the same time where the device is not the processor.
  // Throws DeviceError with the compiler's first complaint.
  [[nodiscard]] BuiltProgram build(const KernelRequest& request);

  // Stores what was compiled in the cache.
  void keep();

 private:
  struct Entry {
    std::mutex mutex;  // held by the thread that builds it
    std::optional<BuiltProgram> built;
    bool kept = false;
  };
  [[nodiscard]] std::shared_ptr<Entry> entry_of(const std::string& full_key);
  // Owns nothing where the driver may do several programs at the same time.
  [[nodiscard]] std::unique_lock<std::mutex> compile_lock() const;

  [[nodiscard]] std::string key(const ProgramText& text) const;
  [[nodiscard]] std::optional<cl::Program> from_cache(const std::string& key,
                                                      const std::string& options) const;
  [[nodiscard]] cl::Program from_source(const std::string& file, const ProgramText& text) const;

  DeviceInfo device_;
  cl::Context context_;
  std::optional<ProgramCache> cache_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();  // of programs_
  std::unique_ptr<std::mutex> compiling_ = std::make_unique<std::mutex>();
  std::map<std::string, std::shared_ptr<Entry>> programs_;  // by key
  bool compiles_alone_;
};

}  // namespace gpufilter
