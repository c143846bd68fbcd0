// "gpufilter bench matmul --type": products of low-precision numbers.
#include <algorithm>
#include <array>
#include <fstream>
#include <optional>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/installed_files.hpp"
#include "lab/bench/report.hpp"
#include "lab/products/low_measurements.hpp"
#include "lab/products/sampled_errors.hpp"

namespace gpufilter::lab {
namespace {

// Beyond these operations one core would take many seconds.
constexpr double maximum_operations_of_one_core = 2.0 * 2048 * 2048 * 2048;

LowShape low_shape(const LowMatmulOptions& options, const MatrixShape& shape) {
  return {static_cast<std::size_t>(shape.rows), static_cast<std::size_t>(shape.columns),
          static_cast<std::size_t>(shape.depth), options.grouping,
          static_cast<std::size_t>(options.groups)};
}

// A shape in the words of --shapes.
std::string text_of(const LowShape& shape) {
  return formatted("{}x{}x{}", shape.rows, shape.columns, shape.depth);
}

// The free memory of the system, in bytes; nothing if it does not tell.
std::optional<std::uint64_t> available_memory() {
  std::ifstream file("/proc/meminfo");
  std::uint64_t kilobytes = 0;
  for (std::string word; file >> word;) {
    if (word == "MemAvailable:" && file >> kilobytes) return kilobytes * 1024;
  }
  return std::nullopt;
}

// Nothing is measured before all of it has been found possible.
void check_all(const TestBed& bed, const LowMatmulOptions& options) {
  const auto available = available_memory();
  for (const MatrixShape& each : options.shapes) {
    const LowShape shape = low_shape(options, each);
    check(shape);
    for (const NumberType type : options.types) {
      // C is held three times, by the processor, by the device and as the reference; A also as
      // prepared.
      const double needed = 3 * static_cast<double>(bytes_needed(type, shape));
      if (available && needed > static_cast<double>(*available)) {
        throw UsageError(formatted(
            "bench matmul: {} of {} takes {:.0f} MB here, {:.0f} MB are free; use smaller "
            "matrices",
            text_of(shape), to_string(type), needed * 1e-6,
            static_cast<double>(*available) * 1e-6));
      }
      if (bed.session) check_memory(bed.session->device(), type, shape);
    }
  }
}

// All rows of one type and size.
class TypeBench {
 public:
  TypeBench(const TestBed& bed, NumberType type, const LowShape& shape, Report& report)
      : bed_(bed),
        report_(report),
        product_((bed.step(formatted("{} {}: numbers", to_string(type), text_of(shape))),
                  LowProduct(type, shape))) {
    fill(product_);
    errors_.emplace(product_);
    bed_.step(formatted("{} {}: reference", to_string(type), text_of(shape)));
    reference_ = reference_low_product(product_);
  }

  void run() {
    for (const HostMethod& method : host_methods(product_.type())) {
      if (method.cores == Cores::one && product_.operations() > maximum_operations_of_one_core) {
        left_out_ = true;
        continue;
      }
      measure_host(method);
    }
    if (bed_.session) measure_device();
  }
  // Whether rows for one core are missing because they would take long.
  [[nodiscard]] bool left_out() const { return left_out_; }
  // Whether there is a row of what `gpufilter tune` found.
  [[nodiscard]] bool has_tuned() const { return has_tuned_; }

 private:
  [[nodiscard]] std::string step(const std::string& name) const {
    return formatted("{} {}: {}", to_string(product_.type()), text_of(product_.shape), name);
  }

  Row& add_row(const std::string& kernel, const std::string& where, const std::string& variant,
               const Measurement& measurement, const std::vector<std::uint32_t>& c, bool is_exact) {
    const LowShape& shape = product_.shape;
    Row row{{"type", std::string(to_string(product_.type()))},
            {"shape", text_of(shape)},
            {"grouping", std::string(to_string(shape.grouping))},
            {"groups", static_cast<std::int64_t>(shape.groups)},
            {"kernel", kernel},
            {"where", where},
            {"variant", variant}};
    add_times(row, measurement);
    row["tops"] = product_.operations() / measurement.best_clock().mean * 1e-12;
    row["tops_wall"] = product_.operations() / measurement.wall.mean * 1e-12;
    const bool equal = has_reference_bits(c);
    const ProductErrors errors = errors_->of(c);
    // False for NaN, too.
    const bool is_close = errors.of_sums <= largest_error_of_sums;
    row["bits"] =
        std::string(!equal && !is_exact && is_close ? bits_differ_by_design : bits_of(equal));
    row["error"] = errors.rms;
    row["largest_error"] = errors.largest;
    row["error_of_sums"] = errors.of_sums;
    return report_.rows.emplace_back(std::move(row));
  }

  // In the rows that are in use.
  [[nodiscard]] bool has_reference_bits(const std::vector<std::uint32_t>& c) const {
    const std::size_t columns = product_.shape.columns;
    const auto parts = product_.parts();
    return std::all_of(parts.begin(), parts.end(), [&](const ProductPart& part) {
      const auto first = static_cast<std::ptrdiff_t>(part.a_row * columns);
      const auto last = static_cast<std::ptrdiff_t>((part.a_row + part.rows) * columns);
      return std::equal(c.begin() + first, c.begin() + last, reference_.begin() + first);
    });
  }

  void measure_host(const HostMethod& method) {
    bed_.step(step(method.name));
    std::vector<std::uint32_t> c(product_.elements(), 0x7fc00001);
    const Measurement measurement = measure(
        bed_.trials, [&] { multiply_on_host(product_, method.engine, method.cores, c.data()); });
    add_row(method.name, on_processor, method.about, measurement, c, true);
  }

