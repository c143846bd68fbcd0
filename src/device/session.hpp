// Work on one OpenCL device: memory, programs, kernels, queues. OpenCL itself stays behind it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/timeline.hpp"
#include "device/device_info.hpp"
#include "device/kernel_tuning.hpp"
#include "device/program_cache.hpp"

namespace gpufilter {

// Memory on the device. Move-only.
class Buffer {
 public:
  struct State;
  Buffer() noexcept;
  explicit Buffer(std::unique_ptr<State> state) noexcept;
  ~Buffer();
  Buffer(Buffer&& other) noexcept;
  Buffer& operator=(Buffer&& other) noexcept;

  [[nodiscard]] std::size_t size() const;  // bytes
  [[nodiscard]] const State& state() const { return *state_; }

 private:
  std::unique_ptr<State> state_;
};

// One value for a kernel's parameter; it refers to the value, which must outlive the launch call.
class KernelArgument {
 public:
  KernelArgument(const Buffer& buffer);  // NOLINT(google-explicit-constructor): arguments in braces
  KernelArgument(const std::int32_t& value)  // NOLINT(google-explicit-constructor)
      : data_(&value), size_(sizeof(value)) {}

  [[nodiscard]] const void* data() const { return data_; }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  const void* data_;
  std::size_t size_;
};

enum class ProgramOrigin { compiled, cached };
[[nodiscard]] const char* to_string(ProgramOrigin origin);

// What a kernel takes on its device, by the driver; 0 where that is not known.
struct KernelLimits {
  std::size_t max_work_group = 0;   // work-items
  std::size_t stated_group = 0;     // as its source states; 0: any
  std::uint64_t local_bytes = 0;    // a work-group
  std::uint64_t private_bytes = 0;  // a work-item
};

// A kernel function of its own: its arguments are not shared with another Kernel of that name. Not
// for use by two threads at a time.
class Kernel {
 public:
  struct State;
  explicit Kernel(std::shared_ptr<State> state) : state_(std::move(state)) {}
  [[nodiscard]] ProgramOrigin origin() const;
  // What its program was compiled from: a line with the compiler's options, then the text.
  [[nodiscard]] std::string source() const;
  [[nodiscard]] const KernelLimits& limits() const;
  [[nodiscard]] const State& state() const { return *state_; }

 private:
  std::shared_ptr<State> state_;
};

// A two-dimensional range of work-items; the global size is rounded up to whole work-groups.
struct WorkRange {
  std::size_t width = 1;
  std::size_t height = 1;
  std::size_t group_width = 1;
  std::size_t group_height = 1;
};

// A command given to a queue.
class Event {
 public:
  struct State;
  explicit Event(std::shared_ptr<State> state) : state_(std::move(state)) {}

  struct Times {
    Nanoseconds queued = 0;  // on the host's steady clock, as the next
    Nanoseconds start = 0;
    Nanoseconds duration = 0;
  };
  // When the device carried it out, by OpenCL's profiling. Only after the command has finished.
  [[nodiscard]] Times times() const;

 private:
  std::shared_ptr<State> state_;
};

// Commands carried out one after the other. Host memory given to upload() and download() must stay
// until finish(). Failures throw DeviceError.
class Queue {
 public:
  struct State;
  explicit Queue(std::unique_ptr<State> state);
  ~Queue();
  Queue(Queue&&) noexcept;

  Event upload(const Buffer& destination, const void* source, std::size_t bytes);
  Event download(const Buffer& source, void* destination, std::size_t bytes);
  // From buffer to buffer, by the driver's own means.
  Event copy(const Buffer& source, const Buffer& destination, std::size_t bytes);
  // The work-group is no larger than the kernel's limits allow.
  Event launch(const Kernel& kernel, const WorkRange& range,
               std::span<const KernelArgument> arguments);
  Event launch(const Kernel& kernel, const WorkRange& range,
               std::initializer_list<KernelArgument> arguments) {
    return launch(kernel, range, std::span(arguments.begin(), arguments.size()));
  }
  // Gives borrowed memory back to the host once the commands before are done.
  Event reclaim(const Buffer& borrowed);
  // Waits until all commands are done.
  void finish();

 private:
  std::unique_ptr<State> state_;
};

// What a kernel is built from: a file of kernels/, a function in it, the macros it is compiled with
// ("-D CHANNELS=3 -D DEPTH=8"), and OpenCL C that was generated for the program; it stands before
// the file.
struct KernelRequest {
  std::string file;
  std::string function;
  std::string options;
  std::string generated = {};
};

// A context on one device. All methods may be called from several threads at a time.
class Session {
 public:
  // Without `cache`, programs are compiled anew. Throws DeviceError where the device does not work.
  Session(DeviceInfo device, std::optional<ProgramCache> cache);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const DeviceInfo& device() const;

  // Throws DeviceError where the device has no such memory. At least one byte is allocated.
  [[nodiscard]] Buffer allocate(std::size_t bytes);
  // Memory of the host that the device copies from and to at full speed. Throws DeviceError.
  [[nodiscard]] std::shared_ptr<std::uint8_t> allocate_pinned(std::size_t bytes);
  // Memory of the host as a buffer, without a copy: only where the device works in the host's
  // memory (a CPU). It is the device's from now on until Queue::reclaim(), or, where no command
  // writes to it, until the commands that read it have finished.
  [[nodiscard]] Buffer borrow(const void* data, std::size_t bytes);
  [[nodiscard]] Queue make_queue();
  // Compiles the program, or takes it from the cache, once per session. Throws DeviceError with the
  // first line of the compiler's log.
  [[nodiscard]] Kernel make_kernel(const KernelRequest& request);

  // Who decides how kernels divide their work from now on; nullptr: they do themselves. Not while
  // kernels are made.
  void set_tuning(std::shared_ptr<const KernelTuning> tuning);
  [[nodiscard]] const KernelTuning* tuning() const;

  // Writes the programs that were compiled into the cache. Asking the driver for them takes time:
  // call it when the user has the picture.
  void keep_programs();

  struct State;

 private:
  std::unique_ptr<State> state_;
};

}  // namespace gpufilter
