// The table and the chart of "gpufilter bench" from constructed reports.

#include "host/instruction_set.hpp"
#include "lab/bench/array_reduction.hpp"
#include "lab/bench/host_products.hpp"
#include "lab/bench/open_blas.hpp"
#include "lab/bench/report.hpp"
#include "lab/products/low_product.hpp"
#include "lab/products/sampled_errors.hpp"
#include "lab/stage_samples.hpp"
#include "lab/tune/tuner.hpp"
#include "lab/verify/verifier.hpp"
#include "support/document_checks.hpp"

namespace gpufilter::lab {
namespace {

using test::count_of;
using test::each_of;
using Values = std::set<std::size_t>;

constexpr const char* date = "2026-01-31T12:00:00Z";

Report copies() {
  Report report;
  report.bench = "copy";
  report.processor = "EPYC 9474F, 2 threads, avx512";
  report.columns = {{"mb", "MB", 4}, {"copy", "copy"}, {"where", ""}, {"rate", "GB/s", 3}};
  for (const double mb : {1.048576, 67.108864}) {
    report.rows.push_back(
        {{"mb", mb}, {"copy", "one core"}, {"where", lab::on_processor}, {"rate", 1.5 * mb}});
  }
  report.chart = lab::ChartOfBars{
      .title = "Copies", .value = "rate", .value_label = "GB/s", .labels = {"mb", "copy"}};
  return report;
}

TEST(BenchTable, HeadingsAreAboveTheirColumns) {
  const std::string text = bench_text(copies(), date);
  EXPECT_EQ(text.substr(text.find("\n\n")),
            "\n\n"
            "   MB  copy      GB/s\n"
            "1.049  one core  1.57\n"
            "67.11  one core   101\n");
}

TEST(BenchTable, AFirstColumnOfTextIsAlignedToo) {
  Report report = copies();
  report.columns = {{"copy", "copy"}, {"rate", "GB/s", 3}};
  const std::string text = bench_text(report, date);
  EXPECT_EQ(text.substr(text.find("\n\n")),
            "\n\n"
            "copy      GB/s\n"
            "one core  1.57\n"
            "one core   101\n");
}

// The least informative columns are left out first, unless columns are chosen.
TEST(BenchTable, FitsATerminalUnlessColumnsAreChosen) {
  Report report = copies();
  report.columns = joined({{{"copy", "copy"}}, time_columns(), {{"rate", "GB/s", 3}}});
  for (Row& row : report.rows) {
    row["copy"] = std::string(45, 'x');
    for (const char* key : {"mean_ms", "min_ms", "max_ms", "deviation_ms", "wall_ms"})
      row[key] = 123456.0;
  }
  report.parameters.push_back(
      {"filtered by", std::string(50, 'x') + " (the first CPU device; there is no GPU)"});
  std::string text = bench_text(report, date);
  EXPECT_TRUE(text.ends_with("\nnot shown: deviation_ms, max_ms (--columns)\n")) << text;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 80U) << line;
  choose_columns(report, {"rate", "trials", "max_ms", "copy"});
  text = bench_text(report, date);
  EXPECT_EQ(text.substr(text.find("\n\n"), 30), "\n\nGB/s     max  copy\n1.57  123");
  EXPECT_EQ(test::objection_to([&] { choose_columns(report, {"rates"}); }, ""),
            "--columns: 'rates' is not a column; those are rate, trials, max_ms, copy");
}

// What is the same in each row is said once; other columns are left out from the right.
TEST(BenchTable, CommonValuesStandAboveIt) {
  Report report = copies();
  report.columns = {{"copy", "copy"},
                    {"stage", "stage"},
                    {"rate", "GB/s", 3},
                    {"wide", "wide"},
                    {"bits", "bits"}};
  int number = 0;
  for (Row& row : report.rows) {
    row["copy"] = formatted("{:<40}{}", "", ++number);
    row["stage"] = std::string("blur");
    row["wide"] = formatted("{:<40}{}", "", number);
    row["bits"] = std::string(lab::bits_equal);
  }
  const std::string text = bench_text(report, date);
  EXPECT_NE(text.find("\nstage      blur\n\ncopy "), std::string::npos) << text;
  EXPECT_NE(text.find("  1.57  equal\n"), std::string::npos) << text;
  EXPECT_NE(text.find("\nnot shown: wide (--columns)\n"), std::string::npos) << text;
}

TEST(BenchChart, BarsOfDifferentSizesHaveDifferentLabels) {
  const std::string svg = bench_chart(copies(), date);
  EXPECT_EQ(test::objection_to_svg(svg), "");
  EXPECT_EQ(count_of(svg, ">1.049 MB, one core<"), 1U) << svg;
  EXPECT_EQ(count_of(svg, ">67.11 MB, one core<"), 1U);
}

TEST(BenchChart, NamesTheProcessorAndTheDevice) {
  Report report = copies();
  const std::string svg = bench_chart(report, date);
  EXPECT_EQ(count_of(svg, ">processor: EPYC 9474F; gpufilter "), 1U);
  EXPECT_EQ(count_of(svg, ", 2026-01-31<"), 1U);
  report.device = "NVIDIA H200";
  EXPECT_EQ(count_of(bench_chart(report, date), ">device: NVIDIA H200; processor: EPYC 9474F; "),
            1U);
}

// Errors of floats against double precision.

TEST(LargestErrors, AreThoseOfTheWorstNumbersAndCountUnitsInTheLastPlace) {
  // 3 is one above 2, where floats are 2^-22 apart; 1.5 is a hundredth of 150.
  const LargestErrors errors =
      largest_errors(std::array{3.0F, 148.5F, 7.0F}, std::array{2.0, 150.0, 7.0});
  EXPECT_EQ(errors.absolute, 1.5);
  EXPECT_EQ(errors.relative, 0.5);
  EXPECT_EQ(errors.ulp, 0x1p22);
  const double third = 1.0 / 3;
  const auto rounded = static_cast<float>(third);
  EXPECT_LE(largest_errors(std::array{rounded}, std::array{third}).ulp, 0.5);
  // Floats from 0.25 to 0.5 are 2^-25 apart.
  const LargestErrors one_more = largest_errors(std::array{0.25F + 0x1p-25F}, std::array{0.25});
  EXPECT_EQ(one_more.ulp, 1);
  EXPECT_EQ(one_more.absolute, 0x1p-25);
  EXPECT_EQ(one_more.relative, 0x1p-23);
  // The sum of 1.1, 2^20 times, from left to right: between 2^20 and 2^21 floats are 1/8 apart.
  EXPECT_EQ(largest_errors(std::array{1165568.5F}, std::array{1153433.625}).ulp, 12134.875 * 8);
}

TEST(LargestErrors, KnowZeroAndTheSmallestNumbersAndAreInfiniteForNumbersThatAreNotFinite) {
  constexpr float smallest = std::numeric_limits<float>::denorm_min();
  const LargestErrors errors = largest_errors(std::array{2 * smallest}, std::array{0.0});
  EXPECT_EQ(errors.ulp, 2);
  EXPECT_EQ(errors.relative, 0) << "nothing is relative to 0";
  EXPECT_EQ(largest_errors(std::array{smallest}, std::array{2.0 * smallest}).ulp, 1);
  constexpr float nan = std::numeric_limits<float>::quiet_NaN();
  constexpr float infinity = std::numeric_limits<float>::infinity();
  EXPECT_TRUE(std::isinf(largest_errors(std::array{nan}, std::array{1.0}).ulp));
  EXPECT_TRUE(std::isinf(largest_errors(std::array{infinity}, std::array{1e39}).absolute));
  EXPECT_EQ(
      largest_errors(std::array{nan, infinity}, std::array<double, 2>{nan, infinity}).absolute, 0);
}

// Means and deviations, and reports whose bits differ.

TEST(Spread, IsThatOfTheTrials) {
  const std::array seconds{2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0};
  const Spread spread = spread_of(seconds);
  EXPECT_DOUBLE_EQ(spread.mean, 5);
  EXPECT_DOUBLE_EQ(spread.minimum, 2);
  EXPECT_DOUBLE_EQ(spread.maximum, 9);
  EXPECT_NEAR(spread.deviation, 2.13809, 1e-5);
  EXPECT_EQ(spread_of(std::array{3.0}).deviation, 0);
}

TEST(Measure, WarmsUpAndRepeatsShortWork) {
  int calls = 0;
  const Measurement measurement = measure(3, [&] { ++calls; });
  EXPECT_GT(calls, 1000) << "work of nanoseconds is repeated within a trial";
  EXPECT_FALSE(measurement.events);
  EXPECT_LE(measurement.wall.minimum, measurement.wall.mean);
  EXPECT_LE(measurement.wall.mean, measurement.wall.maximum);
}

TEST(Measure, DoesSlowWorkLessOften) {
  int calls = 0;
  const auto slow = [&](int milliseconds) {
    return [&calls, milliseconds] {
      ++calls;
      std::this_thread::sleep_for(std::chrono::milliseconds(milliseconds));
    };
  };
  EXPECT_EQ(measure(3, slow(5)).trials, 3);
  EXPECT_EQ(calls, 4);
  calls = 0;
  const Measurement once = measure(3, slow(2600));
  EXPECT_EQ(once.trials, 1);
  EXPECT_EQ(calls, 1) << "the first run counts";
  EXPECT_GE(once.wall.mean, 2.6);
}

TEST(Report, FailsWhereBitsDifferAndNotByDesign) {
  Report report;
  EXPECT_FALSE(report.failed());
  report.rows = {
      {{"bits", std::string(bits_equal)}}, {{"bits", std::string(bits_differ_by_design)}}, {}};
  EXPECT_FALSE(report.failed());
  report.rows.push_back({{"bits", std::string(bits_of(false))}});
  EXPECT_TRUE(report.failed());
}

// How exact each way of adding up floats is: the figures of the lessons.

std::map<std::string, double> sums_of(const std::vector<float>& values) {
  std::map<std::string, double> sums;
  for (const FloatSum& sum : float_sums())
    sums[sum.name] = sum.run(values);
  return sums;
}

TEST(FloatSums, OfAMillionTimesOnePointOneAndOfWholeNumbersAreExact) {
  constexpr std::size_t count = 1U << 20U;
  // The float 1.1 is 9227469 / 2^23.
  EXPECT_EQ(exact_sum(1.1F, count), 9227469.0 / 8);
  const auto sums = sums_of(std::vector<float>(count, 1.1F));
  EXPECT_EQ(sums.at("left to right"), 1165568.5);
  EXPECT_EQ(sums.at("staged 32/32/1024"), 1153421.75);
  EXPECT_EQ(sums.at("Kahan"), 1153433.625);
  EXPECT_EQ(sums.at("double"), 1153433.625);
  // In a tree of equal values the two halves are equal: only the chains of 32 are rounded.
  EXPECT_NEAR(sums.at("tree"), 1153433.625, 1);
  for (const std::size_t count : {0U, 1U, 31U, 32U, 33U, 1024U, 1025U, 33000U, (1U << 20U) + 5U}) {
    std::vector<float> values(count);
    for (std::size_t i = 0; i < count; ++i)
      values[i] = static_cast<float>(i % 7);
    double expected = 0;
    for (std::size_t i = 0; i < count; ++i)
      expected += static_cast<double>(i % 7);
    for (const auto& [name, sum] : sums_of(values))
      EXPECT_EQ(sum, expected) << name << ' ' << count;
  }
}

// Every product of the processor against one chain of multiply-adds for each element.

struct Shape {
  std::size_t rows, columns, depth;
};

// Numbers of very different magnitudes, so that another order of the additions changes the result.
std::vector<float> random_numbers(std::size_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<float> numbers(count);
  for (float& number : numbers)
    number = std::ldexp(static_cast<float>(static_cast<int>(random() % 2000001) - 1000000),
                        static_cast<int>(random() % 24) - 12);
  return numbers;
}

struct Operands {
  explicit Operands(const Shape& of)
      : shape(of),
        a(random_numbers(of.rows * of.depth, 1)),
        b(random_numbers(of.depth * of.columns, 2)),
        c(of.rows * of.columns, std::numeric_limits<float>::quiet_NaN()) {}

