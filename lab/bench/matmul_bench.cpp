#include <algorithm>
#include <cstring>
#include <limits>
#include <sstream>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/threads.hpp"
#include "base/words.hpp"
#include "compute/matrix_product.hpp"
#include "device/kernel_source.hpp"
#include "lab/bench/benches.hpp"
#include "lab/bench/host_products.hpp"
#include "lab/bench/open_blas.hpp"
#include "lab/bench/report.hpp"
#include "lab/random_data.hpp"

namespace gpufilter::lab {
namespace {

// The plain loop takes seconds for larger matrices.
constexpr int largest_plain_side = 1024;

bool same_bits(const std::vector<float>& a, const std::vector<float>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

struct DeviceKernel {
  std::string name;
  MatrixParameters parameters;
};

std::vector<DeviceKernel> device_kernels(const std::vector<int>& tiles) {
  std::vector<DeviceKernel> kernels{{"naive", {MatrixVariant::naive}}};
  for (const int tile : tiles)
    kernels.push_back({formatted("tiled {0}x{0}", tile), {MatrixVariant::tiled, tile}});
  kernels.push_back({"tuned", {MatrixVariant::automatic}});
  return kernels;
}

// How often `part` is in the text.
std::size_t count_in(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (auto at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++count;
  return count;
}

// The source of a kernel with the reads of each line, of which A and B have as many.
std::string explained(const std::string& kernel, const Row& row) {
  const std::string file = kernel_file("matrix_product.cl");
  const std::size_t begin = file.find("__kernel", file.find("KERNEL_matrix_product_" + kernel));
  const std::string source = file.substr(begin, file.find("#endif", begin) - begin);
  const double reads = *number_in(row, "global_reads");
  const auto places = static_cast<double>(count_in(source, "READ("));
  std::string text = formatted("{} at size {}: numbers read from global memory, and the line\n",
                               std::get<std::string>(row.at("kernel")), *number_in(row, "size"));
  std::istringstream lines(source);
  for (std::string line; std::getline(lines, line);) {
    const auto here = static_cast<double>(count_in(line, "READ("));
    text +=
        formatted("{:>10}  {}\n", here > 0 ? formatted("{:.0f}", reads * here / places) : "", line);
  }
  return text;
}

// All rows of one size.
class SizeBench {
 public:
  SizeBench(const TestBed& bed, const MatmulOptions& options, int side)
      : bed_(bed),
        options_(options),
        side_(static_cast<std::size_t>(side)),
        a_(random_numbers(side_ * side_, 1)),
        b_(random_numbers(side_ * side_, 2)),
        c_(side_ * side_),
        reference_(reference_product(product())),
        in_double_(product_in_double(product())) {}

  void run(const OpenBlas* blas, Report& report) {
    for (const HostProduct& product : host_products()) {
      if (product.is_slow && side() > largest_plain_side && !options_.plain_always) continue;
      measure_host(product.name, product.about, !product.is_fused, product.run);
    }
    if (blas != nullptr) {
      const auto threads = static_cast<int>(allowed_threads());
      for (const int count : threads > 1 ? std::vector{1, threads} : std::vector{1}) {
        measure_host("OpenBLAS, " + counted(count, "thread"), "adds in its own order", true,
                     [&](const Product& product) { blas->multiply(product, {}, count); });
      }
    }
    add_notes_on_trials(report);
    if (bed_.session) measure_device(report);
    compare_rows();
    report.rows.insert(report.rows.end(), rows_.begin(), rows_.end());
    const auto explains = [&](const Row& row) {
      return row.contains("global_reads") &&
             std::get<std::string>(row.at("kernel")).starts_with(options_.explain);
    };
    const auto row = std::ranges::find_if(rows_, explains);
    if (!options_.explain.empty() && row != rows_.end())
      report.listing += explained(options_.explain, *row);
  }

  void show_corners(std::size_t count, Report& report) const {
    const std::vector<std::pair<std::string, const std::vector<float>*>> matrices{
        {"A", &a_},
        {"B", &b_},
        {bed_.session ? "C by the device" : "C by the last row", &c_},
        {"C by the processor", &reference_}};
    for (const auto& [name, matrix] : matrices) {
      Corner corner{formatted("{} ({}x{})", name, side_, side_), {}};
      for (std::size_t y = 0; y < std::min(count, side_); ++y) {
        const auto row = matrix->begin() + static_cast<std::ptrdiff_t>(y * side_);
        corner.rows.emplace_back(row, row + static_cast<std::ptrdiff_t>(std::min(count, side_)));
      }
      report.corners.push_back(std::move(corner));
    }
  }

 private:
  [[nodiscard]] int side() const { return static_cast<int>(side_); }
  [[nodiscard]] Product product() { return {side_, side_, side_, a_.data(), b_.data(), c_.data()}; }
  [[nodiscard]] double operations() const {
    const auto n = static_cast<double>(side_);
    return 2 * n * n * n;
  }

  void poison() { std::fill(c_.begin(), c_.end(), std::numeric_limits<float>::quiet_NaN()); }

  Row& add_row(const std::string& kernel, const std::string& where, const std::string& variant,
               const Measurement& measurement) {
    Row row{
        {"size", std::int64_t{side()}}, {"kernel", kernel}, {"where", where}, {"variant", variant}};
    add_times(row, measurement);
    add_errors(row, largest_errors(c_, in_double_));
    row["gflops"] = operations() / measurement.best_clock().mean * 1e-9;
    row["gflops_wall"] = operations() / measurement.wall.mean * 1e-9;
    return rows_.emplace_back(std::move(row));
  }

  // `rounds_differently`: not one chain of fused multiply-adds.
  void measure_host(const std::string& name, const std::string& about, bool rounds_differently,
                    const std::function<void(const Product&)>& multiply) {
    bed_.step(formatted("{}x{}: {}", side_, side_, name));
    poison();
    const Product own = product();
    const Measurement measurement = measure(bed_.trials, [&] { multiply(own); });
    const bool equal = same_bits(c_, reference_);
    Row& row = add_row(name, on_processor, about, measurement);
    row["bits"] =
        std::string(rounds_differently && !equal ? bits_differ_by_design : bits_of(equal));
  }

  void measure_device(Report& report) {
    const std::size_t bytes = c_.size() * sizeof(float);
    const Buffer a = bed_.session->allocate(bytes);
    const Buffer b = bed_.session->allocate(bytes);
    const Buffer c = bed_.session->allocate(bytes);
    Queue queue = bed_.session->make_queue();
    queue.upload(a, a_.data(), bytes);
    queue.upload(b, b_.data(), bytes);
    queue.finish();
    for (const DeviceKernel& kernel : device_kernels(options_.tiles)) {
      try {
        measure_kernel(kernel, MatrixOperands{a, b, c}, queue);
      } catch (const UsageError& error) {
        leave_out(kernel, error.what(), report);
      } catch (const DeviceError& error) {
        // If even the naive kernel fails, so does the device.
        if (kernel.parameters.variant == MatrixVariant::naive) throw;
        leave_out(kernel, error.what(), report);
      }
    }
  }

  void leave_out(const DeviceKernel& kernel, const std::string& why, Report& report) const {
    if (side() == options_.sides.front())
      report.notes.push_back(formatted("{} is left out: {}", kernel.name, why));
  }

  void add_notes_on_trials(Report& report) const {
    for (const Row& row : rows_) {
      const double trials = *number_in(row, "trials");
      if (trials >= bed_.trials) continue;
      report.notes.push_back(formatted("size {}: {}: {} of {} trials, of {:.1f} s each", side_,
                                       std::get<std::string>(row.at("kernel")), trials, bed_.trials,
                                       1e-3 * *number_in(row, "mean_ms")));
    }
  }

  void measure_kernel(const DeviceKernel& kernel, const MatrixOperands& operands, Queue& queue) {
    bed_.step(formatted("{}x{}: {}", side_, side_, kernel.name));
    const MatrixShape shape{side(), side(), side()};
    MatrixParameters parameters = kernel.parameters;
    parameters.typical = shape;
    static_cast<void>(take_made_kernels());
    const MatrixProduct product(*bed_.session, parameters);
    const std::vector<KernelFigures> figures = take_made_kernels();
    poison();
    queue.upload(operands.c, c_.data(), operands.c.size());
    queue.finish();
    const Measurement measurement = measure(bed_.trials, queue, [&] {
      return std::vector{product.enqueue(queue, operands, shape, Activation::none)};
    });
    queue.download(operands.c, c_.data(), c_.size() * sizeof(float));
    queue.finish();
    bed_.step(formatted("{}x{}: {}, counting reads", side_, side_, kernel.name));
    const std::uint64_t reads = product.count_reads(*bed_.session, queue, operands, shape);
    Row& row = add_row(kernel.name, on_device, product.variant(), measurement);
    add_resources(row, figures, registers_of(bed_.session->device()));
    row["global_reads"] = static_cast<std::int64_t>(reads);
    row["global_reads_million"] = static_cast<double>(reads) * 1e-6;
    if (kernel.parameters.variant == MatrixVariant::naive) {
      naive_reads_ = static_cast<double>(reads);
      naive_seconds_ = measurement.best_clock().mean;
    }
    row["reads_of_naive"] = static_cast<double>(reads) / naive_reads_;
    row["speed_up_naive"] = naive_seconds_ / measurement.best_clock().mean;
    row["bits"] = std::string(bits_of(same_bits(c_, reference_)));
  }

  // Fills the columns that compare a row with the processor's fastest row.
  void compare_rows() {
    double best = std::numeric_limits<double>::infinity();
    for (const Row& row : rows_) {
      if (row.at("where") == Value(std::string(on_processor)))
        best = std::min(best, *number_in(row, "wall_ms"));
    }
    for (Row& row : rows_)
      row["speed_up_processor"] = best / *number_in(row, "wall_ms");
  }

  const TestBed& bed_;
  const MatmulOptions& options_;
  std::size_t side_;
  std::vector<float> a_, b_, c_, reference_;
  std::vector<double> in_double_;
  std::vector<Row> rows_;
  double naive_reads_ = 1;
  double naive_seconds_ = 0;
};

std::vector<Column> matmul_columns() {
  return joined({{{"size", "size"}, {"kernel", "kernel"}, {"where", ""}},
                 time_columns(),
                 {{"gflops", "GFLOPS", 4},
                  {"gflops_wall", "by wall", 4},
                  {"speed_up_processor", "x processor"},
                  {"speed_up_naive", "x naive"},
                  {"global_reads", ""},
                  {"global_reads_million", "reads, M", 4},
                  {"reads_of_naive", "of naive's"},
                  {"bits", "bits"}},
                 error_columns(),
                 resource_columns(),
                 {{"variant", "variant"}}});
}

}  // namespace

Report bench_matmul(const TestBed& bed, const MatmulOptions& options) {
  Report report = bed.start_report("matmul");
  report.columns = matmul_columns();
  report.chart = ChartOfLines{"Matrix product, float32", "size", "gflops",
                              "rows and columns of the matrices", "GFLOPS"};
  const auto blas = OpenBlas::load();
  if (blas) {
    report.parameters.push_back({"openblas", blas->version()});
  } else {
    report.notes.emplace_back("OpenBLAS is not installed (Debian: libopenblas0)");
  }
  for (const int side : options.sides)
    check_memory(bed, formatted("--sizes {}", side), 24.0 * side * side, 4.0 * side * side);
  for (const int side : options.sides) {
    SizeBench bench(bed, options, side);
    bench.run(blas.get(), report);
    if (options.show > 0) bench.show_corners(static_cast<std::size_t>(options.show), report);
    if (side > largest_plain_side && !options.plain_always) {
      report.notes.push_back(
          formatted("size {}: the plain loop is skipped; --plain measures it", side));
    }
  }
  report.notes.emplace_back(
      "bits: compared with chains of fused multiply-adds over k = 0, 1, 2, ... on the processor");
  report.notes.emplace_back(note_on_errors);
  if (bed.session) {
    report.notes.emplace_back(
        "reads: numbers of A and B that the kernel's work-items read from global memory, counted "
        "in another run by a kernel that also counts");
  }
  return report;
}

}  // namespace gpufilter::lab
