// Work on one OpenCL device: memory, programs, kernels, queues. OpenCL itself stays behind it.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/timeline.hpp"
#include "device/device_info.hpp"
#include "device/kernel_tuning.hpp"
#include "device/program_cache.hpp"

namespace gpufilter {

// The origin of a device's program; the processor needs none.
enum class ProgramOrigin { none, compiled, cached };
[[nodiscard]] const char* to_string(ProgramOrigin origin);  // as reports have it: "cache"

// Which code did a piece of work, and why: for the report of every run.
struct CodeDescription {
  std::string variant;  // "tiled 16x16", "avx512"
  std::string reason;   // "requested"
  ProgramOrigin origin = ProgramOrigin::none;
  std::string source = {};  // of the program of a device
};

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

// The resources that a kernel takes on its device, as the driver reports them; 0 if unknown.
struct KernelLimits {
  std::size_t max_work_group = 0;   // work-items
  std::size_t stated_group = 0;     // work-items, as its source states; 0: any
  std::uint64_t local_bytes = 0;    // per work-group
  std::uint64_t private_bytes = 0;  // per work-item
};

// A kernel function with its own arguments, not shared with other Kernels of that name. Not
// thread-safe.
class Kernel {
 public:
  struct State;
  explicit Kernel(std::shared_ptr<State> state) : state_(std::move(state)) {}
  [[nodiscard]] ProgramOrigin origin() const;
  // The source of its program: a line with the compiler's options, then the text.
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
    Nanoseconds queued = 0;  // these times are on the host's steady clock
    Nanoseconds start = 0;
    Nanoseconds duration = 0;
  };
  // When the device ran it, by OpenCL's profiling. Only after the command has finished.
  [[nodiscard]] Times times() const;

 private:
  std::shared_ptr<State> state_;
};

// Commands that run in order. Host memory passed to upload() and download() has to stay valid until
// finish(). Failures throw DeviceError.
class Queue {
 public:
  struct State;
  explicit Queue(std::unique_ptr<State> state);
  ~Queue();
  Queue(Queue&&) noexcept;

  Event upload(const Buffer& destination, const void* source, std::size_t bytes);
  Event download(const Buffer& source, void* destination, std::size_t bytes);
  // Copies from buffer to buffer by the driver's own command.
  Event copy(const Buffer& source, const Buffer& destination, std::size_t bytes);
  // The work-group must not exceed the kernel's limits.
  Event launch(const Kernel& kernel, const WorkRange& range,
               std::span<const KernelArgument> arguments);
  Event launch(const Kernel& kernel, const WorkRange& range,
               std::initializer_list<KernelArgument> arguments) {
    return launch(kernel, range, std::span(arguments.begin(), arguments.size()));
  }
  // Returns borrowed memory to the host once the commands before this one are done.
  Event reclaim(const Buffer& borrowed);
  // Keeps memory that commands use until finish() returns. If the device hangs, it is never freed.
  void keep(std::shared_ptr<const void> memory);
  // Waits until all commands are done. Throws DeviceHangs after the limit of set_device_timeout().
  void finish();

 private:
  std::unique_ptr<State> state_;
};

// The parts of a kernel: a file of kernels/, a function in it, the macros that it is compiled with
// ("-D CHANNELS=3 -D DEPTH=8"), and generated OpenCL C, which precedes the file's text.
struct KernelRequest {
  std::string file;
  std::string function;
  std::string options = {};
  std::string generated = {};
  std::string_view text = {};  // of the file, if it is not one of kernels/; outlives the request
  bool alone = false;          // `text` is the whole program, without common.cl
  // If not nullptr, makes the program to use from the compiled one (NVIDIA's driver: PTX).
  std::string (*rewrite)(std::string binary) = nullptr;
};

// How long the program waits for commands of a device before it takes the device for hanging;
// nothing, as at the start: for ever.
void set_device_timeout(std::optional<std::chrono::milliseconds> limit);
[[nodiscard]] std::optional<std::chrono::milliseconds> device_timeout();
// Whether a device has hung: its library may then keep the process from ending in the usual way.
[[nodiscard]] bool has_hanging_device();

// A context on one device. Thread-safe.
class Session {
 public:
  // Without `cache`, programs are always compiled. Throws DeviceError if the device does not work.
  Session(DeviceInfo device, std::optional<ProgramCache> cache);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] const DeviceInfo& device() const;

  // Throws DeviceError if the device cannot allocate it. At least one byte is allocated.
  [[nodiscard]] Buffer allocate(std::size_t bytes);
  // Host memory that the device copies from and to at full speed. Throws DeviceError.
  [[nodiscard]] std::shared_ptr<std::uint8_t> allocate_pinned(std::size_t bytes);
  // Host memory as a buffer, without a copy: only if the device works in the host's memory (a CPU).
  // It belongs to the device from now on until Queue::reclaim() or, if no command writes to it,
  // until the commands that read it have finished.
  [[nodiscard]] Buffer borrow(const void* data, std::size_t bytes);
  [[nodiscard]] Queue make_queue();
  // Compiles the program, or takes it from the cache, once per session. Throws DeviceError with the
  // first line of the compiler's log.
  [[nodiscard]] Kernel make_kernel(const KernelRequest& request);

  // Sets the tuning that chooses kernels from now on; nullptr: they decide themselves. Not while
  // kernels are being built.
  void set_tuning(std::shared_ptr<const KernelTuning> tuning);
  [[nodiscard]] const KernelTuning* tuning() const;

  // Writes compiled programs to the cache. Requesting them from the driver takes time: call this
  // after the picture has been written.
  void keep_programs();

  struct State;

 private:
  std::unique_ptr<State> state_;
};

// An image of RGBA bytes, row after row, on the session that allocated `beside`. Kernels take it as
// image2d_t; it has no other use. Throws DeviceError if the device has no images or none of that
// size.
[[nodiscard]] Buffer make_image(const Buffer& beside, std::size_t width, std::size_t height,
                                const void* rgba);

}  // namespace gpufilter
