// The machine that benchmarks use, and their results: a table, and the facts needed to read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "chart/svg_chart.hpp"
#include "device/kernel_figures.hpp"
#include "device/session.hpp"

namespace gpufilter::lab {

// Statistics of the trials' times, in seconds.
struct Spread {
  double mean = 0;
  double minimum = 0;
  double maximum = 0;
  double deviation = 0;  // of the sample: the divisor is one less than the number of trials
};
// At least one time.
[[nodiscard]] Spread spread_of(std::span<const double> seconds);

struct Measurement {
  Spread wall;  // on the host's clock, from the first command to the end of the last
  std::optional<Spread> events;  // by OpenCL's profiling: from the first start to the last end
  int trials = 0;                // fewer than requested if they took too long

  // By events if there are any.
  [[nodiscard]] const Spread& best_clock() const { return events ? *events : wall; }
};

// Does the work once to warm up (programs, caches, pages), then in `trials` trials, or in as many
// as fit into five seconds. If one run takes longer than that, the first run is used. Work of less
// than 2 ms is repeated within a trial; times are per repetition.
[[nodiscard]] Measurement measure(int trials, const std::function<void()>& work);

// Measures commands that `work` enqueues in `queue` and returns in order.
using QueuedWork = std::function<std::vector<Event>()>;
[[nodiscard]] Measurement measure(int trials, Queue& queue, const QueuedWork& work);

using Value = std::variant<std::monostate, std::string, double, std::int64_t>;

struct Column {
  std::string key;      // in JSON and CSV; names the unit: "mean_ms"
  std::string heading;  // in the table; empty: not shown there
  int digits = 3;       // of numbers, significant
};

// Values by the keys of columns. A row whose "bits" are `bits_differ` has failed.
using Row = std::map<std::string, Value>;

// The values of the column "bits".
inline constexpr const char* bits_equal = "equal";
inline constexpr const char* bits_differ = "DIFFER";
inline constexpr const char* bits_differ_by_design = "differ by design";
[[nodiscard]] const char* bits_of(bool equal);

struct ChartOfLines {
  std::string title;
  std::string x, y;  // keys of columns
  std::string x_label, y_label;
};

struct ChartOfBars {
  std::string title;
  std::string value;  // the key of a column; rows without it are not drawn
  std::string value_label;
  std::vector<std::string> labels;  // keys of the columns that name a bar
  std::string mark = {};            // a column: the ideal value
  std::string mark_label = {};
  std::optional<double> ceiling = {};
  std::string ceiling_label = {};
};

// The upper left corner of a matrix.
struct Corner {
  std::string name;
  std::vector<std::vector<float>> rows;
};

// A parameter of the run, or a value that applies to all rows.
struct Parameter {
  std::string name;  // in JSON
  Value value;
  std::string heading = {};  // in the text; empty: the name
  std::string unit = {};     // there, after the value
};

struct Report {
  std::string bench;  // "matmul"
  // The device that was measured; empty if only the processor was.
  std::string device, platform, driver;
  std::string processor;  // name, threads, instruction set
  std::string fallback;   // why there is no device; empty: none was expected
  std::vector<Parameter> parameters;
  std::vector<Column> columns;
  bool has_chosen_columns = false;  // by the user; otherwise the table has those that fit
  std::vector<Row> rows;
  std::vector<Corner> corners;
  std::string listing = {};  // a kernel beside what it did; in the text only
  std::vector<std::string> notes;
  std::variant<ChartOfLines, ChartOfBars, LineChart> chart;  // a LineChart is in the text too

