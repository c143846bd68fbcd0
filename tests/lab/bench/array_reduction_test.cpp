// Reductions of arrays: the reference against a second implementation, then every device and path
// against the reference, to the bit.
#include "lab/bench/array_reduction.hpp"

#include <cctype>

#include "support/filtering.hpp"

namespace gpufilter::lab {
namespace {

using test::each_of;

constexpr std::array<std::size_t, 16> lengths{
    0, 1, 2, 31, 32, 33, 63, 64, 1023, 1024, 1025, 4097, 65537, 99999, 1048576, 1048577};
constexpr std::array paths{ReductionPath::serial, ReductionPath::nvidia, ReductionPath::sub_groups,
                           ReductionPath::local_memory};

// The comparison used below: two floats with the same bits.
std::uint32_t bits(float value) {
  return std::bit_cast<std::uint32_t>(value);
}

#define EXPECT_SAME_FLOATS(a, b)                                          \
  do {                                                                    \
    EXPECT_EQ(bits((a).sum), bits((b).sum)) << (a).sum << " " << (b).sum; \
    EXPECT_EQ(bits((a).sum_of_squares), bits((b).sum_of_squares));        \
    EXPECT_EQ(bits((a).minimum), bits((b).minimum));                      \
    EXPECT_EQ(bits((a).maximum), bits((b).maximum));                      \
    EXPECT_EQ(bits((a).product), bits((b).product));                      \
  } while (false)

std::vector<std::int32_t> random_integers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<std::int32_t> values(count);
  // Numbers of all magnitudes that keep the sum of squares within 64 bits; they are odd, so that
  // the product does not become 0.
  for (auto& value : values)
    value = (static_cast<std::int32_t>(random()) >> (10 + random() % 20)) | 1;
  return values;
}

// Numbers of very different magnitudes: each order of addition gives a different sum.
std::vector<float> random_floats(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    const auto mantissa = static_cast<float>(static_cast<std::int32_t>(random()));
    value = std::ldexp(mantissa, -static_cast<int>(random() % 12));
  }
  return values;
}

// About one: the product neither vanishes nor overflows, and each order gives a different one.
std::vector<float> random_factors(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> values(count);
  for (float& value : values) {
    value = 1.0F + static_cast<float>(static_cast<std::int32_t>(random())) / 2147483648.0F / 512.0F;
    if (random() % 2 == 0) value = -value;
  }
  return values;
}

Buffer uploaded(Session& session, Queue& queue, const void* data, std::size_t bytes) {
  // The buffer is longer than the values, and the numbers after them would change every result.
  const std::vector<std::uint8_t> poison(bytes + 8192, 0xA5);
  Buffer buffer = session.allocate(poison.size());
  queue.upload(buffer, poison.data(), poison.size());
  if (bytes > 0) queue.upload(buffer, data, bytes);
  queue.finish();
  return buffer;
}

// The reductions of each device that offers the path.
class OnPath : public ::testing::TestWithParam<ReductionPath> {
 protected:
  void SetUp() override {
    for (const auto& session : test::all_sessions()) {
      if (objection(session->device(), GetParam()).empty()) sessions_.push_back(session.get());
    }
    if (sessions_.empty()) {
      GTEST_SKIP() << "skipped: no OpenCL device here reduces by " << to_string(GetParam());
    }
  }

  void expect_reference(const std::vector<std::int32_t>& values) {
    const IntegerTotals expected = reduce_integers(values);
    for (Session* session : sessions_) {
      Queue queue = session->make_queue();
      const Buffer buffer = uploaded(*session, queue, values.data(), values.size() * 4);
      IntegerReducer reducer(*session, GetParam());
      EXPECT_TRUE(reducer.reduce(queue, buffer, values.size()) == expected)
          << session->device().name << ", " << values.size() << " values, "
          << reducer.description().variant;
    }
  }

