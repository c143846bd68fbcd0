#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "device/session.hpp"
#include "lab/bench/array_reduction.hpp"
#include "lab/bench/benches.hpp"
#include "lab/bench/report.hpp"
#include "lab/lab_kernels.hpp"
#include "lab/random_data.hpp"

namespace gpufilter::lab {
namespace {

enum class Operation { sum, product, minimum, maximum, bit_and, bit_or, bit_xor };

// Enough work-items to hide memory's latency, whatever the size of groups.
constexpr std::size_t items_a_unit = 2048;

struct Macros {
  const char* combine;
  const char* total;          // the type of totals of integers
  const char* neutral;        // for integers
  const char* float_neutral;  // nullptr: not for floats
};

const Macros& macros_of(Operation operation) {
  static constexpr std::array macros{
      Macros{"ADD", "long", "0", "0"},
      Macros{"MULTIPLY", "long", "1", "1"},
      Macros{"MINIMUM", "int", "INT_MAX", "INFINITY"},
      Macros{"MAXIMUM", "int", "INT_MIN", "-INFINITY"},
      Macros{"AND", "int", "-1", nullptr},
      Macros{"OR", "int", "0", nullptr},
      Macros{"XOR", "int", "0", nullptr},
  };
  return macros.at(static_cast<std::size_t>(operation));
}

bool is_wide(Operation operation) {
  return operation == Operation::sum || operation == Operation::product;
}

std::string options_of(Operation operation, bool of_floats, std::size_t group_size) {
  const Macros& macros = macros_of(operation);
  return formatted("-D COMBINE={} -D VALUE={} -D TOTAL={} -D NEUTRAL={} -D GROUP_WIDTH={}",
                   macros.combine, of_floats ? "float" : "int", of_floats ? "float" : macros.total,
                   of_floats ? macros.float_neutral : macros.neutral, group_size);
}

template <typename Total>
Total combined(Operation operation, const std::vector<Total>& totals) {
  Total result = totals.front();
  for (std::size_t i = 1; i < totals.size(); ++i) {
    const Total next = totals[i];
    if (operation == Operation::sum) result += next;
    if (operation == Operation::product) result *= next;
    if (operation == Operation::minimum) result = std::min(result, next);
    if (operation == Operation::maximum) result = std::max(result, next);
    if constexpr (!std::is_floating_point_v<Total>) {
      if (operation == Operation::bit_and) result &= next;
      if (operation == Operation::bit_or) result |= next;
      if (operation == Operation::bit_xor) result ^= next;
    }
  }
  return result;
}

void check_group(const DeviceInfo& device, std::size_t group_size) {
  if (device.fits(group_size, 1, group_size * sizeof(std::uint64_t))) return;
  throw UsageError(formatted("{}: takes no work-groups of {}", device.name, group_size));
}

const char* to_string(Operation operation) {
  static constexpr std::array names{"sum", "product", "minimum", "maximum", "and", "or", "xor"};
  return names.at(static_cast<std::size_t>(operation));
}

class GroupReduction {
 public:
  // Reduces int32 values, or float32 values, for which there are no bit operations. Throws
  // UsageError if the device does not support groups of that size.
  GroupReduction(Session& session, Operation operation, bool of_floats, int group_size)
      : operation_(operation),
        group_size_(static_cast<std::size_t>(group_size)),
        groups_(std::max<std::size_t>(
            1, std::max(session.device().compute_units, 1U) * items_a_unit / group_size_)),
        kernel_((check_group(session.device(), group_size_),
                 session.make_kernel({.file = "reduce_in_groups.cl",
                                      .function = "reduce_in_groups",
                                      .options = options_of(operation, of_floats, group_size_),
                                      .text = lab_kernels().at("reduce_in_groups.cl")}))),
        totals_(session.allocate(groups_ * sizeof(std::uint64_t))) {}

  Event enqueue(Queue& queue, const Buffer& values, std::size_t count) {
    return queue.launch(kernel_, {groups_ * group_size_, 1, group_size_, 1},
                        {values, static_cast<std::int32_t>(count), totals_});
  }

  // The result of the last run. Integers: as IntegerTotals holds them, in 64 bits. Floats: a float,
  // added in an order that depends on the size of groups.
  [[nodiscard]] std::uint64_t integer(Queue& queue) const {
    // The kernel's values are signed, but sums and products may overflow 64 bits, which is defined
    // only for unsigned ones.
    if (is_wide(operation_)) return combined(operation_, totals<std::uint64_t>(queue));
    const std::int32_t result = combined(operation_, totals<std::int32_t>(queue));
    const bool has_sign = operation_ == Operation::minimum || operation_ == Operation::maximum;
    return has_sign ? static_cast<std::uint64_t>(std::int64_t{result})
                    : static_cast<std::uint32_t>(result);
  }

