#include "api/call_options.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/thread_limit.hpp"
#include "pipeline/memory_call.hpp"

namespace gpufilter {
namespace {

class StoppableSource final : public ByteSource {
 public:
  StoppableSource(std::unique_ptr<ByteSource> source, std::stop_token stop)
      : source_(std::move(source)), stop_(std::move(stop)) {}

  [[nodiscard]] const std::string& name() const override { return source_->name(); }
  std::size_t read(std::span<std::uint8_t> buffer) override {
    check_stop(stop_);
    return source_->read(buffer);
  }
  void skip(std::uint64_t count) override { source_->skip(count); }
  std::span<const std::uint8_t> peek(std::size_t count) override { return source_->peek(count); }
  [[nodiscard]] std::optional<std::uint64_t> size() const override { return source_->size(); }
  std::size_t read_at(std::uint64_t offset, std::span<std::uint8_t> buffer) override {
    check_stop(stop_);
    return source_->read_at(offset, buffer);
  }

 private:
  std::unique_ptr<ByteSource> source_;
  std::stop_token stop_;
};

class StoppableSink final : public ByteSink {
 public:
  StoppableSink(std::unique_ptr<ByteSink> sink, std::stop_token stop)
      : sink_(std::move(sink)), stop_(std::move(stop)) {}

  [[nodiscard]] const std::string& name() const override { return sink_->name(); }
  void write(std::span<const std::uint8_t> bytes) override {
    check_stop(stop_);
    sink_->write(bytes);
  }
  void commit() override {
    check_stop(stop_);
    sink_->commit();
  }
  [[nodiscard]] std::uint64_t bytes_written() const override { return sink_->bytes_written(); }

 private:
  std::unique_ptr<ByteSink> sink_;
  std::stop_token stop_;
};

}  // namespace

WriteOptions write_options(const FormatOptions& given, const Limits& limits) {
  WriteOptions options;
  options.limit_memory(read_limits(limits).max_memory);
  const auto known = all_write_options();
  for (const auto& [name, value] : given) {
    const auto option = std::find_if(
        known.begin(), known.end(),
        [&name = name](const WriteOption* candidate) { return candidate->name == name; });
    if (option == known.end())
      throw UsageError(formatted("'{}' is not an option of a format", name));
    options.set(**option, value);
  }
  return options;
}

ReadLimits read_limits(const Limits& limits) {
  ReadLimits read;
  read.max_pixels = limits.max_pixels;
  read.max_memory = std::max(read.max_memory, limits.max_memory);
  return read;
}

std::unique_ptr<ByteSource> stoppable(std::unique_ptr<ByteSource> source,
                                      const std::stop_token& stop) {
  if (!stop.stop_possible()) return source;
  return std::make_unique<StoppableSource>(std::move(source), stop);
}

std::unique_ptr<ByteSink> stoppable(std::unique_ptr<ByteSink> sink, const std::stop_token& stop) {
  if (!stop.stop_possible()) return sink;
  return std::make_unique<StoppableSink>(std::move(sink), stop);
}

OnProgress on_progress(const RunControl& control) {
  if (!control.progress && !control.stop.stop_possible()) return {};
  return [&control](std::int64_t done, std::int64_t all) {
    check_stop(control.stop);
    if (control.progress) control.progress(static_cast<double>(done) / static_cast<double>(all));
  };
}

RunOptions run_options(const FormatOptions& options, const Limits& limits,
                       const RunControl& control) {
  RunOptions run;
  run.limits = read_limits(limits);
  run.write = write_options(options, limits);
  run.max_memory = limits.max_memory;
  run.on_progress = on_progress(control);
  if (!control.stop.stop_possible()) return run;
  run.open_input = [stop = control.stop](const std::string& path) {
    return stoppable(open_source(path), stop);
  };
  run.open_output = [stop = control.stop](const std::string& path) {
    return stoppable(open_sink(path), stop);
  };
  return run;
}

void run_limited(const Limits& limits, const std::string& name, const std::function<void()>& work) {
  try {
    if (limits.threads == 0) return work();
    run_with_threads(static_cast<std::size_t>(limits.threads), work);
  } catch (const std::bad_alloc&) {
    throw PictureError(name, "not enough memory for this picture");
  } catch (const std::overflow_error&) {
    throw PictureError(name, "not enough memory for this picture");
  }
}

double seconds_since(Nanoseconds start) {
  return static_cast<double>(now() - start) / 1e9;
}

}  // namespace gpufilter