  void expect_reference(const std::vector<float>& values) {
    const FloatTotals expected = reduce_floats(values);
    for (Session* session : sessions_) {
      SCOPED_TRACE(session->device().name + ", " + std::to_string(values.size()) + " values");
      Queue queue = session->make_queue();
      const Buffer buffer = uploaded(*session, queue, values.data(), values.size() * 4);
      FloatReducer reducer(*session, GetParam());
      const FloatTotals result = reducer.reduce(queue, buffer, values.size());
      EXPECT_SAME_FLOATS(result, expected);
    }
  }

  std::vector<Session*> sessions_;
};

std::string path_name(const ::testing::TestParamInfo<ReductionPath>& info) {
  std::string name = to_string(info.param);
  for (char& letter : name) {
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  }
  return name;
}

INSTANTIATE_TEST_SUITE_P(Reductions, OnPath, ::testing::ValuesIn(paths), path_name);

// ---- Integers ----

TEST(IntegerReduction, OfNothingChangesNothing) {
  EXPECT_TRUE(reduce_integers({}) == IntegerTotals{});
}

TEST(IntegerReduction, EqualsTheDefinition) {
  for (const std::size_t length : lengths) {
    if (length == 0) continue;
    const std::vector<std::int32_t> values = random_integers(length, 1);
    IntegerTotals expected;
    expected.minimum = *std::min_element(values.begin(), values.end());
    expected.maximum = *std::max_element(values.begin(), values.end());
    expected.sum = std::accumulate(values.rbegin(), values.rend(), std::int64_t{0});
    // The other four bit by bit or digit by digit.
    for (int bit = 0; bit < 32; ++bit) {
      std::size_t ones = 0;
      for (const std::int32_t value : values)
        ones += (static_cast<std::uint32_t>(value) >> bit) & 1U;
      const std::uint32_t mask = 1U << bit;
      if (ones != length) expected.bit_and &= ~mask;
      if (ones != 0) expected.bit_or |= mask;
      if (ones % 2 == 1) expected.bit_xor |= mask;
    }
    for (const std::int32_t value : values) {
      const auto size = static_cast<std::uint64_t>(std::abs(std::int64_t{value}));
      expected.sum_of_squares += size * size;
      expected.product = (value < 0 ? 0 - expected.product : expected.product) * size;
    }
    EXPECT_TRUE(reduce_integers(values) == expected) << length;
  }
}

TEST_P(OnPath, IntegersEqualTheReference) {
  for (const std::size_t length : lengths)
    expect_reference(random_integers(length, 2));
}

TEST_P(OnPath, ExtremeIntegersEqualTheReference) {
  for (const auto& [value, length] :
       each_of(std::vector<std::int32_t>{0, 1, -1, INT32_MAX, INT32_MIN, 0x55555555},
               std::vector<std::size_t>{1, 2, 3})) {
    expect_reference(std::vector<std::int32_t>(length, value));
  }
  // 2^20 + 1 values whose sum needs 37 bits.
  expect_reference(std::vector<std::int32_t>(1048577, -65537));
}

TEST_P(OnPath, EachIntegerCountsWhereverItStands) {
  for (const std::size_t place : {0, 1, 31, 32, 33, 1023, 1024, 2047, 2048, 70000, 70001}) {
    std::vector<std::int32_t> values(70002, 1);
    values[place] = -12345;
    expect_reference(values);
  }
}

TEST_P(OnPath, ASumOfSquaresBeyond64BitsIsAnError) {
  // Exactly 2^64 - 1.
  expect_reference(std::vector{INT32_MIN, INT32_MIN, INT32_MIN, INT32_MAX, 65535, 362, 5});
  const std::vector<std::int32_t> values(4, INT32_MIN);  // exactly 2^64
  EXPECT_THROW((void)reduce_integers(values), std::overflow_error);
  for (Session* session : sessions_) {
    Queue queue = session->make_queue();
    const Buffer buffer = uploaded(*session, queue, values.data(), values.size() * 4);
    IntegerReducer reducer(*session, GetParam());
    EXPECT_THROW((void)reducer.reduce(queue, buffer, values.size()), std::overflow_error);
    EXPECT_EQ(reducer.reduce(queue, buffer, 3).sum, 3 * std::int64_t{INT32_MIN})
        << "after a failure";
  }
}

