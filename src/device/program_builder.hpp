// Programs of one context: compiled at most once, or taken from the cache. Only for this folder.
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

// The text and options that a program is compiled from.
struct ProgramText {
  std::string options;
  std::string source;
  std::string key;  // a hash of both
};

struct BuiltProgram {  // NOLINT(bugprone-exception-escape): cl::Program's assignment
  cl::Program program;
  ProgramOrigin origin = ProgramOrigin::compiled;
  std::shared_ptr<const ProgramText> text;
  std::string log = {};  // what the compiler printed when it was compiled, or an empty text
};

class ProgramBuilder {
 public:
  ProgramBuilder(DeviceInfo device, cl::Context context, std::optional<ProgramCache> cache)
      : device_(std::move(device)),
        context_(std::move(context)),
        cache_(std::move(cache)),
        compiles_alone_(device_.kind == DeviceKind::cpu) {}

  // A program with the requested kernel; other kernels that the file has between "#ifdef
  // KERNEL_name" and "#endif" are left out. Thread-safe: each program is compiled once, and
  // different ones at the same time unless the device is the processor. Throws DeviceError with the
  // compiler's first message.
  [[nodiscard]] BuiltProgram build(const KernelRequest& request);

  // Stores compiled programs in the cache.
  void keep();

 private:
  struct Entry {
    std::mutex mutex;  // held by the thread that builds it
    std::optional<BuiltProgram> built;
    bool kept = false;
  };
  [[nodiscard]] std::shared_ptr<Entry> entry_of(const std::string& full_key);
  // Owns nothing if the driver may compile several programs at the same time.
  [[nodiscard]] std::unique_lock<std::mutex> compile_lock() const;

  [[nodiscard]] std::string key(const ProgramText& text) const;
  [[nodiscard]] std::optional<cl::Program> from_cache(const std::string& key,
                                                      const std::string& options) const;
  // What the compiler printed about the program of this key, which the cache has.
  [[nodiscard]] std::string kept_log(const std::string& key) const;
  [[nodiscard]] BuiltProgram from_source(const std::string& file,
                                         std::shared_ptr<const ProgramText> text) const;

  DeviceInfo device_;
  cl::Context context_;
  std::optional<ProgramCache> cache_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();  // guards programs_
  std::unique_ptr<std::mutex> compiling_ = std::make_unique<std::mutex>();
  std::map<std::string, std::shared_ptr<Entry>> programs_;  // by key
  bool compiles_alone_;
};

}  // namespace gpufilter
