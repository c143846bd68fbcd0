#include "device/session.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <sstream>
#include <string>

#include <poll.h>

#include "base/background.hpp"
#include "base/content_hash.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/signal_cleanup.hpp"
#include "device/device_error.hpp"
#include "device/device_info.hpp"
#include "device/device_memory.hpp"
#include "device/kernel_figures.hpp"
#include "device/kernel_source.hpp"
#include "device/opencl.hpp"
#include "device/pocl.hpp"
#include "device/program_cache.hpp"

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

namespace {

// Every device has OpenCL C 1.2; a request may name a later version. No option may relax
// arithmetic: the results of all devices are the same to the bit.
std::string with_language(const std::string& options) {
  return options.find("-cl-std=") == std::string::npos ? "-cl-std=CL1.2 " + options : options;
}

// For the figures of each kernel.
std::string verbosity_of(const DeviceInfo& device) {
  if (device.compute_capability == 0) return "";
  const auto extensions = device.handle->device.getInfo<CL_DEVICE_EXTENSIONS>();
  const bool has_options = extensions.find("cl_nv_compiler_options") != std::string::npos;
  return has_options ? formatted(" {}", verbose_option) : "";
}

// Under which the cache keeps what the compiler printed.
std::string log_key(const std::string& key) {
  return key + "\nlog";
}

// PoCL compiles every kernel of a program when its binary is requested, which takes 0.1 s for each.
std::string selection_of(const std::string& function, const std::string& source) {
  const std::string macro = "KERNEL_" + function;
  return source.find("#ifdef " + macro + "\n") == std::string::npos ? "" : " -D " + macro;
}

std::string first_complaint(const std::string& log) {
  std::istringstream lines(log);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    if (line.find("error") != std::string::npos) return line;
    if (first.empty()) first = line;
  }
  return first.empty() ? "the compiler gave no reason" : first;
}

// The compiler's messages about the program in `file`: its errors, or its warnings.
void log_lines(const std::string& file, const std::string& compiler_log,
               void (*write)(std::string_view line) = log::debug) {
  std::istringstream lines(compiler_log);
  for (std::string line; std::getline(lines, line);)
    write(formatted("{}: compiler: {}", file, line));
}

}  // namespace

class ProgramBuilder {
 public:
  ProgramBuilder(DeviceInfo device, cl::Context context, std::optional<ProgramCache> cache)
      : device_(std::move(device)),
        context_(std::move(context)),
        cache_(std::move(cache)),
        compiles_alone_(device_.kind == DeviceKind::cpu) {}

  // A program with the requested kernel; other kernels, which the file has between "#ifdef
  // KERNEL_name" and "#endif", are omitted. Thread-safe: each program is compiled once, and
  // different ones at the same time unless the device is the processor. Throws DeviceError with the
  // compiler's first message.
  [[nodiscard]] BuiltProgram build(const KernelRequest& request) {
    auto text = std::make_shared<ProgramText>();
    text->source = request.alone ? std::string(request.text)
                   : request.text.empty()
                       ? kernel_source(request.file, request.generated)
                       : source_with(request.text, request.generated, request.file);
    text->options = with_language(request.options) + selection_of(request.function, text->source) +
                    verbosity_of(device_);
    text->key = to_string(content_hash(text->options + '\n' + text->source));
    const std::string full_key = key(*text);
    const std::shared_ptr<Entry> entry = entry_of(full_key);
    const std::lock_guard building(entry->mutex);
    if (entry->built) return *entry->built;
    const auto alone = compile_lock();
    const Nanoseconds begin = now();
    if (auto cached = from_cache(full_key, text->options)) {
      entry->built =
          BuiltProgram{std::move(*cached), ProgramOrigin::cached, text, kept_log(full_key)};
      entry->kept = true;
    } else {
      entry->built = from_source(request, text);
    }
    // Compilers made of LLVM take some signals for themselves.
    restore_cleanup_on_signals();
    log::debug(formatted("{}: {} of {} ({}): {} in {:.1f} ms", device_.name, request.function,
                         request.file, text->options, to_string(entry->built->origin),
                         static_cast<double>(now() - begin) / 1e6));
    return *entry->built;
  }

