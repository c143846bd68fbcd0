#include "lab/bench/array_reduction.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <stdexcept>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"
#include "lab/lab_kernels.hpp"

namespace gpufilter::lab {
namespace {

using Partial = ReductionPartial;

constexpr std::size_t block = 1024;      // values
constexpr std::size_t float_totals = 5;  // the arrays of a level, as reduce_floats.cl orders them

WorkRange range_of(const ReductionLaunch& launch) {
  return {launch.groups * launch.group_size, 1, launch.group_size, 1};
}

CodeDescription describe(const BuiltReduction& built, const char* what) {
  return {formatted("{} by {}", what, to_string(built.launch.path)), built.launch.reason,
          built.kernel.origin()};
}

// Whole blocks and the values left over, as kernels take them.
struct Blocks {
  explicit Blocks(std::size_t count)
      : whole(static_cast<std::int32_t>(count / block)),
        rest(static_cast<std::int32_t>(count % block)) {}
  std::int32_t whole;
  std::int32_t rest;
};

void check_size(const Buffer& buffer, std::size_t count) {
  if (buffer.size() / 4 >= count) return;
  throw UsageError(
      formatted("a reduction of {} values: the buffer has {} bytes", count, buffer.size()));
}

// The kernels compare ints as unsigned numbers, with the highest bit flipped.
std::int32_t from_ordered(std::uint64_t key) {
  return static_cast<std::int32_t>(static_cast<std::uint32_t>(key) ^ 0x8000'0000U);
}

float one_nan(float value) {
  return std::isnan(value) ? std::numeric_limits<float>::quiet_NaN() : value;
}

IntegerTotals combined(const std::vector<std::uint64_t>& partials) {
  IntegerTotals totals;
  std::uint64_t squares = 0;
  std::uint64_t squares_high = 0;
  for (std::size_t first = 0; first < partials.size(); first += Partial::elements) {
    const std::uint64_t* partial = &partials[first];
    totals.sum += static_cast<std::int64_t>(partial[Partial::sum]);
    squares += partial[Partial::squares];
    squares_high += partial[Partial::squares_high];
    totals.minimum = std::min(totals.minimum, from_ordered(partial[Partial::minimum]));
    totals.maximum = std::max(totals.maximum, from_ordered(partial[Partial::maximum]));
    totals.product *= partial[Partial::product];
    totals.bit_and &= static_cast<std::uint32_t>(partial[Partial::bit_and]);
    totals.bit_or |= static_cast<std::uint32_t>(partial[Partial::bit_or]);
    totals.bit_xor ^= static_cast<std::uint32_t>(partial[Partial::bit_xor]);
  }
  totals.sum_of_squares =
      checked_add(squares, checked_multiply(squares_high, std::uint64_t{1} << 32U));
  return totals;
}

}  // namespace

IntegerReducer::IntegerReducer(Session& session, ReductionPath path)
    : built_(build_reduction(session, path, {"reduce.cl", "reduce_integers", ""})),
      partials_(session.allocate(built_.launch.groups * Partial::elements * sizeof(std::uint64_t))),
      description_(describe(built_, "integers")) {}

IntegerTotals IntegerReducer::reduce(Queue& queue, const Buffer& values, std::size_t count) {
  if (count > max_integers) throw std::overflow_error("there are too many integers");
  check_size(values, count);
  const Blocks blocks(count);
  std::vector<std::uint64_t> partials(partials_.size() / sizeof(std::uint64_t));
  launches_ = {queue.launch(built_.kernel, range_of(built_.launch),
                            {values, blocks.whole, blocks.rest, partials_})};
  queue.download(partials_, partials.data(), partials_.size());
  queue.finish();
  return combined(partials);
}

FloatReducer::FloatReducer(Session& session, ReductionPath path)
    : session_(session),
      built_(build_reduction(session, path,
                             {.file = "reduce_floats.cl",
                              .function = "reduce_floats",
                              .text = lab_kernels().at("reduce_floats.cl")})),
      description_(describe(built_, "floats")) {}

FloatTotals FloatReducer::reduce(Queue& queue, const Buffer& values, std::size_t count) {
  launches_.clear();
  if (count == 0) return {};
  check_size(values, count);
  // Each level's results are the next level's values; two buffers alternate.
  const Buffer* level = &values;
  std::array<Buffer, 2> results;
  std::size_t left = count;
  std::int32_t stride = 0;
  for (std::size_t turn = 0; left > 1 || turn == 0; ++turn) {
    const Blocks blocks(left);
    const std::int32_t first = turn == 0 ? 1 : 0;
    left = (left + block - 1) / block;
    if (turn < results.size())
      results[turn] = session_.allocate(float_totals * left * sizeof(float));
    Buffer& next = results[turn % results.size()];
    launches_.push_back(queue.launch(built_.kernel, range_of(built_.launch),
                                     {*level, stride, first, blocks.whole, blocks.rest, next}));
    level = &next;
    stride = static_cast<std::int32_t>(left);
  }
  std::array<float, float_totals> totals{};
  queue.download(*level, totals.data(), sizeof(totals));
  queue.finish();
  return {one_nan(totals[0]), one_nan(totals[1]), totals[3], totals[4], one_nan(totals[2])};
}

namespace {

double left_to_right(std::span<const float> values) {
  return std::accumulate(values.begin(), values.end(), 0.0F);
}

// One sum for every `group` neighbours.
std::vector<float> stage(std::span<const float> values, std::size_t group) {
  std::vector<float> sums;
  sums.reserve(values.size() / group + 1);
  for (std::size_t begin = 0; begin < values.size(); begin += group) {
    const auto part = values.subspan(begin, std::min(group, values.size() - begin));
    sums.push_back(std::accumulate(part.begin(), part.end(), 0.0F));
  }
  return sums;
}

double staged(std::span<const float> values) {
  return left_to_right(stage(stage(stage(values, 32), 32), 1024));
}

double tree(std::span<const float> values) {
  return reduce_floats(values).sum;
}

double kahan(std::span<const float> values) {
  float sum = 0;
  float error = 0;  // what the sum is too large by
  for (const float value : values) {
    const float corrected = value - error;
    const float next = sum + corrected;
    error = (next - sum) - corrected;
    sum = next;
  }
  return sum;
}

double in_double(std::span<const float> values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

}  // namespace

std::span<const FloatSum> float_sums() {
  static const std::array sums{FloatSum{"left to right", left_to_right},
                               FloatSum{"staged 32/32/1024", staged}, FloatSum{"tree", tree},
                               FloatSum{"Kahan", kahan}, FloatSum{"double", in_double}};
  return sums;
}

double exact_sum(float value, std::size_t count) {
  return static_cast<double>(value) * static_cast<double>(count);
}

namespace {

constexpr std::size_t lanes = 32;
constexpr std::size_t reference_block = 1024;

// One level of the tree: `take` adds a value to a lane, `join` a lane to a lane.
template <typename Take, typename Join>
std::vector<float> reduce_level(std::span<const float> values, float nothing, Take take,
                                Join join) {
  std::vector<float> results;
  for (std::size_t begin = 0; begin < values.size(); begin += reference_block) {
    const auto part = values.subspan(begin, std::min(reference_block, values.size() - begin));
    std::array<float, lanes> lane{};
    lane.fill(nothing);
    for (std::size_t i = 0; i < part.size(); ++i) {
      lane[i % lanes] = take(lane[i % lanes], part[i]);
    }
    for (std::size_t distance = lanes / 2; distance > 0; distance /= 2) {
      for (std::size_t l = 0; l < distance; ++l)
        lane[l] = join(lane[l], lane[l + distance]);
    }
    results.push_back(lane.front());
  }
  return results;
}

// The whole tree. `first` takes the array's own values, `join` those of later levels.
template <typename Take, typename Join>
float reduce_tree(std::span<const float> values, float nothing, Take first, Join join) {
  std::vector<float> level = reduce_level(values, nothing, first, join);
  while (level.size() > 1)
    level = reduce_level(level, nothing, join, join);
  return std::isnan(level.front()) ? std::numeric_limits<float>::quiet_NaN() : level.front();
}

// Whether a comes before b, -0 before +0.
bool precedes(float a, float b) {
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}

}  // namespace

IntegerTotals reduce_integers(std::span<const std::int32_t> values) {
  if (values.size() > max_integers) throw std::overflow_error("there are too many integers");
  IntegerTotals totals;
  for (const std::int32_t value : values) {
    const std::int64_t wide = value;
    totals.sum += wide;
    totals.sum_of_squares =
        checked_add(totals.sum_of_squares, static_cast<std::uint64_t>(wide * wide));
    totals.minimum = std::min(totals.minimum, value);
    totals.maximum = std::max(totals.maximum, value);
    totals.product *= static_cast<std::uint64_t>(wide);
    totals.bit_and &= static_cast<std::uint32_t>(value);
    totals.bit_or |= static_cast<std::uint32_t>(value);
    totals.bit_xor ^= static_cast<std::uint32_t>(value);
  }
  return totals;
}

FloatTotals reduce_floats(std::span<const float> values) {
  FloatTotals totals;
  if (values.empty()) return totals;
  const auto add = [](float a, float b) { return a + b; };
  const auto add_square = [](float sum, float value) { return std::fma(value, value, sum); };
  const auto multiply = [](float a, float b) { return a * b; };
  // -0 changes nothing that it is added to, not even -0.
  totals.sum = reduce_tree(values, -0.0F, add, add);
  totals.sum_of_squares = reduce_tree(values, -0.0F, add_square, add);
  totals.product = reduce_tree(values, 1.0F, multiply, multiply);
  for (const float value : values) {
    if (std::isnan(value)) continue;
    if (precedes(value, totals.minimum)) totals.minimum = value;
    if (precedes(totals.maximum, value)) totals.maximum = value;
  }
  return totals;
}

}  // namespace gpufilter::lab