  Product product() {
    return {shape.rows, shape.columns, shape.depth, a.data(), b.data(), c.data()};
  }

  Shape shape;
  std::vector<float> a, b, c;
};

template <typename Number, typename Add>
std::vector<Number> chains(const Operands& of, const Add& add) {
  const auto [rows, columns, depth] = of.shape;
  std::vector<Number> c(rows * columns);
  for (std::size_t y = 0; y < rows; ++y) {
    for (std::size_t x = 0; x < columns; ++x) {
      Number sum = 0;
      for (std::size_t k = 0; k < depth; ++k)
        sum = add(of.a[y * depth + k], of.b[k * columns + x], sum);
      c[y * columns + x] = sum;
    }
  }
  return c;
}

std::vector<float> fused(const Operands& of) {
  return chains<float>(of, [](float a, float b, float sum) { return std::fma(a, b, sum); });
}

std::vector<float> rounded_twice(const Operands& of) {
  return chains<float>(of, [](float a, float b, float sum) {
    const volatile float product = a * b;
    return sum + product;
  });
}

// Single elements, one more and one less than tiles, panels and blocks, narrow, flat and deep.
constexpr Shape shapes[] = {{1, 1, 1},     {2, 2, 2},   {7, 7, 7},      {31, 33, 64},
                            {65, 64, 257}, {130, 5, 3}, {3, 1030, 259}, {1, 70, 600}};

TEST(HostProducts, AreTheChainsWithEveryInstructionSet) {
  for (const Shape& shape : shapes) {
    Operands operands(shape);
    const std::vector<float> expected = fused(operands);
    const std::vector<float> without_fma = rounded_twice(operands);
    for (const InstructionSet set : available_instruction_sets()) {
      const InstructionSetInUse in_use(set);
      SCOPED_TRACE(::testing::Message() << shape.rows << 'x' << shape.columns << 'x' << shape.depth
                                        << ' ' << to_string(set));
      EXPECT_EQ(reference_product(operands.product()), expected);
      for (const HostProduct& product : host_products()) {
        operands.c.assign(operands.c.size(), std::numeric_limits<float>::quiet_NaN());
        product.run(operands.product());
        EXPECT_EQ(operands.c, product.is_fused ? expected : without_fma) << product.name;
      }
    }
  }
}

TEST(HostProducts, HaveARowForEachStep) {
  std::vector<std::string> names;
  for (const HostProduct& product : host_products())
    names.push_back(product.name);
  EXPECT_EQ(names,
            (std::vector<std::string>{
                "plain loop, no FMA", "plain loop", "loops interchanged, no FMA",
                "loops interchanged", "in registers", "in registers, L1", "in registers, L1, L2",
                "in registers, L1, L2, L3", "prefetched", "vectors", "all cores"}));
}

TEST(ProductInDouble, IsTheChainOfDoubles) {
  for (const Shape& shape : shapes) {
    Operands operands(shape);
    EXPECT_EQ(product_in_double(operands.product()),
              chains<double>(operands, [](double a, double b, double sum) { return sum + a * b; }));
  }
}

TEST(Layout, TransposedMatricesAreStoredByColumns) {
  for (const auto& [rows, columns] : {std::pair{1U, 1U}, {1U, 40U}, {33U, 31U}, {64U, 65U}}) {
    const std::vector<float> matrix = random_numbers(rows * columns, 3);
    std::vector<float> stored(matrix.size());
    transpose(matrix.data(), rows, columns, stored.data());
    for (std::size_t y = 0; y < rows; ++y) {
      for (std::size_t x = 0; x < columns; ++x)
        EXPECT_EQ(stored[x * rows + y], matrix[y * columns + x]);
    }
  }
}

TEST(OpenBlas, MultipliesTheSameMatricesInEveryLayout) {
  const auto blas = OpenBlas::load();
  if (!blas) GTEST_SKIP() << "skipped: OpenBLAS is not installed";
  Operands operands({33, 16, 70});
  for (std::size_t i = 0; i < operands.a.size(); ++i)
    operands.a[i] = static_cast<float>(i % 17);
  for (std::size_t i = 0; i < operands.b.size(); ++i)
    operands.b[i] = static_cast<float>(i % 23);
  const std::vector<float> expected = fused(operands);
  std::vector<float> a(operands.a.size());
  std::vector<float> b(operands.b.size());
  transpose(operands.a.data(), 33, 70, a.data());
  transpose(operands.b.data(), 70, 16, b.data());
  for (const char* letters : {"nn", "nt", "tn", "tt"}) {
    const Layout layout = layout_of(letters);
    Product product = operands.product();
    if (layout.a_transposed) product.a = a.data();
    if (layout.b_transposed) product.b = b.data();
    operands.c.assign(operands.c.size(), std::numeric_limits<float>::quiet_NaN());
    blas->multiply(product, layout, 1);
    EXPECT_EQ(operands.c, expected) << letters << ": whole numbers are exact in any order";
  }
}

// The work of "gpufilter verify" is shared among formats and processes, and nothing is lost.

TEST(VerifyCases, EverySampleComesInSomeTurn) {
  for (const std::string stage : {"blur", "levels", "resize"}) {
    std::map<std::string, int> found;
    for (std::size_t turn = 0; turn < 8; ++turn) {
      for (const VerifyChain& chain : verify_samples({stage}, false, turn))
        ++found[chain.text];
    }
    const auto all = samples_of(stage_kinds({stage}).front(), true);
    EXPECT_EQ(found.size(), all.size());
    for (const auto& [text, times] : found)
      EXPECT_GE(times, 2) << text;
  }
}

TEST(VerifyCases, QuickTriesEachParameterWithOneValueATurn) {
  const auto all = samples_of(stage_kinds({"blur"}).front(), false);
  std::set<std::string> found;
  for (std::size_t turn = 0; turn < 3; ++turn) {
    std::set<std::string> texts;
    for (const VerifyChain& chain : verify_samples({"blur"}, true, turn))
      texts.insert(chain.text);
    // Three values with defaults; three borders, independent alpha, and two tiles of "tiled".
    EXPECT_EQ(texts.size(), 3U + 3U + 1U + 2U);
    for (const char* each :
         {"--blur naive", "--blur tiled", "--blur auto", "--blur tiled --tile 32"})
      EXPECT_TRUE(texts.contains(each)) << each;
    found.merge(texts);
  }
  EXPECT_EQ(found.size(), all.size());
}

TEST(VerifyCases, AKindComesBeforeAnotherOneEachTurn) {
  const std::size_t kinds = stage_names().size();
  std::set<std::string> pairs;
  for (std::size_t turn = 0; turn < 8; ++turn) {
    for (const VerifyChain& chain : verify_pairs({}, turn)) {
      ASSERT_EQ(chain.chain.size(), 2U);
      pairs.insert(chain.text);
    }
  }
  EXPECT_EQ(pairs.size(), 8 * kinds);
  EXPECT_EQ(verify_pairs({"blur", "levels", "gray"}, 5).size(), 9U);
}

VerifyReport report_of(const VerifyPart& part) {
  VerifyReport report;
  const int index = static_cast<int>(part.index);
  report.variants.push_back({"processor", "blur", "", 5 - part.index, 10, index, 0});
  report.variants.push_back({"device", "color", "pixels", part.index, 1 + index, 0, 0});
  report.cases = 11 + index;
  report.skipped = 1;
  if (index > 0) {
    report.first_failure = VerifyFailure{
        "processor", "--blur auto", "", 5 - part.index, {{7, 5}, {3, 16}}, 2, "row 1: \"2\""};
  }
  return report;
}

TEST(VerifyInParts, AddsTheResultsOfAllProcesses) {
  const VerifyReport all = verify_in_parts(3, report_of);
  EXPECT_EQ(all.cases, 11 + 12 + 13);
  EXPECT_EQ(all.skipped, 3);
  ASSERT_EQ(all.variants.size(), 2U);
  EXPECT_EQ(all.variants[0].place, "processor");
  EXPECT_EQ(all.variants[0].first_job, 3U);
  EXPECT_EQ(all.variants[0].cases, 30);
  EXPECT_EQ(all.variants[0].different, 3);
  EXPECT_EQ(all.variants[1].variant, "pixels");
  EXPECT_EQ(all.variants[1].cases, 6);
  ASSERT_TRUE(all.first_failure);
  EXPECT_EQ(all.first_failure->job, 3U);  // the first in the order of one process
  EXPECT_EQ(all.first_failure->picture.format.depth, 16);
  EXPECT_EQ(all.first_failure->band_rows, 2);
  EXPECT_EQ(all.first_failure->difference, "row 1: \"2\"");
}

std::string failure_with(const std::function<void()>& act) {
  try {
    static_cast<void>(verify_in_parts(2, [&](const VerifyPart& part) {
      if (part.index == 1) act();
      return VerifyReport{};
    }));
  } catch (const DeviceError& error) {
    return error.what();
  }
  return "none";
}

TEST(VerifyInParts, SaysHowAProcessFailed) {
  EXPECT_EQ(failure_with([] { throw DeviceError("the device is lost"); }), "the device is lost");
  EXPECT_EQ(failure_with([] { std::raise(SIGKILL); }),
            "a process that verified a part ended: SIGKILL");
  EXPECT_EQ(failure_with([] {}), "none");
}

// The low-precision kernels tried on a device, and the requirements on their results.

DeviceInfo device_of(unsigned capability, std::uint64_t local_memory) {
  DeviceInfo device;
  device.compute_capability = capability;
  device.max_work_group_size = 1024;
  device.max_work_item_sizes = {1024, 1024, 64};
  device.local_memory = local_memory;
  return device;
}

std::set<std::size_t> values_of(const std::vector<DeviceMethod>& methods, const std::string& name) {
  std::set<std::size_t> values;
  for (const DeviceMethod& method : methods) {
    if (method.constants.contains(name)) values.insert(method.constants.at(name));
  }
  return values;
}

TEST(LowProductCandidates, VaryDepthOrderPersistenceAndLiterals) {
  for (const auto& [capability, type] :
       each_of(std::vector<unsigned>{0U, 75U, 80U, 89U, 90U}, number_types)) {
    const auto methods = candidate_methods(device_of(capability, 49152), type);
    EXPECT_GT(values_of(methods, "STAGES").size(), 1U);
    EXPECT_GT(values_of(methods, "STRIPE").size(), 1U);
    EXPECT_EQ(values_of(methods, "GROUPS_A_UNIT"), (Values{0, 2}));
    EXPECT_EQ(values_of(methods, "LITERALS"), (Values{0, 1}));
    std::set<std::string> names;
    for (const DeviceMethod& method : methods)
      names.insert(method.name() + method.description());
    EXPECT_EQ(names.size(), methods.size()) << "descriptions tell them apart";
    for (const DeviceMethod& method : device_methods(device_of(capability, 49152), type))
      EXPECT_TRUE(names.contains(method.name() + method.description())) << method.name();
  }
}

TEST(LowProductCandidates, AreOfTheFastestInstructionsAndFitTheDevice) {
  const auto usual = [](unsigned capability, NumberType type) {
    return candidate_methods(device_of(capability, 49152), type).front().algorithm;
  };
  EXPECT_EQ(usual(0, NumberType::int8), "plain");
  EXPECT_EQ(usual(75, NumberType::int8), "dp4a");
  EXPECT_EQ(usual(75, NumberType::float16), "plain");
  EXPECT_EQ(usual(80, NumberType::int8_scaled), "tensor cores");
  EXPECT_EQ(usual(80, NumberType::fp8_scaled), "plain");
  EXPECT_EQ(usual(89, NumberType::fp8_scaled), "tensor cores");
  EXPECT_EQ(usual(90, NumberType::fp8_scaled), "warpgroups");
  EXPECT_EQ(usual(90, NumberType::float32), "plain");
  // Two stages of 64 + 64 rows of 16 bytes are 4096 bytes.
  const auto all = candidate_methods(device_of(0, 4096), NumberType::int8);
  const auto small = candidate_methods(device_of(0, 4095), NumberType::int8);
  EXPECT_EQ(all.size(), 16U);
  EXPECT_EQ(values_of(small, "STAGES"), (Values{1}));
  EXPECT_EQ(small.size(), 8U);
}

// The expected C: unused rows are poisoned.
std::vector<std::uint32_t> right(const LowProduct& product) {
  std::vector<std::uint32_t> c = reference_low_product(product);
  for (std::size_t i = 0; i < c.size(); ++i) {
    const std::size_t row = i / product.shape.columns;
    const bool is_used = std::ranges::any_of(product.parts(), [row](const ProductPart& part) {
      return row >= part.a_row && row < part.a_row + part.rows;
    });
    if (!is_used) c[i] = DeviceLowProduct::poisoned;
  }
  return c;
}

TEST(LowProductOracle, TakesNoBitForAnother) {
  LowProduct product(NumberType::int8_scaled, {9, 7, 130, Grouping::masked, 3});
  fill(product);
  product.groups = {9, 0, 4};
  LowProductOracle oracle(product);
  const DeviceMethod exact = candidate_methods(device_of(90, 49152), product.type()).front();
  const auto c = right(product);
  EXPECT_EQ(oracle.difference(exact, c), std::nullopt);
  for (const std::size_t place : {0, 62, 63, 18 * 7 + 27, 22 * 7, 188}) {
    auto wrong = c;
    wrong[place] ^= 1;
    const auto difference = oracle.difference(exact, wrong);
    ASSERT_TRUE(difference) << place;
    EXPECT_TRUE(difference->starts_with("9x130x7: row " + std::to_string(place / 7) + ", column " +
                                        std::to_string(place % 7) + ": bits "))
        << *difference;
  }
}

// Tensor cores add up floats in another order: close is right, but only one way of it.
TEST(LowProductOracle, TakesFloatsThatAreCloseAndTheSameForEveryDivisionOfTheWork) {
  LowProduct product(NumberType::fp8_scaled, {70, 66, 300});
  fill(product);
  LowProductOracle oracle(product);
  const auto methods = candidate_methods(device_of(90, 49152), product.type());
  const auto other = std::ranges::find(methods, "tensor cores", &DeviceMethod::algorithm);
  ASSERT_NE(other, methods.end());
  const DeviceMethod& usual = methods.front();
  const auto c = right(product);
  EXPECT_TRUE(oracle.difference(usual, std::vector<std::uint32_t>(c.size(), 0)));
  EXPECT_TRUE(
      oracle.difference(usual, std::vector<std::uint32_t>(c.size(), DeviceLowProduct::poisoned)));
  auto close = c;
  close[5] ^= 1;
  EXPECT_EQ(oracle.difference(usual, close), std::nullopt);
  EXPECT_TRUE(oracle.difference(methods.back(), c)) << methods.back().name();
  EXPECT_EQ(oracle.difference(methods.back(), close), std::nullopt);
  EXPECT_EQ(oracle.difference(*other, c), std::nullopt) << "other instructions";
}

// In which order "gpufilter tune" tries candidates, and which it warns of.

TEST(SpilledBytes, AreThoseOfTheWorstKernel) {
  std::vector<KernelFigures> kernels(4);
  EXPECT_EQ(spilled_bytes({}), 0U);
  EXPECT_EQ(spilled_bytes(kernels), 0U) << "unknown";
  kernels[1].compiled = CompilerFigures{255, 136};
  kernels[2].compiled = CompilerFigures{255, 8};
  kernels[3].limits.private_bytes = 1000;  // an array, perhaps: no spill
  EXPECT_EQ(spilled_bytes(kernels), 136U);
}

TEST(TryingOrder, HasEachCandidateOnceAndTheUsualOneFirst) {
  EXPECT_EQ(trying_order(1), (std::vector<std::size_t>{0}));
  EXPECT_EQ(trying_order(2), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(trying_order(8), (std::vector<std::size_t>{0, 5, 2, 7, 4, 1, 6, 3}));
  for (std::size_t count = 1; count < 300; ++count) {
    const std::vector<std::size_t> order = trying_order(count);
    ASSERT_EQ(order.front(), 0U);
    EXPECT_EQ(std::set<std::size_t>(order.begin(), order.end()).size(), count);
    EXPECT_EQ(*std::max_element(order.begin(), order.end()), count - 1);
  }
}

TEST(ResourceColumns, HoldTheHighestFigures) {
  std::vector<KernelFigures> kernels(2);
  Row row;
  add_resources(row, kernels, 65536);
  EXPECT_TRUE(row.empty()) << "nothing is known";
  kernels[0].compiled = CompilerFigures{128, 0};
  kernels[0].limits.stated_group = 256;
  kernels[1].compiled = CompilerFigures{40, 16};
  kernels[1].limits.private_bytes = 24;
  kernels[1].limits.stated_group = 32;
  add_resources(row, kernels, 65536);
  EXPECT_EQ(number_in(row, "registers"), 128);
  EXPECT_EQ(number_in(row, "spilled_bytes"), 16);
  EXPECT_EQ(number_in(row, "private_bytes"), 24);
  EXPECT_EQ(number_in(row, "resident_groups"), 2) << "of the kernel with the fewest";
}

// Otherwise `gpufilter verify` would skip a stage.
TEST(StageSamples, EveryKindOfStageHasSome) {
  for (const auto& [kind, all] : each_of(stage_catalogue(), std::array{false, true})) {
    const auto samples = samples_of(kind, all);
    ASSERT_FALSE(samples.empty()) << kind.option;
    EXPECT_TRUE(samples.front().has_defaults);
    std::set<std::string> texts;
    for (const StageSample& sample : samples) {
      EXPECT_TRUE(sample.text.starts_with(kind.option)) << sample.text;
      EXPECT_EQ(sample.stage->name(), kind.option.substr(2));
      texts.insert(sample.text);
    }
    EXPECT_EQ(texts.size(), samples.size()) << kind.option;
  }
}

TEST(StageSamples, AllCombinationsOrOneParameterAtATimeAndKindsAreNamedWithoutDashes) {
  const auto blur = stage_kinds({"blur"});
  ASSERT_EQ(blur.size(), 1U);
  // naive and auto: 4 borders and 2 ways with alpha; tiled: 3 tiles, too.
  EXPECT_EQ(samples_of(blur.front(), true).size(), 8U + 24U + 8U);
  EXPECT_EQ(samples_of(blur.front(), false).size(), 5U + 7U + 5U);
  const auto all = samples_of(blur.front(), true);
  EXPECT_TRUE(std::any_of(all.begin(), all.end(), [](const StageSample& sample) {
    return sample.text == "--blur tiled --alpha independent --border wrap --tile 32";
  }));
  EXPECT_EQ(stage_kinds({}).size(), stage_catalogue().size());
  EXPECT_EQ(stage_names().size(), stage_catalogue().size());
  EXPECT_TRUE(stage_kinds({"none of that name"}).empty());
}

}  // namespace
}  // namespace gpufilter::lab