  // Stores compiled programs in the cache.
  void keep() {
    if (!cache_) return;
    std::map<std::string, std::shared_ptr<Entry>> programs;
    {
      const std::lock_guard lock(*mutex_);
      programs = programs_;
    }
    for (const auto& [full_key, entry] : programs) {
      const std::lock_guard building(entry->mutex);
      if (entry->kept || !entry->built) continue;
      entry->kept = true;  // only one attempt: a cache that cannot be written stays that way
      const auto alone = compile_lock();
      try {
        const auto binaries = entry->built->program.getInfo<CL_PROGRAM_BINARIES>();
        if (binaries.empty() || binaries.front().empty()) continue;
        // If it is not stored, the cache has logged that, and the next run compiles again.
        static_cast<void>(cache_->store(full_key, binaries.front()));
        const std::string& log = entry->built->log;
        if (device_.compute_capability > 0 && !log.empty())
          static_cast<void>(cache_->store(log_key(full_key), {log.begin(), log.end()}));
      } catch (const cl::Error& error) {
        log::debug(formatted("{}: the driver does not return a compiled program: {}", device_.name,
                             opencl_error_text(error.err())));
      }
    }
  }

 private:
  struct Entry {
    std::mutex mutex;  // held by the thread that builds it
    std::optional<BuiltProgram> built;
    bool kept = false;
  };
  [[nodiscard]] std::shared_ptr<Entry> entry_of(const std::string& full_key) {
    const std::lock_guard lock(*mutex_);
    std::shared_ptr<Entry>& entry = programs_[full_key];
    if (!entry) entry = std::make_shared<Entry>();
    return entry;
  }

  // Owns nothing if the driver may compile several programs at the same time.
  [[nodiscard]] std::unique_lock<std::mutex> compile_lock() const {
    return compiles_alone_ ? std::unique_lock(*compiling_) : std::unique_lock<std::mutex>();
  }

  [[nodiscard]] std::string key(const ProgramText& text) const {
    return formatted("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", GPUFILTER_VERSION, device_.name,
                     device_.vendor, device_.device_version, device_.driver_version,
                     device_.platform, device_.platform_version, text.options, text.source);
  }

  [[nodiscard]] std::optional<cl::Program> from_cache(const std::string& key,
                                                      const std::string& options) const {
    if (!cache_) return std::nullopt;
    const auto binary = cache_->load(key);
    if (!binary) return std::nullopt;
    try {
      cl::Program program(context_, {device_.handle->device}, {*binary});
      program.build(options.c_str());
      return program;
    } catch (const cl::Error& error) {
      log::debug(formatted("{}: a cached program is refused ({}) and compiled again", device_.name,
                           opencl_error_text(error.err())));
      return std::nullopt;
    }
  }

  // The compiler's output for the cached program of this key. Only NVIDIA's compiler describes
  // kernels.
  [[nodiscard]] std::string kept_log(const std::string& key) const {
    if (device_.compute_capability == 0) return "";
    const auto log = cache_->load(log_key(key));
    return log ? std::string(log->begin(), log->end()) : "";
  }

