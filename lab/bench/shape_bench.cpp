#include <algorithm>
#include <cstring>
#include <limits>
#include <random>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/threads.hpp"
#include "base/words.hpp"
#include "compute/matrix_product.hpp"
#include "lab/bench/benches.hpp"
#include "lab/bench/host_products.hpp"
#include "lab/bench/open_blas.hpp"
#include "lab/bench/report.hpp"
#include "lab/lab_kernels.hpp"

namespace gpufilter::lab {
namespace {

// The constants of transpose.cl.
constexpr std::size_t transposed_tile = 32;
constexpr std::size_t transposing_height = 8;

// Whole numbers from -8 to 8: sums of 65536 products stay below 2^24 and are exact in any order.
std::vector<float> whole_numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> numbers(count);
  for (float& number : numbers)
    number = static_cast<float>(static_cast<int>(random() % 17) - 8);
  return numbers;
}

std::vector<float> stored(const std::vector<float>& matrix, int rows, int columns,
                          bool transposed) {
  if (!transposed) return matrix;
  std::vector<float> by_columns;
  by_columns.reserve(matrix.size());
  for (int x = 0; x < columns; ++x) {
    for (int y = 0; y < rows; ++y)
      by_columns.push_back(matrix[static_cast<std::size_t>(y) * columns + x]);
  }
  return by_columns;
}

// An operand on the device, and room for the same by rows if it is stored by columns.
class DeviceOperand {
 public:
  DeviceOperand(Session& session, Queue& queue, const std::vector<float>& numbers, int rows,
                int columns, bool transposed)
      : rows_(rows), columns_(columns), stored_(session.allocate(numbers.size() * sizeof(float))) {
    queue.upload(stored_, numbers.data(), stored_.size());
    queue.finish();
    if (!transposed) return;
    by_rows_ = session.allocate(stored_.size());
    transpose_ = session.make_kernel({.file = "transpose.cl",
                                      .function = "transpose",
                                      .text = lab_kernels().at("transpose.cl")});
  }

  // The matrix by rows, once the queue has come to it.
  [[nodiscard]] const Buffer& by_rows(Queue& queue, std::vector<Event>& events) const {
    if (!transpose_) return stored_;
    // The matrix is stored as columns x rows numbers; a work-group moves a tile of them.
    const auto tiles = (static_cast<std::size_t>(columns_) + transposed_tile - 1) / transposed_tile;
    events.push_back(queue.launch(*transpose_,
                                  {static_cast<std::size_t>(rows_), tiles * transposing_height,
                                   transposed_tile, transposing_height},
                                  {stored_, by_rows_, columns_, rows_}));
    return by_rows_;
  }

 private:
  std::int32_t rows_, columns_;
  Buffer stored_, by_rows_;
  std::optional<Kernel> transpose_;
};

// All rows of one shape in one layout.
class ShapeBench {
 public:
  ShapeBench(const TestBed& bed, const MatrixShape& shape, const std::string& letters,
             Report& report)
      : bed_(bed),
        report_(report),
        shape_(shape),
        letters_(letters),
        layout_(layout_of(letters)),
        a_by_rows_(whole_numbers(count(shape.rows, shape.depth), 1)),
        b_by_rows_(whole_numbers(count(shape.depth, shape.columns), 2)),
        a_(stored(a_by_rows_, shape.rows, shape.depth, layout_.a_transposed)),
        b_(stored(b_by_rows_, shape.depth, shape.columns, layout_.b_transposed)),
        c_(count(shape.rows, shape.columns)),
        expected_(product_in_double(product(a_by_rows_, b_by_rows_))) {}

  void run(const OpenBlas* blas) {
    measure_host("all cores",
                 layout_.a_transposed || layout_.b_transposed
                     ? "transposed operands are copied first"
                     : "vectors on every core",
                 [this] { multiply_on_host(); });
    if (blas != nullptr) {
      const auto threads = static_cast<int>(allowed_threads());
      measure_host("OpenBLAS, " + counted(threads, "thread"), "",
                   [&] { blas->multiply(product(a_, b_), layout_, threads); });
    }
    if (!bed_.session) return;
    measure_kernel("naive", MatrixVariant::naive);
    measure_kernel("tuned", MatrixVariant::automatic);
  }

 private:
  static std::size_t count(int rows, int columns) {
    return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
  }

  [[nodiscard]] Product product(const std::vector<float>& a, const std::vector<float>& b) {
    return {static_cast<std::size_t>(shape_.rows),
            static_cast<std::size_t>(shape_.columns),
            static_cast<std::size_t>(shape_.depth),
            a.data(),
            b.data(),
            c_.data()};
  }

  // Packs transposed operands into scratch memory, and multiplies by the fastest loop.
  void multiply_on_host() {
    const auto [rows, columns, depth] =
        std::array{static_cast<std::size_t>(shape_.rows), static_cast<std::size_t>(shape_.columns),
                   static_cast<std::size_t>(shape_.depth)};
    a_scratch_.resize(layout_.a_transposed ? a_.size() : 0);
    b_scratch_.resize(layout_.b_transposed ? b_.size() : 0);
    if (layout_.a_transposed) transpose(a_.data(), depth, rows, a_scratch_.data());
    if (layout_.b_transposed) transpose(b_.data(), columns, depth, b_scratch_.data());
    host_products().back().run(
        product(layout_.a_transposed ? a_scratch_ : a_, layout_.b_transposed ? b_scratch_ : b_));
  }