TEST_P(OnPath, MoreValuesThanTheBufferHasAreRefused) {
  for (Session* session : sessions_) {
    Queue queue = session->make_queue();
    const Buffer buffer = session->allocate(4000);
    EXPECT_THROW((void)IntegerReducer(*session, GetParam()).reduce(queue, buffer, 1001),
                 UsageError);
    EXPECT_THROW((void)FloatReducer(*session, GetParam()).reduce(queue, buffer, 1001), UsageError);
  }
}

// ---- Floats ----

// A second implementation of the tree, from its description and for one node at a time: requested
// from the top, the value of lane l of 2^level neighbours of block b.
class Tree {
 public:
  using Operation = std::function<float(float, float)>;
  Tree(std::vector<float> values, Operation first, Operation join)
      : values_(std::move(values)), first_(std::move(first)), join_(std::move(join)) {}

  [[nodiscard]] float root(float nothing) const {
    std::vector<float> blocks;
    for (std::size_t begin = 0; begin < values_.size(); begin += 1024)
      blocks.push_back(lane(begin, 0, 1, nothing));
    if (blocks.size() == 1) return blocks.front();
    return Tree(std::move(blocks), join_, join_).root(nothing);
  }

 private:
  // `stride` is how many lanes are left when lane l is asked for.
  [[nodiscard]] float lane(std::size_t begin, std::size_t l, std::size_t stride,
                           float nothing) const {
    if (stride < 32) {
      return join_(lane(begin, l, 2 * stride, nothing),
                   lane(begin, l + stride, 2 * stride, nothing));
    }
    float value = nothing;
    for (std::size_t i = begin + l; i < std::min(begin + 1024, values_.size()); i += 32)
      value = first_(value, values_[i]);
    return value;
  }

  std::vector<float> values_;
  Operation first_;
  Operation join_;
};

TEST(FloatReduction, OfNothingChangesNothing) {
  const FloatTotals totals = reduce_floats({});
  EXPECT_SAME_FLOATS(totals, FloatTotals{});
}

TEST(FloatReduction, FollowsTheTree) {
  for (const std::size_t length : lengths) {
    if (length == 0) continue;
    const std::vector<float> values = random_floats(length, 3);
    const FloatTotals totals = reduce_floats(values);
    const auto add = [](float a, float b) { return a + b; };
    const auto multiply = [](float a, float b) { return a * b; };
    const auto add_square = [](float a, float b) { return std::fma(b, b, a); };
    EXPECT_EQ(bits(totals.sum), bits(Tree(values, add, add).root(-0.0F))) << length;
    EXPECT_EQ(bits(totals.sum_of_squares), bits(Tree(values, add_square, add).root(-0.0F)))
        << length;
    const std::vector<float> factors = random_factors(length, 3);
    const float product = reduce_floats(factors).product;
    EXPECT_EQ(bits(product), bits(Tree(factors, multiply, multiply).root(1.0F))) << length;
    EXPECT_NEAR(std::log2(std::abs(product)), 0, 20) << "the test's numbers are well chosen";
    EXPECT_EQ(totals.minimum, *std::min_element(values.begin(), values.end()));
    EXPECT_EQ(totals.maximum, *std::max_element(values.begin(), values.end()));
  }
}

TEST(FloatReduction, IsNearTheTrueSum) {
  const std::vector<float> values = random_floats(1048577, 4);
  double sum = 0;
  double squares = 0;
  double sizes = 0;
  for (const double value : values) {
    sum += value;
    sizes += std::abs(value);
    squares += value * value;
  }
  // A chain of 32, then 5, then the same twice more: fewer than 120 roundings for any value.
  const double rounding = 120 * std::ldexp(1.0, -24);
  EXPECT_NEAR(reduce_floats(values).sum, sum, rounding * sizes);
  EXPECT_NEAR(reduce_floats(values).sum_of_squares, squares, rounding * squares);
}