  [[nodiscard]] float number(Queue& queue) const {
    return combined(operation_, totals<float>(queue));
  }

 private:
  template <typename Total>
  [[nodiscard]] std::vector<Total> totals(Queue& queue) const {
    std::vector<Total> totals(groups_);
    queue.download(totals_, totals.data(), totals.size() * sizeof(Total));
    queue.finish();
    return totals;
  }

  Operation operation_;
  std::size_t group_size_;
  std::size_t groups_;
  Kernel kernel_;
  Buffer totals_;
};

constexpr std::array operations{Operation::sum,     Operation::product, Operation::minimum,
                                Operation::maximum, Operation::bit_and, Operation::bit_or,
                                Operation::bit_xor};
constexpr std::array paths{ReductionPath::serial, ReductionPath::local_memory,
                           ReductionPath::sub_groups, ReductionPath::nvidia};

// Odd, so that products modulo 2^64 do not become 0; of 18 bits, so that sums of squares fit.
std::vector<std::int32_t> random_integers(std::size_t count) {
  std::vector<std::int32_t> values(count);
  fill_randomly(reinterpret_cast<std::uint8_t*>(values.data()), 4 * count, 3);
  for (std::int32_t& value : values)
    value = value >> 14 | 1;
  return values;
}

// Near 1, so that products stay finite.
std::vector<float> random_floats(std::size_t count) {
  std::vector<float> numbers(count);
  const std::vector<std::int32_t> integers = random_integers(count);
  for (std::size_t i = 0; i < count; ++i)
    numbers[i] = 1 + static_cast<float>(integers[i]) * 0x1p-30F;
  return numbers;
}

// In double precision, of the quantities that floats are added up or multiplied for.
struct DoubleTotals {
  double sum = 0;
  double sum_of_squares = 0;
  double product = 1;
};

DoubleTotals totals_in_double(const std::vector<float>& numbers) {
  DoubleTotals totals;
  for (const double number : numbers) {
    totals.sum += number;
    totals.sum_of_squares += number * number;
    totals.product *= number;
  }
  return totals;
}

LargestErrors errors_of(const FloatTotals& totals, const DoubleTotals& expected) {
  return largest_errors(std::array{totals.sum, totals.sum_of_squares, totals.product},
                        std::array{expected.sum, expected.sum_of_squares, expected.product});
}

bool same_bits(const FloatTotals& a, const FloatTotals& b) {
  using Bits = std::array<std::uint32_t, 5>;
  return std::bit_cast<Bits>(a) == std::bit_cast<Bits>(b);
}

std::uint64_t of(const IntegerTotals& totals, Operation operation) {
  const std::array<std::uint64_t, 7> values{
      static_cast<std::uint64_t>(totals.sum),
      totals.product,
      static_cast<std::uint64_t>(std::int64_t{totals.minimum}),
      static_cast<std::uint64_t>(std::int64_t{totals.maximum}),
      totals.bit_and,
      totals.bit_or,
      totals.bit_xor};
  return values.at(static_cast<std::size_t>(operation));
}

float of(const FloatTotals& totals, Operation operation) {
  const std::array values{totals.sum, totals.product, totals.minimum, totals.maximum};
  return values.at(static_cast<std::size_t>(operation));
}

std::string text_of(std::uint64_t value, Operation operation) {
  const bool has_sign = operation == Operation::sum || operation == Operation::minimum ||
                        operation == Operation::maximum;
  return has_sign ? formatted("{}", static_cast<std::int64_t>(value)) : formatted("{:#x}", value);
}

// All rows of one number of values.
class ReduceBench {
 public:
  ReduceBench(const TestBed& bed, const ReduceOptions& options, std::size_t count, Report& report)
      : bed_(bed),
        options_(options),
        report_(report),
        count_(count),
        integers_(random_integers(count)),
        floats_(random_floats(count)),
        integer_totals_(reduce_integers(integers_)),
        float_totals_(reduce_floats(floats_)),
        double_totals_(totals_in_double(floats_)) {}

  void run() {
    measure_host();
    if (bed_.session) measure_device();
  }

 private:
  // Missing features of the device are the same for every count.
  void add_note_once(const std::string& note) {
    auto& notes = report_.notes;
    if (std::find(notes.begin(), notes.end(), note) == notes.end()) notes.push_back(note);
  }

