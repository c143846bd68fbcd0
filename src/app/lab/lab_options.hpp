// The options that all benchmarks share.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "app/cli/arguments.hpp"
#include "base/threads.hpp"
#include "device/session.hpp"
#include "lab/bench/benches.hpp"
#include "lab/bench/report.hpp"
#include "lab/products/low_measurements.hpp"

namespace gpufilter {

struct BenchOptions {
  std::string device = "opencl";
  bool require_device = false;
  int trials = 5;
  int threads = 0;  // 0: all cores
  bool json = false;
  bool csv = false;
  bool quiet = false;
  std::vector<std::string> columns;  // of the table; empty: those that fit
  std::string plot;                  // file; empty: none
};

// The command line of a benchmark, whose own options are declared first.
class BenchCommand {
 public:
  // `name` is what follows "gpufilter bench". `device`: the default.
  BenchCommand(const std::string& description, const std::string& name, const std::string& footer,
               const std::string& device = BenchOptions().device)
      : app(description, "gpufilter bench " + name) {
    app.footer(footer);
    options.device = device;
  }

  // Declares the options that all share, and parses. Returns an exit code if nothing is left to do.
  [[nodiscard]] std::optional<int> parse(int argc, const char* const* argv);

  // Measures on the requested device, with progress on standard error if that is a terminal; prints
  // and draws. Returns the exit code. Throws what make_test_bed() throws.
  [[nodiscard]] int finish(const std::function<lab::Report(const lab::TestBed&)>& measure) const;

  Arguments app;
  BenchOptions options;
};

// A list of whole numbers separated by commas, each of which `check` accepts.
void add_numbers(Arguments& app, const std::string& name, std::vector<int>& numbers,
                 const ValueCheck& check, const std::string& help);

// Declares --type, whose values `types` holds from the start.
void add_number_types(Arguments& app, std::vector<std::string>& types);
class LowPrecisionOptions {
 public:
  // Declares them; has to live until the command line has been parsed.
  explicit LowPrecisionOptions(Arguments& app);

  // After parsing: whether anything but float32 in dense matrices is to be multiplied.
  [[nodiscard]] bool is_requested() const;
  // `sides` and `shapes`: of --sizes and --shapes. Throws UsageError if other options do not go
  // with these.
  [[nodiscard]] lab::LowMatmulOptions chosen(const Arguments& app, const std::vector<int>& sides,
                                             const std::vector<MatrixShape>& shapes) const;

 private:
  std::vector<std::string> types_{"float32"};
  std::string grouping_ = "dense";
  int groups_ = 4;
};

// --device for a command that works on every device unless one is chosen. With `has_processor` it
// may also be "cpu", the processor alone.
void add_devices_choice(Arguments& app, std::string& device, bool has_processor);

// STAGE...: the stages that such a command works on; `verb` says what it does with them.
void add_stage_names(Arguments& app, std::vector<std::string>& stages, const std::string& verb);

// --channels and --depth.
void add_formats_choice(Arguments& app, std::optional<int>& channels, std::optional<int>& depth);

// The devices for `request`, started: "all" (all that work; others are skipped with a warning),
// "cpu" (none), or a value that --device takes elsewhere. Throws DeviceError if a requested device
// does not exist or does not start.
[[nodiscard]] std::vector<std::shared_ptr<Session>> start_devices(const std::string& request);

}  // namespace gpufilter
