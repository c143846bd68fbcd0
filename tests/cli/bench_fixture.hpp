// "gpufilter bench" with small sizes, and its JSON.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "cli/program_fixture.hpp"
#include "support/svg.hpp"

namespace gpufilter::test {

class BenchTest : public ProgramTest {
 protected:
  static ProcessResult bench(std::vector<std::string> arguments,
                             const ProcessOptions& options = {}) {
    arguments.insert(arguments.begin(), "bench");
    arguments.emplace_back("--trials=2");
    return filter(std::move(arguments), options);
  }

  // The JSON of a successful run; its chart is checked too.
  [[nodiscard]] Json bench_json(std::vector<std::string> arguments) const {
    const std::string name = arguments.front();
    const std::string plot = folder_ / "chart.svg";
    arguments.insert(arguments.end(), {"--json", "--plot", plot});
    const ProcessResult result = ended(0, bench(std::move(arguments)));
    EXPECT_EQ(objection_to_svg(read_file(plot)), "");
    const Json json = Json::parse(result.out);
    EXPECT_EQ(json["schema"], "gpufilter-bench-1");
    EXPECT_EQ(json["bench"], name);
    EXPECT_EQ(json["all_bits_equal"], true);
    EXPECT_EQ(json["date"].get<std::string>().size(), 20U);
    EXPECT_EQ(json["device"].is_null(), !has_device());
    for (const Json& row : json["rows"]) {
      EXPECT_NE(row["bits"], "DIFFER") << row;
    }
    return json;
  }

  static std::set<std::string> values(const Json& json, const std::string& key) {
    std::set<std::string> found;
    for (const Json& row : json["rows"]) {
      if (row[key].is_string()) found.insert(row[key].get<std::string>());
    }
    return found;
  }
};

}  // namespace gpufilter::test