  Row& add_row(const char* type, const std::string& operation, const std::string& path,
               const char* where, const Measurement& measurement, const char* bits) {
    const double seconds = measurement.best_clock().mean;
    Row row{{"count", static_cast<std::int64_t>(count_)},
            {"type", std::string(type)},
            {"operation", operation},
            {"path", path},
            {"where", std::string(where)},
            {"gbytes_per_s", 4e-9 * static_cast<double>(count_) / seconds},
            {"bits", std::string(bits)}};
    add_times(row, measurement);
    return report_.rows.emplace_back(std::move(row));
  }

  void measure_host() {
    bed_.step("reductions by the processor");
    IntegerTotals integers;
    const auto of_integers = measure(bed_.trials, [&] { integers = reduce_integers(integers_); });
    add_row("int", "all", "reference", on_processor, of_integers,
            bits_of(integers == integer_totals_));
    FloatTotals floats;
    const auto of_floats = measure(bed_.trials, [&] { floats = reduce_floats(floats_); });
    Row& row = add_row("float", "all", "reference, tree", on_processor, of_floats,
                       bits_of(same_bits(floats, float_totals_)));
    add_errors(row, errors_of(floats, double_totals_));
  }

  void measure_device() {
    Session& session = *bed_.session;
    Queue queue = session.make_queue();
    const Buffer integers = session.allocate(4 * count_);
    const Buffer floats = session.allocate(4 * count_);
    queue.upload(integers, integers_.data(), 4 * count_);
    queue.upload(floats, floats_.data(), 4 * count_);
    queue.finish();
    for (const ReductionPath path : paths) {
      const std::string why_not = objection(session.device(), path);
      if (!why_not.empty()) {
        add_note_once(formatted("{}: the device {}", to_string(path), why_not));
        continue;
      }
      measure_path(path, queue, integers, floats);
    }
    for (const int group_size : options_.group_sizes)
      measure_group(Operation::sum, group_size, queue, integers);
    for (const Operation operation : operations)
      if (operation != Operation::sum) measure_group(operation, 64, queue, integers);
    for (const Operation operation :
         {Operation::sum, Operation::product, Operation::minimum, Operation::maximum})
      measure_float_group(operation, 64, queue, floats);
  }

  void measure_path(ReductionPath path, Queue& queue, const Buffer& integers,
                    const Buffer& floats) {
    bed_.step(formatted("reductions, {}", to_string(path)));
    IntegerReducer of_integers(*bed_.session, path);
    IntegerTotals totals;
    const auto integer_times = measure(bed_.trials, queue, [&] {
      totals = of_integers.reduce(queue, integers, count_);
      return of_integers.launches();
    });
    add_row("int", "all", to_string(path), on_device, integer_times,
            bits_of(totals == integer_totals_));
    FloatReducer of_floats(*bed_.session, path);
    FloatTotals float_totals;
    const auto float_times = measure(bed_.trials, queue, [&] {
      float_totals = of_floats.reduce(queue, floats, count_);
      return of_floats.launches();
    });
    Row& row = add_row("float", "all", formatted("{}, tree", to_string(path)), on_device,
                       float_times, bits_of(same_bits(float_totals, float_totals_)));
    add_errors(row, errors_of(float_totals, double_totals_));
  }

  void measure_group(Operation operation, int group_size, Queue& queue, const Buffer& values) {
    try {
      GroupReduction reduction(*bed_.session, operation, false, group_size);
      const auto times = measure(bed_.trials, queue, [&] {
        return std::vector{reduction.enqueue(queue, values, count_)};
      });
      const std::uint64_t result = reduction.integer(queue);
      Row& row = add_row("int", to_string(operation), formatted("groups of {}", group_size),
                         on_device, times, bits_of(result == of(integer_totals_, operation)));
      row["result"] = text_of(result, operation);
    } catch (const UsageError& error) {
      add_note_once(error.what());
    }
  }

  void measure_float_group(Operation operation, int group_size, Queue& queue,
                           const Buffer& values) {
    GroupReduction reduction(*bed_.session, operation, true, group_size);
    const auto times = measure(
        bed_.trials, queue, [&] { return std::vector{reduction.enqueue(queue, values, count_)}; });
    const float result = reduction.number(queue);
    const bool equal = result == of(float_totals_, operation);
    const bool in_any_order = operation == Operation::sum || operation == Operation::product;
    Row& row =
        add_row("float", to_string(operation), formatted("groups of {}", group_size), on_device,
                times, !equal && in_any_order ? bits_differ_by_design : bits_of(equal));
    row["result"] = formatted("{:.9g}", result);
    if (operation == Operation::sum)
      add_errors(row, largest_errors(std::array{result}, std::array{double_totals_.sum}));
    if (operation == Operation::product)
      add_errors(row, largest_errors(std::array{result}, std::array{double_totals_.product}));
  }