  void poison() { std::fill(c_.begin(), c_.end(), std::numeric_limits<float>::quiet_NaN()); }

  void add_row(const std::string& kernel, const char* where, const std::string& variant,
               const Measurement& measurement) {
    const double operations = 2.0 * shape_.rows * shape_.columns * shape_.depth;
    const bool equal = std::equal(c_.begin(), c_.end(), expected_.begin(), expected_.end(),
                                  [](float found, double right) { return found == right; });
    Row row{{"shape", formatted("{}x{}x{}", shape_.rows, shape_.columns, shape_.depth)},
            {"layout", letters_},
            {"kernel", kernel},
            {"where", std::string(where)},
            {"variant", variant},
            {"gflops", operations / measurement.best_clock().mean * 1e-9},
            {"bits", std::string(bits_of(equal))}};
    add_times(row, measurement);
    add_errors(row, largest_errors(c_, expected_));
    report_.rows.push_back(std::move(row));
  }

  void measure_host(const std::string& name, const std::string& about,
                    const std::function<void()>& multiply) {
    step(name);
    poison();
    const Measurement measurement = measure(bed_.trials, multiply);
    add_row(name, on_processor, about, measurement);
  }

  void measure_kernel(const std::string& name, MatrixVariant variant) {
    step(name);
    Session& session = *bed_.session;
    Queue queue = session.make_queue();
    const DeviceOperand a(session, queue, a_, shape_.rows, shape_.depth, layout_.a_transposed);
    const DeviceOperand b(session, queue, b_, shape_.depth, shape_.columns, layout_.b_transposed);
    const Buffer c = session.allocate(c_.size() * sizeof(float));
    poison();
    queue.upload(c, c_.data(), c_.size() * sizeof(float));
    queue.finish();
    const MatrixProduct kernel(session, {.variant = variant, .typical = shape_});
    const Measurement measurement = measure(bed_.trials, queue, [&] {
      std::vector<Event> events;
      const Buffer& a_by_rows = a.by_rows(queue, events);
      const Buffer& b_by_rows = b.by_rows(queue, events);
      events.push_back(kernel.enqueue(queue, {a_by_rows, b_by_rows, c}, shape_, Activation::none));
      return events;
    });
    queue.download(c, c_.data(), c_.size() * sizeof(float));
    queue.finish();
    add_row(name, on_device, kernel.variant(), measurement);
  }

  void step(const std::string& kernel) const {
    bed_.step(
        formatted("{}x{}x{} {}: {}", shape_.rows, shape_.columns, shape_.depth, letters_, kernel));
  }

  const TestBed& bed_;
  Report& report_;
  MatrixShape shape_;
  std::string letters_;
  Layout layout_;
  std::vector<float> a_by_rows_, b_by_rows_;
  std::vector<float> a_, b_;  // as stored
  std::vector<float> c_;
  std::vector<double> expected_;
  std::vector<float> a_scratch_, b_scratch_;
};

std::vector<Column> shape_columns() {
  return joined(
      {{{"shape", "shape"}, {"layout", "layout"}, {"kernel", "kernel"}, {"where", "where"}},
       time_columns(),
       {{"gflops", "GFLOPS", 4}, {"bits", "bits"}},
       error_columns(),
       {{"variant", "variant"}}});
}

}  // namespace

Report bench_shapes(const TestBed& bed, const ShapeOptions& options) {
  Report report = bed.start_report("matmul");
  report.columns = shape_columns();
  report.chart = ChartOfBars{.title = "Matrix products of whole numbers, float32",
                             .value = "gflops",
                             .value_label = "GFLOPS",
                             .labels = {"shape", "layout", "kernel"}};
  const auto blas = OpenBlas::load();
  if (blas) {
    report.parameters.push_back({"openblas", blas->version()});
  } else {
    report.notes.emplace_back("OpenBLAS is not installed (Debian: libopenblas0)");
  }
  for (const MatrixShape& shape : options.shapes) {
    const double a = 4.0 * shape.rows * shape.depth;
    const double b = 4.0 * shape.depth * shape.columns;
    const double c = 4.0 * shape.rows * shape.columns;
    check_memory(bed, formatted("--shapes {}x{}x{}", shape.rows, shape.columns, shape.depth),
                 3 * (a + b) + 3 * c, std::max({a, b, c}));
  }
  for (const MatrixShape& shape : options.shapes) {
    for (const std::string& layout : options.layouts)
      ShapeBench(bed, shape, layout, report).run(blas.get());
  }
  report.notes.emplace_back(
      "shape: rows and columns of C, and the numbers in each of its sums; layout: n, or t for an "
      "operand that is stored transposed, A first");
  report.notes.emplace_back(
      "bits: the operands are whole numbers, whose sums are exact in any order, so all are equal; "
      "times include the transposition of operands");
  report.notes.emplace_back(note_on_errors);
  return report;
}

}  // namespace gpufilter::lab