  [[nodiscard]] BuiltProgram from_source(const KernelRequest& request,
                                         std::shared_ptr<const ProgramText> text) const {
    const std::string& file = request.file;
    try {
      cl::Program program(context_, text->source);
      program.build(text->options.c_str());
      std::string log = program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device_.handle->device);
      log_lines(file, log);
      if (request.rewrite != nullptr) {
        const auto binary = program.getInfo<CL_PROGRAM_BINARIES>().at(0);
        const std::string other = request.rewrite({binary.begin(), binary.end()});
        program = cl::Program(context_, {device_.handle->device}, {{other.begin(), other.end()}});
        program.build(verbosity_of(device_).c_str());
        log = program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device_.handle->device);
        log_lines(file, log);
      }
      return {program, ProgramOrigin::compiled, std::move(text), std::move(log)};
    } catch (const cl::BuildError& error) {
      const auto logs = error.getBuildLog();
      const std::string log =
          logs.empty() ? "" : with_file_lines(logs.front().second, text->source);
      // Someone who writes a kernel needs all of them.
      log_lines(file, log, request.text.empty() ? log::debug : log::warn);
      throw DeviceError(formatted("{}: {} does not compile: {}", device_.name, kernel_path(file),
                                  first_complaint(log)));
    } catch (const cl::Error& error) {
      throw DeviceError(formatted("{}: {} does not compile: {}", device_.name, kernel_path(file),
                                  opencl_error_text(error.err())));
    }
  }

  DeviceInfo device_;
  cl::Context context_;
  std::optional<ProgramCache> cache_;
  std::unique_ptr<std::mutex> mutex_ = std::make_unique<std::mutex>();  // guards programs_
  std::unique_ptr<std::mutex> compiling_ = std::make_unique<std::mutex>();
  std::map<std::string, std::shared_ptr<Entry>> programs_;  // by key
  bool compiles_alone_;
};

struct Kernel::State {
  cl::Kernel kernel;
  std::shared_ptr<const ProgramText> program;
  std::string name;
  ProgramOrigin origin = ProgramOrigin::compiled;
  KernelFigures figures = {};
};

struct Event::State {
  cl::Event event;
  Nanoseconds clock_offset = 0;  // host clock minus device clock
};

using IdleQueues = Idle<std::unique_ptr<Queue::State>>;  // for the next picture

namespace {

constexpr std::int64_t no_timeout = 0;
std::atomic<std::int64_t> timeout_in_ms = no_timeout;
std::atomic<bool> has_hung = false;

// The state of all commands given to the queue so far; negative: a failure.
cl_int state_of(cl_event marker) {
  cl_int state = CL_QUEUED;
  const int code =
      clGetEventInfo(marker, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof state, &state, nullptr);
  return code == CL_SUCCESS ? state : code;
}

// clFinish() that ends at the limit; returns OpenCL's code. Throws DeviceHangs.
int finish_in_time(cl_command_queue queue, const std::string& device) {
  const std::int64_t limit = timeout_in_ms;
  if (limit == no_timeout) return clFinish(queue);
  cl::Event marker;
  int code = clEnqueueMarkerWithWaitList(queue, 0, nullptr, &marker());
  if (code == CL_SUCCESS) code = clFlush(queue);
  if (code != CL_SUCCESS) return code;
  const Nanoseconds end = now() + limit * 1'000'000;
  int state = state_of(marker());
  for (int looks = 0; state > CL_COMPLETE && now() < end; ++looks) {
    poll(nullptr, 0, looks < 100 ? 0 : 1);
    state = state_of(marker());
  }
  if (state <= CL_COMPLETE) return state;
  has_hung = true;
  throw DeviceHangs(formatted("{}: no answer within {} s (--device-timeout)", device,
                              static_cast<double>(limit) / 1000));
}

}  // namespace

void set_device_timeout(std::optional<std::chrono::milliseconds> limit) {
  timeout_in_ms = limit ? limit->count() : no_timeout;
}

std::optional<std::chrono::milliseconds> device_timeout() {
  const std::int64_t limit = timeout_in_ms;
  return limit == no_timeout ? std::nullopt : std::optional(std::chrono::milliseconds(limit));
}

bool has_hanging_device() {
  return has_hung;
}

struct Queue::State final : LaunchGate::Client {
  State(cl::CommandQueue of, std::string of_device, Nanoseconds offset,
        std::shared_ptr<LaunchGate> its_gate, std::weak_ptr<IdleQueues> its_home)
      : queue(std::move(of)),
        device(std::move(of_device)),
        clock_offset(offset),
        gate(std::move(its_gate)),
        home(std::move(its_home)) {}

