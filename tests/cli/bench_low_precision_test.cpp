// "gpufilter bench matmul --type" as its users run it, with small sizes.
#include <map>
#include <set>
#include <string>
#include <vector>

#include "cli/program_fixture.hpp"
#include "support/svg.hpp"

namespace gpufilter::test {
namespace {

class BenchLowPrecision : public ProgramTest {
 protected:
  static ProcessResult matmul(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), {"bench", "matmul", "--trials=1"});
    return filter(std::move(arguments));
  }
  static Json rows_of(std::vector<std::string> arguments) {
    arguments.emplace_back("--json");
    return Json::parse(ended(0, matmul(std::move(arguments))).out)["rows"];
  }
  static void expect_usage(std::vector<std::string> arguments, const std::string& message) {
    const ProcessResult result = ended(2, matmul(std::move(arguments)));
    EXPECT_EQ(result.err, "gpufilter: " + message + "\n");
    EXPECT_EQ(result.out, "");
  }
};

TEST_F(BenchLowPrecision, EveryTypeHasItsRowsAndErrors) {
  const std::string plot = folder_ / "chart.svg";
  const Json rows = rows_of({"--type=float32,int8,int8-scaled,fp8-scaled,bfloat16,float16",
                             "--shapes=130x65x70", "--plot", plot});
  EXPECT_EQ(objection_to_svg(read_file(plot)), "");
  std::map<std::string, double> errors;
  std::set<std::string> devices;
  for (const Json& row : rows) {
    const auto type = row["type"].get<std::string>();
    if (row["kernel"] == "all cores") errors[type] = row["error"].get<double>();
    if (row["where"] == "device") devices.insert(type);
    EXPECT_EQ(row["shape"], "130x65x70");
    const double operations = 2.0 * 130 * 65 * 70;
    EXPECT_NEAR(row["tops"].get<double>(), operations / row["mean_ms"].get<double>() * 1e-9,
                1e-6 * row["tops"].get<double>());
    if (row["where"] == "processor" || row["kernel"] == "plain 64x64") {
      EXPECT_EQ(row["bits"], "equal") << row;
    }
    EXPECT_LE(row["error_of_sums"].get<double>(), 1e-6) << row;
  }
  ASSERT_EQ(errors.size(), 7U);
  EXPECT_EQ(errors["int8"], 0) << "integers are exact";
  EXPECT_LT(errors["float32"], 1e-6);
  EXPECT_LT(errors["float32"], errors["float16"]);
  EXPECT_LT(errors["float16"], errors["bfloat16"]);
  EXPECT_LT(errors["bfloat16"], errors["int8-scaled"]);
  EXPECT_LT(errors["int8-scaled"], errors["fp8-scaled"]);
  EXPECT_LT(errors["fp8-unpromoted"], 0.1);
  EXPECT_EQ(devices.size(), has_device() ? 7U : 0U);
}

TEST_F(BenchLowPrecision, KernelsHaveTheirFiguresWhereTheDriverTells) {
  const std::vector<std::string> keys{"registers", "spilled_bytes", "private_bytes",
                                      "resident_groups"};
  for (const Json& row : rows_of({"--type=int8,float16", "--shapes=130x65x70"})) {
    for (const std::string& key : keys) {
      ASSERT_TRUE(row.contains(key)) << row;
      if (row["where"] == "processor") {
        EXPECT_TRUE(row[key].is_null()) << row;
      } else {
        EXPECT_TRUE(row[key].is_null() || row[key].is_number_unsigned()) << row;
      }
    }
    EXPECT_EQ(row["registers"].is_null(), row["spilled_bytes"].is_null()) << row;
  }
  // A table has only columns with figures.
  const std::string table = matmul({"--type=int8", "--shapes=130x65x70", "--device=cpu"}).out;
  for (const char* heading : {"registers", "spilled", "private", "groups a unit"})
    EXPECT_FALSE(contains(table, heading));
}

TEST_F(BenchLowPrecision, GroupsAreOneLaunch) {
  for (const char* grouping : {"contiguous", "masked"}) {
    const Json rows =
        rows_of({"--type=int8-scaled", "--sizes=256", "--grouped", grouping, "--groups=3"});
    ASSERT_FALSE(rows.empty());
    for (const Json& row : rows) {
      EXPECT_EQ(row["bits"], "equal") << row;
      EXPECT_EQ(row["grouping"], grouping);
      EXPECT_EQ(row["groups"], 3);
    }
  }
}

TEST_F(BenchLowPrecision, WrongUsageIsRefusedBeforeAnythingRuns) {
  expect_usage({"--type=int8", "--tile=8"},
               "bench matmul: --tile is for --type float32 alone, without --grouped");
  expect_usage({"--type=int8", "--shapes=8x8x8", "--layout=nn"},
               "bench matmul: --layout is for --type float32 alone, without --grouped");
  expect_usage({"--type=int8", "--groups=2"}, "bench matmul: --groups is for --grouped");
  expect_usage({"--type=int8", "--sizes=256,200", "--grouped=contiguous"},
               "bench matmul: --grouped contiguous divides A into groups of whole blocks of 128 "
               "rows, but it has 200 rows; use a multiple of 128");
  const ProcessResult unknown = ended(2, matmul({"--type=int4"}));
  EXPECT_TRUE(contains(unknown.err,
                       "--type: 'int4' is not one of float32, int8, int8-scaled, fp8-scaled, "
                       "bfloat16, float16"));
  const ProcessResult large = ended(2, matmul({"--type=int8", "--sizes=16384", "--grouped=masked",
                                               "--groups=256", "--device=cpu"}));
  expect_parts(large.err, {"bench matmul: 16384x16384x16384 of int8 takes ",
                           " MB are free; use smaller matrices\n"});
}

}  // namespace
}  // namespace gpufilter::test
