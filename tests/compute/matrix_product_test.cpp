// The matrix product gives the same bits everywhere: every device and kernel against the
// definition.
#include "compute/matrix_product.hpp"

#include "compute/picture_reduction.hpp"
#include "lab/forced_tuning.hpp"
#include "support/filtering.hpp"
#include "support/matrix_problems.hpp"
#include "support/picture_counting.hpp"

namespace gpufilter::test {
namespace {

using Problem = MatrixProblem;
using Number = std::uint64_t;

constexpr std::array activations{Activation::none, Activation::relu, Activation::clamp};
constexpr std::array sides{1, 15, 16, 17, 31, 33};

// Shapes with whole tiles, partial tiles and none in each direction.
std::vector<MatrixShape> shapes() {
  std::vector<MatrixShape> all{{5, 7, 0}};
  for (const auto& [rows, columns, depth] : each_of(sides, sides, sides))
    all.push_back({rows, columns, depth});
  for (const int other : {1, 17, 33})
    all.insert(all.end(), {{4097, other, 17}, {17, 4097, other}, {other, 16, 4097}});
  return all;
}

std::size_t index(int i) {
  return static_cast<std::size_t>(i);
}

std::size_t count(int rows, int columns) {
  return index(rows) * index(columns);
}

// Every sum is -0, which a single extra fma(0, 0, sum) would turn into 0.
Problem negative_zeros(const MatrixShape& shape) {
  return {shape, Activation::none, Floats(count(shape.rows, shape.depth), 1.0F),
          Floats(count(shape.depth, shape.columns), -0.0F), Floats(index(shape.rows), -0.0F)};
}

// Sums that consist only of these numbers.
Problem special_sums(Activation activation) {
  const Floats sums{
      std::numeric_limits<float>::quiet_NaN(), -0.0F, -1.0F, 0x1p-149F, 0.5F, 1.0F, 2.0F,
      std::numeric_limits<float>::infinity()};
  return {{static_cast<int>(sums.size()), 1, 0}, activation, {}, {}, sums};
}

// All shapes, each with different numbers, activation and bias than its neighbours.
std::vector<Problem> all_problems() {
  std::vector<Problem> problems;
  std::size_t i = 0;
  for (const MatrixShape& shape : shapes()) {
    const Values values = i % 4 == 0   ? Values::ordinary
                          : i % 4 == 3 ? Values::all_bits
                                       : Values::finite_extremes;
    problems.push_back(
        make_problem(shape, values, activations[i % activations.size()], i % 5 != 0, i));
    ++i;
  }
  problems.push_back(negative_zeros({5, 3, 1}));
  problems.push_back(negative_zeros({17, 33, 35}));
  for (const Activation activation : activations)
    problems.push_back(special_sums(activation));
  return problems;
}

struct KernelCase {
  const char* name;
  MatrixParameters parameters;

  // For GoogleTest, which would print bytes.
  friend void PrintTo(const KernelCase& kernel, std::ostream* out) {  // NOLINT(*-identifier-naming)
    *out << kernel.name;
  }
};

class MatrixProductKernel : public ::testing::TestWithParam<KernelCase> {};

bool fits(const Session& session, const MatrixParameters& parameters) {
  const auto side = static_cast<std::size_t>(parameters.tile);
  return parameters.variant != MatrixVariant::tiled ||
         session.device().fits(side, side, matrix_tile_bytes(parameters.tile));
}

TEST_P(MatrixProductKernel, GivesTheBitsOfTheDefinition) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  const std::vector<Problem> problems = all_problems();
  for (Session* session : kernel_sessions()) {
    if (!fits(*session, GetParam().parameters)) continue;  // refused: see below
    const MatrixProduct product(*session, GetParam().parameters);
    for (const Problem& problem : problems)
      ASSERT_TRUE(gives_the_defined_bits(*session, product, problem));
  }
}

// More rows of work-groups than a device takes in one launch.
TEST_P(MatrixProductKernel, WalksDownTallMatrices) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  const MatrixParameters& parameters = GetParam().parameters;
  const int group = parameters.variant == MatrixVariant::tiled ? parameters.tile : 1;
  const Problem problem =
      make_problem({32768 * group + 3, 1, 2}, Values::ordinary, Activation::none, true, 8);
  for (Session* session : kernel_sessions()) {
    if (!fits(*session, parameters)) continue;
    ASSERT_TRUE(gives_the_defined_bits(*session, MatrixProduct(*session, parameters), problem));
  }
}

