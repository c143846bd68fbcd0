#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "base/format.hpp"
#include "lab/random_data.hpp"
#include "lab/tune/tuner.hpp"

namespace gpufilter::lab {
namespace {

std::size_t count_of(int rows, int columns) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns);
}

// A, B and C of one shape on the device, with random numbers.
class Product {
 public:
  Product(Session& session, Queue& queue, const MatrixShape& shape)
      : shape_(shape),
        a_(random_numbers(count_of(shape.rows, shape.depth), 1)),
        b_(random_numbers(count_of(shape.depth, shape.columns), 2)),
        c_(count_of(shape.rows, shape.columns)),
        a_buffer_(session.allocate(a_.size() * sizeof(float))),
        b_buffer_(session.allocate(b_.size() * sizeof(float))),
        c_buffer_(session.allocate(c_.size() * sizeof(float))) {
    queue.upload(a_buffer_, a_.data(), a_buffer_.size());
    queue.upload(b_buffer_, b_.data(), b_buffer_.size());
    queue.finish();
  }

  void poison(Queue& queue) {
    std::fill(c_.begin(), c_.end(), std::numeric_limits<float>::quiet_NaN());
    queue.upload(c_buffer_, c_.data(), c_buffer_.size());
    queue.finish();
  }

  // Milliseconds.
  double run(Queue& queue, const MatrixProduct& product) const {
    const Event event =
        product.enqueue(queue, {a_buffer_, b_buffer_, c_buffer_}, shape_, Activation::none);
    queue.finish();
    return static_cast<double>(event.times().duration) * 1e-6;
  }

  // Compares every `step`-th row, the last one too.
  std::optional<std::string> difference(Queue& queue, int step) {
    queue.download(c_buffer_, c_.data(), c_buffer_.size());
    queue.finish();
    for (int row = 0; row < shape_.rows; row += step) {
      if (auto found = difference_in(row)) return found;
    }
    return difference_in(shape_.rows - 1);
  }

 private:
  [[nodiscard]] std::optional<std::string> difference_in(int row) const {
    const auto columns = static_cast<std::size_t>(shape_.columns);
    const auto depth = static_cast<std::size_t>(shape_.depth);
    std::vector<float> expected(columns);
    for (std::size_t k = 0; k < depth; ++k) {
      const float factor = a_[static_cast<std::size_t>(row) * depth + k];
      for (std::size_t column = 0; column < columns; ++column)
        expected[column] = std::fma(factor, b_[k * columns + column], expected[column]);
    }
    const float* found = &c_[static_cast<std::size_t>(row) * columns];
    for (std::size_t column = 0; column < columns; ++column) {
      if (std::bit_cast<std::uint32_t>(found[column]) ==
          std::bit_cast<std::uint32_t>(expected[column]))
        continue;
      return formatted("{}x{}x{}: row {}, column {}: {:a} instead of {:a}", shape_.rows,
                       shape_.depth, shape_.columns, row, column, found[column], expected[column]);
    }
    return std::nullopt;
  }

  MatrixShape shape_;
  std::vector<float> a_, b_, c_;
  Buffer a_buffer_, b_buffer_, c_buffer_;
};

class ProductSubject final : public TuneSubject {
 public:
  ProductSubject(Session& session, const MatrixShape& shape)
      : session_(session), shape_(shape), queue_(session.make_queue()) {}

  void build() const override { static_cast<void>(kernel()); }

  // Odd sizes, smaller and larger than a block.
  [[nodiscard]] std::optional<std::string> check() override {
    const MatrixProduct product = kernel();
    for (const MatrixShape& shape :
         {MatrixShape{5, 3, 7}, MatrixShape{shape_.rows > 64 ? 267 : shape_.rows, 301, 37},
          MatrixShape{shape_.rows > 64 ? 132 : shape_.rows, 260, 64}}) {
      Product small(session_, queue_, shape);
      small.poison(queue_);
      static_cast<void>(small.run(queue_, product));
      if (auto difference = small.difference(queue_, 1)) return difference;
    }
    return std::nullopt;
  }

  void begin() override {
    if (!large_) large_.emplace(session_, queue_, shape_);
    large_->poison(queue_);
    product_.emplace(kernel());
  }

  [[nodiscard]] double run() override { return large_->run(queue_, *product_); }

  // Only some rows: all of them would take the processor too long.
  [[nodiscard]] std::optional<std::string> check_timed() override {
    return large_->difference(queue_, std::max(1, shape_.rows / 2));
  }

 private:
  [[nodiscard]] MatrixProduct kernel() const {
    return {session_, {.variant = MatrixVariant::automatic, .typical = shape_}};
  }

  Session& session_;
  MatrixShape shape_;
  Queue queue_;
  std::optional<Product> large_;
  std::optional<MatrixProduct> product_;
};

}  // namespace

std::unique_ptr<TuneSubject> make_product_subject(Session& session, const MatrixShape& shape) {
  return std::make_unique<ProductSubject>(session, shape);
}

}  // namespace gpufilter::lab