  void measure_device() {
    Queue queue = bed_.session->make_queue();
    const DeviceLowProduct operands(*bed_.session, queue, product_);
    const auto measure = [&](const DeviceMethod& method, const std::string& name,
                             const std::string& variant) {
      try {
        measure_method(method, name, variant, operands, queue);
      } catch (const DeviceError& error) {
        report_.notes.push_back(formatted("{} is left out: {}", step(name), error.what()));
      }
    };
    for (const DeviceMethod& method : device_methods(bed_.session->device(), product_.type()))
      measure(method, method.name(), method.description());
    const ChosenMethod tuned = chosen_method(*bed_.session, product_.type(), product_.shape);
    if (tuned.reason.empty()) return;  // nothing was tuned
    has_tuned_ = true;
    measure(tuned.method, "tuned",
            formatted("{}: {}; {}", tuned.method.name(), tuned.method.description(), tuned.reason));
  }

  void measure_method(const DeviceMethod& method, const std::string& name,
                      const std::string& variant, const DeviceLowProduct& operands, Queue& queue) {
    bed_.step(step(name));
    static_cast<void>(take_made_kernels());
    const Kernel kernel = operands.make_kernel(*bed_.session, method);
    const std::vector<KernelFigures> figures = take_made_kernels();
    operands.poison(queue);
    const Measurement measurement = measure(
        bed_.trials, queue, [&] { return std::vector{operands.enqueue(queue, kernel, method)}; });
    Row& row =
        add_row(name, on_device, variant, measurement, operands.result(queue), method.is_exact);
    add_resources(row, figures, registers_of(bed_.session->device()));
  }

  const TestBed& bed_;
  Report& report_;
  LowProduct product_;
  std::optional<SampledErrors> errors_;
  std::vector<std::uint32_t> reference_;
  bool left_out_ = false;
  bool has_tuned_ = false;
};

std::vector<Column> low_matmul_columns() {
  return joined({{{"type", "type"},
                  {"shape", "shape"},
                  {"grouping", ""},
                  {"groups", ""},
                  {"kernel", "kernel"},
                  {"where", ""}},
                 time_columns(),
                 {{"tops", "TOP/s", 4},
                  {"tops_wall", "by wall", 4},
                  {"bits", "bits"},
                  {"error", "error", 2},
                  {"largest_error", "largest", 2},
                  {"error_of_sums", "of sums", 2}},
                 resource_columns(),
                 {{"variant", "variant"}}});
}

void add_notes(const TestBed& bed, const LowMatmulOptions& options, bool has_tuned,
               Report& report) {
  report.notes.emplace_back(
      formatted("bits: compared with the chain that {} defines for the type; tensor cores add "
                "products of floats in their own order",
                documentation_page("engineering/bench.md")));
  report.notes.emplace_back(
      "error: root mean square against the product in double precision of the numbers before they "
      "were rounded to the type, relative to that of the elements; largest: the largest "
      "difference, likewise; of sums: the error of the additions alone; all from a sample of the "
      "elements");
  const bool has_fp8 = std::any_of(options.types.begin(), options.types.end(), is_fp8);
  if (has_fp8) {
    report.notes.emplace_back(
        "fp8-unpromoted: one scale for a row, so that sums stay in the tensor cores from the "
        "first k to the last");
  }
  if (bed.session && !has_tuned) {
    report.notes.push_back(formatted(
        "{}: nothing is tuned for these products; 'gpufilter tune low-precision' finds the fastest "
        "kernels",
        bed.session->device().name));
  }
  if (bed.session && bed.session->device().compute_capability < 80) {
    report.notes.push_back(formatted(
        "{}: no tensor cores that this program can use; plain OpenCL C decodes floats to float32",
        bed.session->device().name));
  }
}

}  // namespace

std::vector<std::string> names_of_types() {
  std::vector<std::string> names;
  for (const NumberType type : number_types) {
    if (type != NumberType::fp8_unpromoted) names.emplace_back(to_string(type));
  }
  return names;
}

std::vector<NumberType> number_types_of(const std::vector<std::string>& names) {
  std::vector<NumberType> types;
  for (const NumberType type : lab::number_types) {
    const std::string name(
        to_string(type == NumberType::fp8_unpromoted ? NumberType::fp8_scaled : type));
    if (names.empty() || std::find(names.begin(), names.end(), name) != names.end())
      types.push_back(type);
  }
  return types;
}

Report bench_low_matmul(const TestBed& bed, const LowMatmulOptions& requested) {
  LowMatmulOptions options = requested;
  if (options.shapes.empty()) {
    for (const int side : has_gpu(bed) ? std::array{4096, 8192} : std::array{512, 1024})
      options.shapes.push_back({side, side, side});
  }
  check_all(bed, options);
  Report report = bed.start_report("matmul");
  report.columns = low_matmul_columns();
  report.chart = ChartOfBars{.title = "Matrix products of low precision",
                             .value = "tops",
                             .value_label = "TOP/s",
                             .labels = {"type", "shape", "kernel"}};
  bool has_tuned = false;
  for (const MatrixShape& each : options.shapes) {
    const LowShape shape = low_shape(options, each);
    bool left_out = false;
    for (const NumberType type : options.types) {
      TypeBench bench(bed, type, shape, report);
      bench.run();
      left_out |= bench.left_out();
      has_tuned |= bench.has_tuned();
    }
    if (left_out) {
      report.notes.push_back(formatted(
          "{}: the rows for one core are skipped: they take many seconds", text_of(shape)));
    }
  }
  add_notes(bed, options, has_tuned, report);
  return report;
}

}  // namespace gpufilter::lab