std::string kernel_name(const ::testing::TestParamInfo<KernelCase>& info) {
  return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(All, MatrixProductKernel,
                         ::testing::Values(KernelCase{"naive", {MatrixVariant::naive, 16}},
                                           KernelCase{"tiled8", {MatrixVariant::tiled, 8}},
                                           KernelCase{"tiled16", {MatrixVariant::tiled, 16}},
                                           KernelCase{"tiled32", {MatrixVariant::tiled, 32}},
                                           KernelCase{"blocked", {MatrixVariant::blocked, 16}},
                                           KernelCase{"blocked16", blocked_for({16, 999, 9})},
                                           KernelCase{"blocked32", blocked_for({32, 999, 9})},
                                           KernelCase{"blocked64", blocked_for({64, 999, 9})},
                                           KernelCase{"blocked128", blocked_for({9999, 9999, 9})},
                                           KernelCase{"automatic", {}}),
                         kernel_name);

class MatrixProductLimits : public ::testing::Test {
 protected:
  void SetUp() override {
    if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  }
  static Session& session() { return *all_sessions().front(); }
};

void expect_refusal(const std::function<void()>& action, const std::string& text) {
  try {
    action();
    FAIL() << "accepted; expected: " << text;
  } catch (const UsageError& error) {
    EXPECT_TRUE(contains(std::string(error.what()), text));
  }
}

TEST_F(MatrixProductLimits, TilesThatDoNotFitAreRefused) {
  DeviceInfo device = session().device();
  device.max_work_group_size = 256;
  device.local_memory = 1024;
  Session small(device, std::nullopt);
  const auto make = [&small](int tile) {
    return [&small, tile] {
      static_cast<void>(MatrixProduct(small, {MatrixVariant::tiled, tile}));
    };
  };
  expect_refusal(make(32), "at most 256 work-items");
  expect_refusal(make(16), "1024 bytes of local memory, the tile needs 256 and 2048");
  expect_refusal(make(12), "the tile is 12, but must be 8, 16 or 32");
  EXPECT_NO_THROW(make(8)());
}

TEST_F(MatrixProductLimits, ShapesAndBuffersThatMakeNoSenseAreRefused) {
  const MatrixProduct product(session(), {MatrixVariant::naive, 16});
  Queue queue = session().make_queue();
  const Buffer six = session().allocate(6 * sizeof(float));
  const Buffer five = session().allocate(5 * sizeof(float));
  const auto multiply = [&](const MatrixOperands& operands, const MatrixShape& shape) {
    return [&, shape] {
      static_cast<void>(product.enqueue(queue, operands, shape, Activation::none));
    };
  };
  for (const MatrixShape shape : {MatrixShape{0, 1, 1}, {1, 0, 1}, {1, 1, -1}})
    expect_refusal(multiply({six, six, six}, shape), "no such matrix");
  const Buffer c = session().allocate(4 * sizeof(float));
  expect_refusal(multiply({five, six, c}, {2, 2, 3}), "A needs 24 bytes, its buffer has 20");
  expect_refusal(multiply({six, five, c}, {2, 2, 3}), "B needs 24 bytes");
  expect_refusal(multiply({six, six, five}, {2, 3, 2}), "C needs 24 bytes");
  expect_refusal(multiply({six, six, six, &five}, {6, 1, 1}), "the bias needs 24 bytes");
  EXPECT_NO_THROW(multiply({six, six, c}, {2, 2, 3})());
  queue.finish();
}

// The blocks of C that blocked matrix products are computed in.

// Shapes that the kernels treat differently: few rows, few and many blocks.
constexpr std::array typical_shapes{MatrixShape{16, 1, 1}, MatrixShape{32, 1, 1},
                                    MatrixShape{64, 1, 1}, MatrixShape{65, 65, 1},
                                    MatrixShape{9999, 9999, 1}};

// The smallest shapes and all around the sides of blocks, and several rows of blocks side by side.
TEST(MatrixBlocks, OfEveryShapeGiveTheBitsOfTheDefinition) {
  for (Session* session : kernel_sessions()) {
    for (const MatrixShape& typical : typical_shapes) {
      const MatrixProduct product(*session, blocked_for(typical));
      std::uint64_t seed = 20;
      for (const MatrixShape& shape : {MatrixShape{127, 255, 7},
                                       {128, 256, 8},
                                       {129, 257, 9},
                                       {260, 516, 20},
                                       {1300, 66, 12},
                                       {63, 129, 16},
                                       {65, 132, 24},
                                       {16, 1028, 4},
                                       {2, 2, 3},
                                       {3, 4, 4}}) {
        ASSERT_TRUE(gives_the_defined_bits(
            *session, product,
            make_problem(shape, Values::all_bits, Activation::none, true, seed++)));
      }
    }
  }
}

class MatrixBlocksOnSmallDevices : public ::testing::Test {
 protected:
  void SetUp() override {
    if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  }
  // This machine's device as a GPU with less room.
  static DeviceInfo device(std::size_t work_items, std::uint64_t local_bytes) {
    DeviceInfo device = all_sessions().front()->device();
    device.kind = DeviceKind::gpu;
    device.max_work_group_size = work_items;
    device.local_memory = local_bytes;
    return device;
  }
};

TEST_F(MatrixBlocksOnSmallDevices, AreSmallerAndGiveTheSameBits) {
  struct Limits {
    std::size_t work_items;
    std::uint64_t local_bytes;
  };
  for (const Limits& limits : {Limits{1024, 32768}, {1024, 16384}, {128, 32768}, {64, 10240}}) {
    Session small(device(limits.work_items, limits.local_bytes), std::nullopt);
    for (const MatrixShape& typical : typical_shapes) {
      SCOPED_TRACE(testing::Message() << limits.work_items << " work-items, " << limits.local_bytes
                                      << " bytes, " << typical.rows << " rows");
      const MatrixBlock block = block_for(small.device(), typical);
      EXPECT_LE(block.items(), limits.work_items);
      EXPECT_LE(block.local_bytes(), limits.local_bytes);
      const MatrixProduct product(small, blocked_for(typical));
      ASSERT_TRUE(gives_the_defined_bits(
          small, product, make_problem({35, 67, 9}, Values::all_bits, Activation::none, true, 3)));
      EXPECT_EQ(MatrixProduct(small, {.typical = typical}).variant(), product.variant());
    }
  }
}

TEST_F(MatrixBlocksOnSmallDevices, AreTheLargestThatFit) {
  const MatrixShape few_rows{16, 1, 1};
  EXPECT_EQ(block_for(device(1024, 49152), few_rows).columns, 256U);
  EXPECT_EQ(block_for(device(1024, 32768), few_rows).columns, 128U);
  const MatrixShape large{9999, 9999, 1};
  EXPECT_EQ(block_for(device(256, 32768), large).rows, 128U);
  EXPECT_EQ(block_for(device(128, 32768), large).rows, 64U);
  EXPECT_EQ(block_for(device(64, 32768), large).rows, 32U);
}

TEST_F(MatrixBlocksOnSmallDevices, AreRefusedIfNoneFits) {
  Session small(device(1024, 4096), std::nullopt);
  EXPECT_THROW(MatrixProduct(small, blocked_for({64, 64, 1})), UsageError);
  EXPECT_EQ(MatrixProduct(small, MatrixParameters{}).variant(), "tiled 16x16");
}

// The numbers that kernels of the matrix product read, as counted while they run, are those that
// follow from what their work-groups share.

Number whole(int number) {
  return static_cast<Number>(number);
}

Number divided_up(Number count, Number by) {
  return (count + by - 1) / by;
}

Number product_of(const MatrixShape& shape) {
  return whole(shape.rows) * whole(shape.columns) * whole(shape.depth);
}

// A work-item for each element, which reads a row of A and a column of B.
Number by_elements(const MatrixShape& shape) {
  return 2 * product_of(shape);
}

// Every number is read once for each tile of C that it goes into.
Number by_tiles(const MatrixShape& shape, Number tile) {
  return whole(shape.rows) * whole(shape.depth) * divided_up(whole(shape.columns), tile) +
         whole(shape.depth) * whole(shape.columns) * divided_up(whole(shape.rows), tile);
}

// Every work-group reads whole blocks of A and B, in fours, also where it extends beyond C, and all
// of its work-items read the same number of times.
Number by_blocks(const MatrixShape& shape, const MatrixBlock& block) {
  const Number groups =
      divided_up(whole(shape.rows), block.rows) * divided_up(whole(shape.columns), block.columns);
  const Number steps = divided_up(whole(shape.depth), block.depth);
  const Number loads = divided_up(block.rows * block.depth / 4, block.items()) +
                       divided_up(block.columns * block.depth / 4, block.items());
  return groups * steps * loads * block.items() * 4;
}

// With the plain build beside it; both give the right bits.
void expect_reads(Session& session, const MatrixProduct& product, const MatrixShape& shape,
                  Number expected) {
  SCOPED_TRACE(testing::Message() << session.device().name << ", " << product.variant() << ", "
                                  << shape.rows << "x" << shape.depth << " by " << shape.depth
                                  << "x" << shape.columns);
  const auto problem = make_problem(shape, Values::finite_extremes, Activation::none, true, 5);
  ASSERT_TRUE(gives_the_defined_bits(session, product, problem));
  Queue queue = session.make_queue();
  const MatricesOnDevice matrices(session, queue, problem);
  EXPECT_EQ(product.count_reads(session, queue, matrices.operands(), shape), expected);
  ASSERT_TRUE(matrices.are_right(queue));
}

class MatrixReads : public ::testing::TestWithParam<MatrixShape> {};

TEST_P(MatrixReads, OfTheNaiveKernelAreTwoForEachTerm) {
  for (Session* session : kernel_sessions()) {
    const MatrixProduct product(*session, {MatrixVariant::naive});
    expect_reads(*session, product, GetParam(), by_elements(GetParam()));
  }
}

TEST_P(MatrixReads, OfTilesAreOneForEachTile) {
  for (Session* session : kernel_sessions()) {
    for (const int tile : {8, 16, 32}) {
      const auto side = static_cast<std::size_t>(tile);
      if (!session->device().fits(side, side, matrix_tile_bytes(tile))) continue;
      const MatrixProduct product(*session, {MatrixVariant::tiled, tile});
      expect_reads(*session, product, GetParam(), by_tiles(GetParam(), whole(tile)));
    }
  }
}

TEST_P(MatrixReads, OfBlocksAreWholeBlocks) {
  for (Session* session : kernel_sessions()) {
    for (const MatrixShape& typical :
         {MatrixShape{16, 1, 1}, {32, 1, 1}, {64, 1, 1}, {65, 65, 1}, {9999, 9999, 1}}) {
      const MatrixBlock block = block_for(session->device(), typical);
      const MatrixProduct product(*session,
                                  {.variant = MatrixVariant::blocked, .typical = typical});
      expect_reads(*session, product, GetParam(), by_blocks(GetParam(), block));
    }
  }
}

std::string shape_name(const ::testing::TestParamInfo<MatrixShape>& info) {
  return formatted("{}by{}by{}", info.param.rows, info.param.depth, info.param.columns);
}

// Small enough for a simulator of devices: scripts/check-kernels.sh.
INSTANTIATE_TEST_SUITE_P(Small, MatrixReads,
                         ::testing::Values(MatrixShape{1, 1, 1}, MatrixShape{5, 6, 0},
                                           MatrixShape{18, 35, 9}),
                         shape_name);
// All blocks divide the first one.
INSTANTIATE_TEST_SUITE_P(Large, MatrixReads,
                         ::testing::Values(MatrixShape{128, 256, 32}, MatrixShape{64, 128, 16},
                                           MatrixShape{33, 70, 19}, MatrixShape{130, 64, 8},
                                           MatrixShape{17, 260, 4}, MatrixShape{33, 33, 33}),
                         shape_name);

// What tuning may choose for statistics and matrix products gives the same bits. Compiling all
// candidates would take PoCL minutes: some of each kind are tried here, all of them by `gpufilter
// tune` before it chooses.

// The devices here, as if each were a GPU: with the candidates that only GPUs have.
class Candidates : public ::testing::Test {
 protected:
  void SetUp() override {
    for (const auto& known : all_sessions()) {
      DeviceInfo device = known->device();
      device.kind = DeviceKind::gpu;
      sessions_.push_back(std::make_unique<Session>(device, std::nullopt));
      sessions_.back()->set_tuning(tuning_);
    }
    if (sessions_.empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  }

  // Calls `check` with every `step`-th candidate of the one site that `ask` asks.
  template <typename Ask, typename Check>
  void for_candidates(const Ask& ask, std::size_t minimum, std::size_t step, const Check& check) {
    ask();
    const auto sites = tuning_->take_sites();
    ASSERT_EQ(sites.size(), 1U);
    const auto& [key, site] = *sites.begin();
    EXPECT_GE(site.candidates.size(), minimum) << key;
    for (std::size_t i = 0; i < site.candidates.size(); i += step) {
      tuning_->force(key, i);
      check(key + ": " + to_string(site.candidates[i]));
    }
    tuning_->force_none();
    static_cast<void>(tuning_->take_sites());
  }

  static PictureStatistics gathered(Session& session, const Image& image, Quantity quantity) {
    Queue queue = session.make_queue();
    const Buffer buffer = session.allocate(image.bytes() + row_slack);
    queue.upload(buffer, image.rows().data, image.bytes());
    PictureReducer reducer(session, image.width(), image.format(), quantity);
    static_cast<void>(reducer.add(queue, {&buffer, {0, image.size().height}}));
    return reducer.result(queue);
  }

  void expect_counted(const Image& image, Quantity quantity, std::size_t minimum,
                      std::size_t step) {
    const PictureStatistics expected = counted(image, quantity);
    for (const auto& session : sessions_) {
      const auto ask = [&] {
        static_cast<void>(PictureReducer(*session, image.width(), image.format(), quantity));
      };
      for_candidates(ask, minimum, step, [&](const std::string& name) {
        EXPECT_TRUE(gathered(*session, image, quantity) == expected) << name;
      });
    }
  }

  std::shared_ptr<lab::ForcedTuning> tuning_ = std::make_shared<lab::ForcedTuning>();
  std::vector<std::unique_ptr<Session>> sessions_;
};

TEST_F(Candidates, OfTotals) {
  expect_counted(random_image({4411, 9}, {4, 8}, 1), Quantity::totals, 6, 5);
  expect_counted(random_image({523, 9}, {1, 16}, 2), Quantity::totals, 3, 3);
}

TEST_F(Candidates, OfHistograms) {
  expect_counted(random_image({4411, 9}, {2, 8}, 3), Quantity::channel_histograms, 9, 4);
  expect_counted(random_image({301, 9}, {3, 8}, 4), Quantity::luma_histogram, 9, 11);
}

// Counters of 16 bits in local memory, for one value alone: a launch is cut where they would end.
TEST_F(Candidates, CountMoreThanTheirCountersHold) {
  for (const ImageSize size : {ImageSize{8192, 1600}, ImageSize{7, 150000}}) {
    Image image(size, {1, 8});
    std::memset(image.rows().data, 77, image.bytes());
    for (const auto& session : sessions_) {
      const Histograms found =
          std::get<Histograms>(gathered(*session, image, Quantity::channel_histograms));
      EXPECT_EQ(found.channels[0][77], size.pixels());
      EXPECT_EQ(found.channels[0][76] + found.channels[0][78], 0U);
    }
  }
}

// Opaque alpha is not taken apart; alpha that is opaque in places is.
TEST_F(Candidates, OfPicturesThatAreOpaqueInPlaces) {
  for (const PixelFormat format : {PixelFormat{4, 8}, {2, 8}, {4, 16}, {2, 16}}) {
    Image image = random_image({777, 11}, format, 5);
    for (const auto [x, y] : each_pixel({777, 11})) {
      if (y < 4 || x / 64 % 2 == 0)
        set_sample(image, x, y, format.channels - 1, format.max_sample());
      for (int c = 0; c < format.channels; ++c)
        set_sample(image, x, y, c, sample_at(image, x, y, c) | 1U);
    }
    for (const auto& [session, quantity] : each_of(
             sessions_, std::vector<Quantity>{Quantity::totals, Quantity::channel_histograms})) {
      EXPECT_TRUE(gathered(*session, image, quantity) == counted(image, quantity))
          << to_string(format) << ", " << to_string(quantity);
    }
  }
}

std::vector<float> random_numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> numbers(count);
  for (float& number : numbers)
    number = static_cast<float>(static_cast<std::int32_t>(random())) * 0x1p-31F;
  return numbers;
}

TEST_F(Candidates, OfMatrixProducts) {
  constexpr int depth = 37;
  for (const int rows : {16, 131}) {
    constexpr int columns = 267;
    const auto m = static_cast<std::size_t>(rows);
    const auto a = random_numbers(m * depth, 1);
    const auto b = random_numbers(std::size_t{depth} * columns, 2);
    std::vector<float> expected(m * columns);
    for (std::size_t row = 0; row < m; ++row) {
      for (std::size_t k = 0; k < depth; ++k) {
        for (std::size_t column = 0; column < columns; ++column) {
          float& sum = expected[row * columns + column];
          sum = std::fma(a[row * depth + k], b[k * columns + column], sum);
        }
      }
    }
    const MatrixShape shape{rows, columns, depth};
    for (const auto& session : sessions_) {
      const auto make = [&] { return MatrixProduct(*session, {.typical = shape}); };
      Queue queue = session->make_queue();
      const Buffer of_a = session->allocate(a.size() * 4);
      const Buffer of_b = session->allocate(b.size() * 4);
      const Buffer of_c = session->allocate(expected.size() * 4);
      queue.upload(of_a, a.data(), of_a.size());
      queue.upload(of_b, b.data(), of_b.size());
      for_candidates(
          [&] { static_cast<void>(make()); }, 6, 8,
          [&](const std::string& name) {
            std::vector<float> found(expected.size(), NAN);
            queue.upload(of_c, found.data(), of_c.size());
            static_cast<void>(make().enqueue(queue, {of_a, of_b, of_c}, shape, Activation::none));
            queue.download(of_c, found.data(), of_c.size());
            queue.finish();
            EXPECT_EQ(std::memcmp(found.data(), expected.data(), of_c.size()), 0) << name;
          });
    }
  }
}

}  // namespace
}  // namespace gpufilter::test