  void wait() override { check_opencl(finish(), device, "the work"); }
  // Afterwards no command is running, even if one failed. Returns OpenCL's code. Throws
  // DeviceHangs.
  [[nodiscard]] int end() {
    const int code = finish();
    kept.clear();
    if (gate) gate->ended(*this);
    return code;
  }

  cl::CommandQueue queue;
  std::string device;
  Nanoseconds clock_offset;
  std::shared_ptr<LaunchGate> gate;  // if the device needs one
  std::weak_ptr<IdleQueues> home;
  std::vector<std::shared_ptr<const void>> kept;  // memory that the commands use

 private:
  // Does not wait a second time for a queue that hangs.
  [[nodiscard]] int finish() {
    if (hangs_) throw DeviceHangs(device + ": no answer");
    try {
      return finish_in_time(queue(), device);
    } catch (const DeviceHangs&) {
      hangs_ = true;
      throw;
    }
  }

  std::atomic<bool> hangs_ = false;
};

// Idle kernels by their requests, for the next picture.
struct IdleKernels {
  std::mutex mutex;
  std::multimap<std::string, std::unique_ptr<Kernel::State>> kernels;
};

struct Session::State {
  DeviceInfo device;
  cl::Context context;
  ProgramBuilder builder;
  DeviceMemory memory;
  std::shared_ptr<LaunchGate> gate;
  std::shared_ptr<IdleQueues> idle_queues = std::make_shared<IdleQueues>();
  std::shared_ptr<IdleKernels> idle_kernels = std::make_shared<IdleKernels>();
  std::shared_ptr<const KernelTuning> tuning = nullptr;

  // nullptr: none is idle.
  [[nodiscard]] std::unique_ptr<Kernel::State> take_kernel(const std::string& key) const;
  [[nodiscard]] std::unique_ptr<Kernel::State> create_kernel(const KernelRequest& request);
};

// ---- Buffer, KernelArgument, Kernel ----

