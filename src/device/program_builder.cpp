#include "device/program_builder.hpp"

#include <sstream>

#include "base/content_hash.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/log.hpp"
#include "base/signal_cleanup.hpp"
#include "device/device_handle.hpp"
#include "device/kernel_figures.hpp"
#include "device/kernel_source.hpp"
#include "device/ptx_target.hpp"

namespace gpufilter {
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

// PoCL compiles every kernel of a program when asked for its binary, which takes a tenth of a
// second each.
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
void log_lines(const std::string& file, const std::string& compiler_log) {
  std::istringstream lines(compiler_log);
  for (std::string line; std::getline(lines, line);)
    log::debug(formatted("{}: compiler: {}", file, line));
}

}  // namespace

std::string ProgramBuilder::key(const ProgramText& text) const {
  return formatted("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}", GPUFILTER_VERSION, device_.name,
                   device_.vendor, device_.device_version, device_.driver_version, device_.platform,
                   device_.platform_version, text.options, text.source);
}

std::optional<cl::Program> ProgramBuilder::from_cache(const std::string& key,
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

// Only NVIDIA's says anything about the kernels.
std::string ProgramBuilder::kept_log(const std::string& key) const {
  if (device_.compute_capability == 0) return "";
  const auto log = cache_->load(log_key(key));
  return log ? std::string(log->begin(), log->end()) : "";
}

BuiltProgram ProgramBuilder::from_source(const std::string& file,
                                         std::shared_ptr<const ProgramText> text) const {
  try {
    cl::Program program(context_, text->source);
    program.build(text->options.c_str());
    std::string log = program.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device_.handle->device);
    log_lines(file, log);
    if (!has_hidden_instructions(text->source))
      return {program, ProgramOrigin::compiled, std::move(text), std::move(log)};
    // NVIDIA's driver hands out PTX, and takes it.
    const auto binary = program.getInfo<CL_PROGRAM_BINARIES>().at(0);
    const auto ptx = with_hidden_instructions({binary.begin(), binary.end()});
    if (!ptx) throw DeviceError(formatted("{}: {} needs PTX for sm_90", device_.name, file));
    cl::Program complete(context_, {device_.handle->device}, {{ptx->begin(), ptx->end()}});
    complete.build(verbosity_of(device_).c_str());
    log = complete.getBuildInfo<CL_PROGRAM_BUILD_LOG>(device_.handle->device);
    log_lines(file, log);
    return {complete, ProgramOrigin::compiled, std::move(text), std::move(log)};
  } catch (const cl::BuildError& error) {
    const auto logs = error.getBuildLog();
    const std::string log = logs.empty() ? "" : logs.front().second;
    log_lines(file, log);
    throw DeviceError(formatted("{}: {} does not compile: {}", device_.name, kernel_path(file),
                                first_complaint(log)));
  } catch (const cl::Error& error) {
    throw DeviceError(formatted("{}: {} does not compile: {}", device_.name, kernel_path(file),
                                opencl_error_text(error.err())));
  }
}

BuiltProgram ProgramBuilder::build(const KernelRequest& request) {
  auto text = std::make_shared<ProgramText>();
  text->source = request.text.empty() ? kernel_source(request.file, request.generated)
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
    entry->built = from_source(request.file, text);
  }
  // Compilers made of LLVM take some signals for themselves.
  restore_cleanup_on_signals();
  log::debug(formatted("{}: {} of {} ({}): {} in {:.1f} ms", device_.name, request.function,
                       request.file, text->options, to_string(entry->built->origin),
                       static_cast<double>(now() - begin) / 1e6));
  return *entry->built;
}

std::shared_ptr<ProgramBuilder::Entry> ProgramBuilder::entry_of(const std::string& full_key) {
  const std::lock_guard lock(*mutex_);
  std::shared_ptr<Entry>& entry = programs_[full_key];
  if (!entry) entry = std::make_shared<Entry>();
  return entry;
}

void ProgramBuilder::keep() {
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
      log::debug(formatted("{}: the driver does not hand out a compiled program: {}", device_.name,
                           opencl_error_text(error.err())));
    }
  }
}

std::unique_lock<std::mutex> ProgramBuilder::compile_lock() const {
  return compiles_alone_ ? std::unique_lock(*compiling_) : std::unique_lock<std::mutex>();
}

}  // namespace gpufilter
