#include "support/matrix_problems.hpp"

namespace gpufilter::test {
namespace {

constexpr std::uint32_t poison = 0x7fa5a5a5;  // a NaN: it spreads to every result computed from it
constexpr std::size_t guard = 128;            // numbers behind each matrix

std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

std::size_t count(int rows, int columns) {
  return index(rows) * index(columns);
}

class NumberGenerator {
 public:
  NumberGenerator(Values values, std::uint64_t seed) : values_(values), engine_(seed) {}

  Floats take(std::size_t n) {
    Floats numbers(n);
    for (float& number : numbers)
      number = last_ = next();
    return numbers;
  }

 private:
  float next() {
    const auto word = static_cast<std::uint32_t>(engine_() >> 32U);
    if (values_ == Values::all_bits) return std::bit_cast<float>(word);
    const float plain = static_cast<float>(static_cast<std::int32_t>(word)) * 0x1p-31F;
    if (values_ == Values::ordinary) return plain;
    switch (engine_() % 8) {
      case 0:
        return std::bit_cast<float>(word & 0x807fffffU);  // denormal or zero
      case 1:
        return plain * 0x1p120F;
      case 2:
        return plain * 0x1p-100F;
      case 3:
        return -0.0F;
      case 4:
        return -last_;
      default:
        return plain;
    }
  }

  Values values_;
  std::mt19937_64 engine_;
  float last_ = 1.0F;
};

Floats guarded(Floats numbers) {
  numbers.insert(numbers.end(), guard, std::bit_cast<float>(poison));
  return numbers;
}

Buffer uploaded(Session& session, Queue& queue, const Floats& numbers) {
  Buffer buffer = session.allocate(numbers.size() * sizeof(float));
  queue.upload(buffer, numbers.data(), numbers.size() * sizeof(float));
  queue.finish();
  return buffer;
}

::testing::AssertionResult same_bits(const Floats& x, const Floats& y) {
  if (x.size() != y.size()) {
    return ::testing::AssertionFailure() << x.size() << " and " << y.size() << " numbers";
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const auto left = std::bit_cast<std::uint32_t>(x[i]);
    const auto right = std::bit_cast<std::uint32_t>(y[i]);
    if (left != right) {
      return ::testing::AssertionFailure()
             << formatted("number {}: {} ({:#010x}) and {} ({:#010x})", i, x[i], left, y[i], right);
    }
  }
  return ::testing::AssertionSuccess();
}

}  // namespace

MatrixProblem make_problem(const MatrixShape& shape, Values values, Activation activation,
                           bool with_bias, std::uint64_t seed) {
  NumberGenerator generator(values, seed);
  MatrixProblem problem{shape, activation, generator.take(count(shape.rows, shape.depth)),
                        generator.take(count(shape.depth, shape.columns)), std::nullopt};
  if (with_bias) problem.bias = generator.take(index(shape.rows));
  return problem;
}

Floats by_definition(const MatrixProblem& problem) {
  const MatrixShape& shape = problem.shape;
  Floats c;
  for (int row = 0; row < shape.rows; ++row) {
    for (int column = 0; column < shape.columns; ++column) {
      float sum = problem.bias ? (*problem.bias)[index(row)] : 0.0F;
      for (int k = 0; k < shape.depth; ++k) {
        sum = std::fma(problem.a[count(row, shape.depth) + index(k)],
                       problem.b[count(k, shape.columns) + index(column)], sum);
      }
      if (problem.activation != Activation::none && !(sum > 0.0F)) sum = 0.0F;
      if (problem.activation == Activation::clamp && sum > 1.0F) sum = 1.0F;
      c.push_back(std::isnan(sum) ? std::numeric_limits<float>::quiet_NaN() : sum);
    }
  }
  return c;
}

MatricesOnDevice::MatricesOnDevice(Session& session, Queue& queue, const MatrixProblem& problem)
    : problem_(problem),
      a_(uploaded(session, queue, guarded(problem.a))),
      b_(uploaded(session, queue, guarded(problem.b))),
      bias_(uploaded(session, queue, guarded(problem.bias.value_or(Floats{})))),
      c_(uploaded(session, queue,
                  Floats(count(problem.shape.rows, problem.shape.columns) + guard,
                         std::bit_cast<float>(poison)))) {}

::testing::AssertionResult MatricesOnDevice::are_right(Queue& queue) const {
  Floats c(c_.size() / sizeof(float));
  queue.download(c_, c.data(), c_.size());
  queue.finish();
  return same_bits(c, guarded(by_definition(problem_)));
}

::testing::AssertionResult gives_the_defined_bits(Session& session, const MatrixProduct& product,
                                                  const MatrixProblem& problem) {
  Queue queue = session.make_queue();
  const MatricesOnDevice matrices(session, queue, problem);
  product.enqueue(queue, matrices.operands(), problem.shape, problem.activation);
  return matrices.are_right(queue) << session.device().name << ", " << product.variant() << ", "
                                   << formatted("{0}x{1} by {1}x{2}", problem.shape.rows,
                                                problem.shape.depth, problem.shape.columns);
}

}  // namespace gpufilter::test