Buffer::Buffer() noexcept = default;
Buffer::Buffer(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
Buffer::~Buffer() = default;
Buffer::Buffer(Buffer&& other) noexcept = default;
Buffer& Buffer::operator=(Buffer&& other) noexcept = default;

std::size_t Buffer::size() const {
  return state_ ? state_->size : 0;
}

KernelArgument::KernelArgument(const Buffer& buffer)
    : data_(&buffer.state().handle), size_(sizeof(cl_mem)) {}

const char* to_string(ProgramOrigin origin) {
  static constexpr std::array names{"none", "compiled", "cache"};
  return names.at(static_cast<std::size_t>(origin));
}

ProgramOrigin Kernel::origin() const {
  return state_->origin;
}

std::string Kernel::source() const {
  const std::string takes = to_string(state_->figures);
  return formatted("// options: {}\n{}{}", state_->program->options,
                   takes.empty() ? "" : formatted("// takes: {}\n", takes),
                   state_->program->source);
}

const KernelLimits& Kernel::limits() const {
  return state_->figures.limits;
}

// ---- Event ----

namespace {

cl_ulong profiled(cl_event event, cl_profiling_info what) {
  cl_ulong time = 0;
  check_opencl(clGetEventProfilingInfo(event, what, sizeof(time), &time, nullptr), "the device",
               "timing a command");
  return time;
}

}  // namespace

Event::Times Event::times() const {
  // With some drivers, events of a finished queue may not be complete yet.
  cl_event event = state_->event();
  check_opencl(clWaitForEvents(1, &event), "the device", "a command");
  const cl_ulong queued = profiled(event, CL_PROFILING_COMMAND_QUEUED);
  const cl_ulong start = profiled(event, CL_PROFILING_COMMAND_START);
  const cl_ulong end = profiled(event, CL_PROFILING_COMMAND_END);
  return {static_cast<Nanoseconds>(queued) + state_->clock_offset,
          static_cast<Nanoseconds>(start) + state_->clock_offset,
          static_cast<Nanoseconds>(end - start)};
}

// ---- Queue ----

Queue::Queue(std::unique_ptr<State> state) : state_(std::move(state)) {}
Queue::Queue(Queue&&) noexcept = default;

// Waits for its commands, whose host memory is freed after the queue. A queue that hangs is left as
// it is: releasing it could wait for ever.
Queue::~Queue() {
  if (!state_) return;
  try {
    if (state_->end() != CL_SUCCESS) return;
  } catch (const DeviceHangs&) {
    static_cast<void>(state_.release());
    return;
  }
  if (const auto home = state_->home.lock()) {
    home->put(std::move(state_));
  }
}

void Queue::keep(std::shared_ptr<const void> memory) {
  state_->kept.push_back(std::move(memory));
}

Event Queue::upload(const Buffer& destination, const void* source, std::size_t bytes) {
  cl::Event event;
  const int code = clEnqueueWriteBuffer(state_->queue(), destination.state().handle, CL_FALSE, 0,
                                        bytes, source, 0, nullptr, &event());
  check_opencl(code, state_->device, "the upload of a band");
  return Event(std::make_shared<Event::State>(Event::State{event, state_->clock_offset}));
}

Event Queue::download(const Buffer& source, void* destination, std::size_t bytes) {
  cl::Event event;
  const int code = clEnqueueReadBuffer(state_->queue(), source.state().handle, CL_FALSE, 0, bytes,
                                       destination, 0, nullptr, &event());
  check_opencl(code, state_->device, "the download of a band");
  return Event(std::make_shared<Event::State>(Event::State{event, state_->clock_offset}));
}

Event Queue::copy(const Buffer& source, const Buffer& destination, std::size_t bytes) {
  cl::Event event;
  const int code =
      clEnqueueCopyBuffer(state_->queue(), source.state().handle, destination.state().handle, 0, 0,
                          bytes, 0, nullptr, &event());
  check_opencl(code, state_->device, "a copy");
  return Event(std::make_shared<Event::State>(Event::State{event, state_->clock_offset}));
}

Event Queue::launch(const Kernel& kernel, const WorkRange& range,
                    std::span<const KernelArgument> arguments) {
  const cl::Kernel& function = kernel.state().kernel;
  const std::size_t asked = range.group_width * range.group_height;
  const KernelLimits& limits = kernel.limits();
  // A kernel whose source states the size was compiled for it, so the driver decides.
  const bool is_stated = asked == limits.stated_group;
  if (const std::size_t maximum = limits.max_work_group;
      maximum > 0 && asked > maximum && !is_stated) {
    throw DeviceError(formatted(
        "{}: {} runs with at most {} work-items a group here, not with {}x{}", state_->device,
        kernel.state().name, maximum, range.group_width, range.group_height));
  }
  cl_uint index = 0;
  for (const KernelArgument& argument : arguments) {
    const int code = clSetKernelArg(function(), index++, argument.size(), argument.data());
    check_opencl(code, state_->device, formatted("argument {} of {}", index, kernel.state().name));
  }
  const auto whole_groups = [](std::size_t items, std::size_t group) {
    return (items + group - 1) / group * group;
  };
  const std::array global{whole_groups(range.width, range.group_width),
                          whole_groups(range.height, range.group_height)};
  const std::array local{range.group_width, range.group_height};
  cl::Event event;
  const auto enqueue = [&] {
    const int code = clEnqueueNDRangeKernel(state_->queue(), function(), 2, nullptr, global.data(),
                                            local.data(), 0, nullptr, &event());
    check_opencl(code, state_->device, kernel.state().name);
  };
  if (state_->gate) {
    state_->gate->launch({kernel.state().program->key, kernel.state().name, local[0], local[1]},
                         std::max(global[0], global[1]), *state_, enqueue);
    restore_cleanup_on_signals();  // PoCL may have compiled the kernel: see ProgramBuilder::build()
  } else {
    enqueue();
  }
  return Event(std::make_shared<Event::State>(Event::State{event, state_->clock_offset}));
}

Event Queue::reclaim(const Buffer& borrowed) {
  cl::Event event;
  int code = CL_SUCCESS;
  void* mapped = clEnqueueMapBuffer(state_->queue(), borrowed.state().handle, CL_FALSE, CL_MAP_READ,
                                    0, borrowed.size(), 0, nullptr, &event(), &code);
  check_opencl(code, state_->device, "mapping a band");
  code = clEnqueueUnmapMemObject(state_->queue(), borrowed.state().handle, mapped, 0, nullptr,
                                 nullptr);
  check_opencl(code, state_->device, "unmapping a band");
  return Event(std::make_shared<Event::State>(Event::State{event, state_->clock_offset}));
}

void Queue::finish() {
  check_opencl(state_->end(), state_->device, "the work");
}

// ---- Session ----

namespace {

// The clocks of host and device run at the same rate but start at different times, so an empty
// command is timed on both.
Nanoseconds clock_offset(const cl::CommandQueue& queue) {
  cl::Event event;
  queue.enqueueMarkerWithWaitList(nullptr, &event);
  event.wait();
  return now() - static_cast<Nanoseconds>(event.getProfilingInfo<CL_PROFILING_COMMAND_END>());
}

template <typename Value>
Value kernel_info(cl_kernel kernel, cl_device_id device, cl_kernel_work_group_info what) {
  Value value{};
  const int code = clGetKernelWorkGroupInfo(kernel, device, what, sizeof value, &value, nullptr);
  return code == CL_SUCCESS ? value : Value{};
}

KernelLimits limits_of(cl_kernel kernel, cl_device_id device) {
  const auto stated =
      kernel_info<std::array<std::size_t, 3>>(kernel, device, CL_KERNEL_COMPILE_WORK_GROUP_SIZE);
  return {kernel_info<std::size_t>(kernel, device, CL_KERNEL_WORK_GROUP_SIZE),
          stated[0] * stated[1] * stated[2],
          kernel_info<cl_ulong>(kernel, device, CL_KERNEL_LOCAL_MEM_SIZE),
          kernel_info<cl_ulong>(kernel, device, CL_KERNEL_PRIVATE_MEM_SIZE)};
}

// PoCL's entries belong to the process, not to a session.
std::shared_ptr<LaunchGate> gate_for(const DeviceInfo& device) {
  static const auto gate = std::make_shared<LaunchGate>();
  return device.platform == pocl_platform ? gate : nullptr;
}

}  // namespace

Session::Session(DeviceInfo device, std::optional<ProgramCache> cache) {
  if (!device.unusable.empty())
    throw DeviceError(formatted("{}: {}", device.name, device.unusable));
  const cl::Device& handle = device.handle->device;
  try {
    int code = CL_SUCCESS;
    const cl::Context context(make_context(handle(), code));
    if (context() == nullptr) throw cl::Error(code, "clCreateContext");
    state_.reset(new State{device, context, ProgramBuilder(device, context, std::move(cache)),
                           DeviceMemory(device, context), gate_for(device)});
  } catch (const cl::Error& error) {
    throw DeviceError(
        formatted("{}: it cannot be started: {}", device.name, opencl_error_text(error.err())));
  }
}

Session::~Session() = default;

const DeviceInfo& Session::device() const {
  return state_->device;
}

Buffer Session::allocate(std::size_t bytes) {
  return state_->memory.allocate(bytes);
}

std::shared_ptr<std::uint8_t> Session::allocate_pinned(std::size_t bytes) {
  return state_->memory.allocate_pinned(bytes);
}

Buffer Session::borrow(const void* data, std::size_t bytes) {
  return state_->memory.borrow(data, bytes);
}

Queue Session::make_queue() {
  try {
    return Queue(state_->idle_queues->take([this] {
      const cl::CommandQueue queue(state_->context, state_->device.handle->device,
                                   CL_QUEUE_PROFILING_ENABLE);
      return std::make_unique<Queue::State>(queue, state_->device.name, clock_offset(queue),
                                            state_->gate, state_->idle_queues);
    }));
  } catch (const cl::Error& error) {
    throw DeviceError(
        formatted("{}: no command queue: {}", state_->device.name, opencl_error_text(error.err())));
  }
}

Kernel Session::make_kernel(const KernelRequest& request) {
  // Texts are long, and the same ones are requested again.
  const std::string key =
      to_string(content_hash(formatted("{}\n{}\n{}\n{}\n{}", request.file, request.function,
                                       request.options, request.generated, request.text)));
  auto kernel = state_->take_kernel(key);
  if (!kernel) kernel = state_->create_kernel(request);
  note_made_kernel(kernel->figures);
  return Kernel(std::shared_ptr<Kernel::State>(
      kernel.release(), [key, home = std::weak_ptr(state_->idle_kernels)](Kernel::State* raw) {
        std::unique_ptr<Kernel::State> done(raw);
        const auto idle = home.lock();
        if (!idle) return;
        const std::lock_guard lock(idle->mutex);
        idle->kernels.emplace(key, std::move(done));
      }));
}

std::unique_ptr<Kernel::State> Session::State::take_kernel(const std::string& key) const {
  const std::lock_guard lock(idle_kernels->mutex);
  auto found = idle_kernels->kernels.extract(key);
  return found ? std::move(found.mapped()) : nullptr;
}

std::unique_ptr<Kernel::State> Session::State::create_kernel(const KernelRequest& request) {
  const BuiltProgram built = builder.build(request);
  int code = CL_SUCCESS;
  cl_kernel kernel = clCreateKernel(built.program(), request.function.c_str(), &code);
  check_opencl(code, device.name, "kernel " + request.function);
  const KernelFigures figures{limits_of(kernel, device.handle->device()),
                              figures_in(built.log, request.function)};
  return std::unique_ptr<Kernel::State>(
      new Kernel::State{cl::Kernel(kernel), built.text, request.function, built.origin, figures});
}

void Session::set_tuning(std::shared_ptr<const KernelTuning> tuning) {
  state_->tuning = std::move(tuning);
}

const KernelTuning* Session::tuning() const {
  return state_->tuning.get();
}

void Session::keep_programs() {
  if (has_hung) return;
  const auto keep = [this] { state_->builder.keep(); };
  state_->gate ? state_->gate->alone(keep) : keep();
}

Buffer make_image(const Buffer& beside, std::size_t width, std::size_t height, const void* rgba) {
  constexpr cl_image_format format{CL_RGBA, CL_UNSIGNED_INT8};
  cl_image_desc shape{};
  shape.image_type = CL_MEM_OBJECT_IMAGE2D;
  shape.image_width = width;
  shape.image_height = height;
  cl_context context = nullptr;
  check_opencl(
      clGetMemObjectInfo(beside.state().handle, CL_MEM_CONTEXT, sizeof context, &context, nullptr),
      "the device", "finding a buffer's context");
  int code = CL_SUCCESS;
  // OpenCL takes no pointer to const; the bytes are only copied.
  cl_mem handle = clCreateImage(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, &format, &shape,
                                const_cast<void*>(rgba), &code);
  check_opencl(code, "the device", formatted("an image of {}x{}", width, height));
  const std::size_t bytes = 4 * width * height;
  return Buffer(std::unique_ptr<Buffer::State>(
      new Buffer::State{cl::Buffer(handle), handle, bytes, bytes, nullptr}));
}

}  // namespace gpufilter