TEST(FloatReduction, KeepsZerosAndNumbersApart) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(bits(reduce_floats(std::vector{-0.0F}).sum), bits(-0.0F));
  EXPECT_EQ(bits(reduce_floats(std::vector{-0.0F, 0.0F}).minimum), bits(-0.0F));
  EXPECT_EQ(bits(reduce_floats(std::vector{0.0F, -0.0F}).minimum), bits(-0.0F));
  EXPECT_EQ(bits(reduce_floats(std::vector{-0.0F, 0.0F}).maximum), bits(0.0F));
  const FloatTotals mixed = reduce_floats(std::vector{nan, 3.0F, -2.0F});
  EXPECT_EQ(bits(mixed.sum), bits(nan));
  EXPECT_EQ(mixed.minimum, -2.0F);
  EXPECT_EQ(mixed.maximum, 3.0F);
  EXPECT_EQ(bits(reduce_floats(std::vector{infinity, -infinity}).sum), bits(nan));
  EXPECT_EQ(reduce_floats(std::vector{nan, nan}).minimum, infinity);
  EXPECT_EQ(reduce_floats(std::vector{nan, nan}).maximum, -infinity);
}

TEST_P(OnPath, FloatsEqualTheReference) {
  for (const std::size_t length : lengths) {
    expect_reference(random_floats(length, 5));
    expect_reference(random_factors(length, 5));
  }
}

TEST_P(OnPath, StrangeFloatsEqualTheReference) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const float infinity = std::numeric_limits<float>::infinity();
  const float least = std::numeric_limits<float>::denorm_min();
  const std::array strange{0.0F,   -0.0F,  1.0F,     least,
                           -least, 1e-40F, infinity, -infinity,
                           3e38F,  -3e38F, nan,      std::numeric_limits<float>::min()};
  for (const auto& [value, length] : each_of(strange, std::vector<std::size_t>{1, 33, 1025}))
    expect_reference(std::vector<float>(length, value));
  std::mt19937 random(6);
  for (const std::size_t count : {strange.size() - 6, strange.size() - 2, strange.size()}) {
    std::vector<float> values(5000);
    for (float& value : values)
      value = strange[random() % count];
    expect_reference(values);
  }
}

// 1.1, which is 1.10000002384... as a float, added 2^20 times: exactly 1153433.625, or 1153433.6
// for the decimal 1.1. Floats of that size are 0.125 apart. The tree gives the next one; a running
// sum, rounded a million times, is wrong by one percent.
TEST_P(OnPath, OnePointOneAMillionTimes) {
  const std::vector<float> values(1048576, 1.1F);
  float naive = 0;
  for (const float value : values)
    naive += value;
  const double exact = 1048576.0 * 1.1;
  const FloatTotals tree = reduce_floats(values);
  RecordProperty("exact", std::to_string(exact));
  RecordProperty("tree", std::to_string(tree.sum));
  RecordProperty("left_to_right", std::to_string(naive));
  expect_reference(values);
  EXPECT_NEAR(exact, 1153433.6, 1e-6);
  EXPECT_EQ(tree.sum, 1153433.75F);
  EXPECT_EQ(naive, 1165568.5F);
}

TEST(ReductionPaths, ThatADeviceLacksAreRefused) {
  if (test::all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  DeviceInfo device = test::all_sessions().front()->device();
  device.kind = DeviceKind::gpu;
  device.max_work_group_size = 256;
  device.local_memory = 32768;
  device.compute_capability = 0;
  device.max_sub_groups = 0;
  EXPECT_THROW((void)choose_reduction(device, ReductionPath::nvidia), UsageError);
  EXPECT_THROW((void)choose_reduction(device, ReductionPath::sub_groups), UsageError);
  EXPECT_EQ(choose_reduction(device, ReductionPath::automatic).path, ReductionPath::local_memory);
  device.max_sub_groups = 8;
  EXPECT_EQ(choose_reduction(device, ReductionPath::automatic).path, ReductionPath::sub_groups);
  device.compute_capability = 75;
  EXPECT_EQ(choose_reduction(device, ReductionPath::automatic).path, ReductionPath::nvidia);
  device.max_work_group_size = 16;
  EXPECT_EQ(choose_reduction(device, ReductionPath::automatic).path, ReductionPath::serial);
  EXPECT_THROW((void)choose_reduction(device, ReductionPath::local_memory), UsageError);
}

}  // namespace
}  // namespace gpufilter::lab
