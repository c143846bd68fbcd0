#include "net/net_points.hpp"

#include <cmath>
#include <cstddef>

#include "host/arithmetic.hpp"
#include "host/loops.hpp"
#include "net/net_functions.hpp"

namespace gpufilter {
namespace {

using std::size_t;

[[gnu::always_inline]] inline float limited(float number, float low, float high) {
  const float raised = number > low ? number : low;  // a NaN is not above
  return raised < high ? raised : high;
}

// The numbers of a plane's row. Values are read before the loops, so that stores cannot change
// them: otherwise GCC does not vectorise.
struct PointRow {
  const float* from;
  float* to;
  size_t count;

  template <typename Function>
  [[gnu::always_inline]] void each(const Function& function) const {
    const float* const a = from;
    float* const out = to;
    for (size_t i = 0; i < count; ++i)
      out[i] = function(a[i]);
  }
  template <typename Function>
  [[gnu::always_inline]] void both(const float* b, const Function& function) const {
    const float* const a = from;
    float* const out = to;
    for (size_t i = 0; i < count; ++i)
      out[i] = function(a[i], b[i]);
  }
};

[[gnu::always_inline]] inline void activate(const PointRow& row, const NetActivation& activation,
                                            size_t channel) {
  const bool sloped = !activation.slopes.empty();
  const float slope = sloped ? activation.slopes[channel] : 1;
  const float low = activation.low;
  const float high = activation.high;
  if (sloped && activation.limits) {
    row.each([=](float x) { return limited(x < 0 ? x * slope : x, low, high); });
  } else if (sloped) {
    row.each([=](float x) { return x < 0 ? x * slope : x; });
  } else if (activation.limits) {
    row.each([=](float x) { return limited(x, low, high); });
  } else {
    row.each([](float x) { return x; });
  }
}

template <InstructionSet set>
[[gnu::always_inline]] inline void apply_function(const PointRow& row, NetFunction function) {
  using namespace net_functions;
  switch (function) {
    case NetFunction::exponential:
      return row.each([](float x) { return net_exponential<set>(x); });
    case NetFunction::root:
      return row.each([](float x) { return net_root<set>(x); });
    case NetFunction::reciprocal:
      return row.each([](float x) { return net_reciprocal<set>(x); });
    case NetFunction::sigmoid:
      return row.each([](float x) { return net_sigmoid<set>(x); });
    case NetFunction::hyperbolic_tangent:
      return row.each([](float x) { return net_tangent<set>(x); });
    case NetFunction::error:
      return row.each([](float x) { return net_error<set>(x); });
  }
}

// The second number is `number` everywhere, or comes from `b`.
template <InstructionSet set>
[[gnu::always_inline]] inline void combine(const PointRow& row, NetOperator kind, const float* b,
                                           float number) {
  const auto apply = [&](const auto& function) __attribute__((always_inline)) {
    if (b == nullptr) {
      row.each([=](float x) { return function(x, number); });
    } else {
      row.both(b, function);
    }
  };
  switch (kind) {
    case NetOperator::add:
    case NetOperator::offset:
      return apply([](float x, float y) { return x + y; });
    case NetOperator::subtract:
      return apply([](float x, float y) { return x - y; });
    case NetOperator::quotient:
      return apply([](float x, float y) { return net_functions::net_quotient<set>(x, y); });
    default:  // products
      return apply([](float x, float y) { return x * y; });
  }
}

struct PointLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const NetOperation* operation, const NetPlanes* first,
                                         const NetPlanes* second, NetPlanes* out,
                                         const RowRange rows, const RowRange columns) {
    const bool one = second->value().size.is_one();
    const bool constant = operation->inputs.size() < 2;
    for (int y = rows.begin; y < rows.end; ++y) {
      for (int c = 0; c < out->value().channels; ++c) {
        const auto channel = static_cast<size_t>(c);
        const PointRow row{first->row(y, c) + (columns.begin - first->columns().begin),
                           out->row(y, c) + (columns.begin - out->columns().begin),
                           static_cast<size_t>(columns.count())};
        if (operation->kind == NetOperator::activation) {
          activate(row, operation->activation, channel);
        } else if (operation->kind == NetOperator::function) {
          apply_function<set>(row, operation->function);
        } else if (constant) {
          combine<set>(row, operation->kind, nullptr, operation->numbers[channel]);
        } else {
          const int from = second->value().channels == 1 ? 0 : c;
          const float* const b = second->row(one ? 0 : y, from) +
                                 ((one ? 0 : columns.begin) - second->columns().begin);
          combine<set>(row, operation->kind, one ? nullptr : b, *b);
        }
      }
    }
  }
};

}  // namespace

void net_point_rows(const NetOperation& operation, const NetPlanes& first, const NetPlanes& second,
                    NetPlanes& output, const RowRange& rows, const RowRange& columns) {
  run_loop<PointLoop>(&operation, &first, &second, &output, rows, columns);
}

}  // namespace gpufilter