  [[nodiscard]] bool failed() const;  // whether bits of a row differ
};

// The keys "where" of rows.
inline constexpr const char* on_processor = "processor";
inline constexpr const char* on_device = "device";

[[nodiscard]] std::vector<Column> joined(std::initializer_list<std::vector<Column>> parts);

// mean_ms, min_ms, max_ms, deviation_ms of one clock, and wall_ms.
[[nodiscard]] std::vector<Column> time_columns();
void add_times(Row& row, const Measurement& measurement);

// The number in a row's column; nothing if the column has none.
[[nodiscard]] std::optional<double> number_in(const Row& row, const std::string& key);

// The largest differences between values and the expected ones. Relative differences exclude
// expected zeros. Units in the last place (ulp) are distances between neighbouring floats at the
// expected number. A number that is not finite, unlike the expected one, is infinitely far away.
struct LargestErrors {
  double absolute = 0;
  double relative = 0;
  double ulp = 0;
};

// Both have to have the same length.
[[nodiscard]] LargestErrors largest_errors(std::span<const float> found,
                                           std::span<const double> expected);

// "max_ulp_error", "max_absolute_error", "max_relative_error".
[[nodiscard]] std::vector<Column> error_columns();
void add_errors(Row& row, const LargestErrors& errors);

// Explanation of the columns.
inline constexpr const char* note_on_errors =
    "abs, rel, ulp error: the largest differences from the result in double precision; an ulp is "
    "the "
    "distance between neighbouring floats";

// "registers", "spilled_bytes", "private_bytes", "resident_groups".
[[nodiscard]] std::vector<Column> resource_columns();

// The highest figures of the kernels, as far as the driver tells; `registers`: per compute unit.
void add_resources(Row& row, const std::vector<KernelFigures>& kernels, std::uint64_t registers);

// Keeps the columns with these keys, in this order. Throws UsageError if there is none of a key.
void choose_columns(Report& report, const std::vector<std::string>& keys);

// The device that was measured, a table of at most 80 columns unless more were chosen, notes.
[[nodiscard]] std::string bench_text(const Report& report, const std::string& date);

// One JSON object, "gpufilter-bench-1"; docs/engineering/bench.md describes it.
[[nodiscard]] std::string bench_json(const Report& report, const std::string& date);

// CSV: a line of headings and a line for each row, with benchmark, version, date and device.
[[nodiscard]] std::string bench_csv(const Report& report, const std::string& date);

// The report's chart as SVG.
[[nodiscard]] std::string bench_chart(const Report& report, const std::string& date);

// Now, in UTC: "2026-01-31T12:00:00Z".
[[nodiscard]] std::string date_now();

// Reports progress: called with a few words before each part of the work. May be empty.
using OnStep = std::function<void(const std::string& what)>;

struct TestBed {
  std::shared_ptr<Session> session;  // nullptr: the processor alone
  std::string fallback;              // why, if a device was requested
  int trials = 5;
  OnStep on_step;

  void step(const std::string& what) const {
    if (on_step) on_step(what);
  }
  // A report of this name without rows, which names device, driver and processor.
  [[nodiscard]] Report start_report(const std::string& bench) const;
};

// `request` as in choose_devices() ("cpu": no device). Programs come from the user's cache. Throws
// UsageError, and DeviceError if the device does not work and `require_device` is set.
[[nodiscard]] TestBed make_test_bed(const std::string& request, bool require_device);

// The processor's name according to the system; "processor" if unknown.
[[nodiscard]] std::string processor_name();

// Before work that takes `bytes` of the host's memory and buffers of up to `buffer_bytes` on the
// device: throws UsageError if this machine has less. `subject` is the option that needs it:
// "--sizes 16384".
void check_memory(const TestBed& bed, const std::string& subject, double bytes,
                  double buffer_bytes);

// GPUs need larger inputs to be fully used.
[[nodiscard]] bool has_gpu(const TestBed& bed);

// Bytes read and written per second.
struct CopyRates {
  double device = 0;    // by a kernel, 16 bytes a work-item; 0: there is no device
  double one_core = 0;  // of the processor
  double all_cores = 0;
};
// The rates of copies of `bytes`.
[[nodiscard]] CopyRates measure_copies(const TestBed& bed, std::size_t bytes);

// Copies words of one type from buffer to buffer.
class CopyKernel {
 public:
  // `word`: "uint", "uint2", "uint4"; `word_bytes` long.
  CopyKernel(Session& session, const char* word, std::size_t word_bytes);

  // Copies whole words only.
  Event enqueue(Queue& queue, const Buffer& source, const Buffer& target, std::size_t bytes) const;

 private:
  Kernel kernel_;
  std::size_t word_bytes_;
};

// memcpy, distributed over all allowed cores.
void copy_on_all_cores(std::uint8_t* target, const std::uint8_t* source, std::size_t bytes);

}  // namespace gpufilter::lab