  const TestBed& bed_;
  const ReduceOptions& options_;
  Report& report_;
  std::size_t count_;
  std::vector<std::int32_t> integers_;
  std::vector<float> floats_;
  IntegerTotals integer_totals_;
  FloatTotals float_totals_;
  DoubleTotals double_totals_;
};

// Sums of `count` times 1.1, which is not a float, in every order.
class AccuracyBench {
 public:
  AccuracyBench(const TestBed& bed, std::size_t count, Report& report)
      : bed_(bed),
        report_(report),
        values_(count, 1.1F),
        exact_(exact_sum(values_.front(), count)) {}

  void run() {
    for (const FloatSum& sum : float_sums()) {
      bed_.step(formatted("sums of 1.1, {}", sum.name));
      double found = 0;
      const auto times = measure(bed_.trials, [&] { found = sum.run(values_); });
      add_times(add_row(sum.name, on_processor, found), times);
    }
    if (bed_.session) run_on_device();
    add_row("exact", "", exact_);
  }

 private:
  Row& add_row(const std::string& path, const std::string& where, double sum) {
    Row row{{"count", static_cast<std::int64_t>(values_.size())},
            {"type", std::string("float")},
            {"operation", std::string("sum of 1.1")},
            {"path", path},
            {"where", where},
            {"result", formatted("{:.12g}", sum)}};
    add_errors(row, largest_errors(std::array{static_cast<float>(sum)}, std::array{exact_}));
    return report_.rows.emplace_back(std::move(row));
  }

  void run_on_device() {
    bed_.step("sums of 1.1 by the device");
    const std::size_t bytes = values_.size() * sizeof(float);
    Queue queue = bed_.session->make_queue();
    const Buffer values = bed_.session->allocate(bytes);
    queue.upload(values, values_.data(), bytes);
    queue.finish();
    FloatReducer reducer(*bed_.session);
    float found = 0;
    const auto times = measure(bed_.trials, queue, [&] {
      found = reducer.reduce(queue, values, values_.size()).sum;
      return reducer.launches();
    });
    Row& row = add_row("tree", on_device, found);
    add_times(row, times);
    row["bits"] = std::string(bits_of(found == reduce_floats(values_).sum));
  }

  const TestBed& bed_;
  Report& report_;
  std::vector<float> values_;
  double exact_;
};

}  // namespace

Report bench_reduce(const TestBed& bed, const ReduceOptions& options) {
  Report report = bed.start_report("reduce");
  report.columns = joined({{{"count", "values"},
                            {"type", "type"},
                            {"operation", "operation"},
                            {"path", "path"},
                            {"where", "where"}},
                           time_columns(),
                           {{"gbytes_per_s", "GB/s", 4}, {"result", "result"}, {"bits", "bits"}},
                           error_columns()});
  report.chart = ChartOfBars{.title = "Reductions",
                             .value = "gbytes_per_s",
                             .value_label = "GB/s",
                             .labels = {"count", "type", "operation", "path"}};
  for (const std::uint64_t each : options.counts) {
    const double bytes = 4.0 * static_cast<double>(each);
    check_memory(bed, formatted("--counts {}", each), 3 * bytes, bytes);
  }
  for (const std::uint64_t each : options.counts) {
    const auto count = static_cast<std::size_t>(each);
    if (!options.accuracy_alone) ReduceBench(bed, options, count, report).run();
    AccuracyBench(bed, count, report).run();
  }
  if (options.accuracy_alone) {
    report.chart = ChartOfBars{.title = "Errors of sums of 1.1",
                               .value = "max_ulp_error",
                               .value_label = "units in the last place of a float",
                               .labels = {"count", "path"}};
    report.notes.emplace_back(note_on_errors);
    return report;
  }
  report.notes.emplace_back(
      "all: sum, sum of squares, product, minimum and maximum in one pass, for integers also and, "
      "or, xor");
  report.notes.emplace_back(
      "groups of N: the textbook kernel for one operation, with local memory");
  report.notes.emplace_back(note_on_errors);
  return report;
}

}  // namespace gpufilter::lab
