#include "api/call_options.hpp"

#include <algorithm>
#include <new>
#include <stdexcept>

#include "api/library_words.hpp"
#include "base/format.hpp"
#include "base/stop.hpp"
#include "base/threads.hpp"

namespace gpufilter {
namespace {

// The choices behind "on" and "off" for an option with several values: its value when written
// alone, and its value for "no effect".
std::string choice_of(const WriteOption& option, const std::string& value) {
  const auto* choice = std::get_if<WriteOption::Choice>(&option.kind);
  if (choice == nullptr || std::ranges::find(choice->names, value) != choice->names.end())
    return value;
  if (value == "on" && !choice->alone.empty()) return choice->alone;
  return value == "off" ? "never" : value;
}

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
    try {
      options.set(**option, choice_of(**option, value));
    } catch (const UsageError& error) {
      throw UsageError(formatted("{}: {}", name, error.what()));
    }
  }
  return options;
}

ReadLimits read_limits(const Limits& limits) {
  ReadLimits read;
  read.max_pixels = limits.max_pixels;
  read.max_memory = std::max(read.max_memory, limits.max_memory);
  return read;
}

OnProgress on_progress(const RunControl& control) {
  if (!control.progress) return {};
  return [&control](std::int64_t done, std::int64_t all) {
    control.progress(static_cast<double>(done) / static_cast<double>(all));
  };
}

RunOptions run_options(const FormatOptions& options, const Limits& limits,
                       const RunControl& control) {
  RunOptions run;
  run.limits = read_limits(limits);
  run.write = write_options(options, limits);
  run.max_memory = limits.max_memory;
  run.on_progress = on_progress(control);
  return run;
}

void run_limited(const Limits& limits, const RunControl& control, const std::string& name,
                 const std::function<void()>& work) {
  const auto stoppable_work = [&] {
    const StopScope scope(control.stop);
    work();
  };
  in_library_words([&] {
    try {
      if (limits.threads == 0) return stoppable_work();
      run_with_threads(static_cast<std::size_t>(limits.threads), stoppable_work);
    } catch (const std::bad_alloc&) {
      throw PictureError(name, "not enough memory for this picture");
    } catch (const std::overflow_error&) {
      throw PictureError(name, "not enough memory for this picture");
    }
  });
}

double seconds_since(Nanoseconds start) {
  return static_cast<double>(now() - start) / 1e9;
}

}  // namespace gpufilter
