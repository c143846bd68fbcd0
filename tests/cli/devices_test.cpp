// "gpufilter devices".
#include "cli/program_fixture.hpp"

namespace gpufilter::test {
namespace {

class Devices : public ProgramTest {
 protected:
  static ProcessResult devices(std::vector<std::string> arguments,
                               const ProcessOptions& options = {}) {
    arguments.insert(arguments.begin(), "devices");
    ProcessResult result = ended(0, filter(std::move(arguments), options));
    EXPECT_EQ(result.err, "");
    return result;
  }

  static Json devices_json(const ProcessOptions& options = {}) {
    const Json json = Json::parse(devices({"--json"}, options).out);
    EXPECT_EQ(json["schema"], "gpufilter-devices-1");
    return json["devices"];
  }
};

TEST_F(Devices, JsonTellsWhatChoosingNeeds) {
  GPUFILTER_REQUIRE_DEVICE();
  int index = 0;
  for (const Json& device : devices_json()) {
    EXPECT_EQ(device["index"], index++);
    EXPECT_TRUE(device["kind"] == "gpu" || device["kind"] == "cpu" || device["kind"] == "other");
    for (const char* text : {"name", "vendor", "platform", "platform_version", "device_version",
                             "driver_version", "language_version"}) {
      EXPECT_FALSE(device[text].get<std::string>().empty()) << text;
    }
    for (const char* number : {"compute_units", "max_work_group_size", "local_memory_bytes",
                               "global_memory_bytes", "max_allocation_bytes"}) {
      EXPECT_GT(device[number], 0) << number;
    }
    EXPECT_EQ(device["max_work_item_sizes"].size(), 3);
    EXPECT_TRUE(device["preferred_multiple"].is_number_unsigned());
    EXPECT_TRUE(device["max_sub_groups"].is_number_unsigned());
    EXPECT_TRUE(device["registers"].is_null() || device["registers"] > 0);
    EXPECT_TRUE(device["unified_memory"].is_boolean());
    EXPECT_TRUE(device["local_memory_is_real"].is_boolean());
    const std::size_t limit = device["max_work_group_size"];
    for (const std::size_t tile : device["blur_tiles"])
      EXPECT_LE(tile * tile, limit);
  }
}

TEST_F(Devices, TheTableNamesEveryDevice) {
  GPUFILTER_REQUIRE_DEVICE();
  const std::string table = devices({}).out;
  for (const Json& device : devices_json()) {
    const std::string first = device["index"].dump() + "  " + device["name"].get<std::string>() +
                              " (" + device["kind"].get<std::string>() + ")\n";
    EXPECT_TRUE(contains(table, first));
  }
  expect_parts(table, {"compute unit", "work-groups of at most", "sub-groups", "local memory",
                       "--tile", "not measured yet", "not known yet"});
}

TEST_F(Devices, NoneAtAllIsNoFailure) {
  const ProcessOptions none{
      .environment = {{"OCL_ICD_VENDORS", folder_.path()}, {"OCL_ICD_FILENAMES", ""}}};
  EXPECT_EQ(devices_json(none), Json::array());
  EXPECT_TRUE(contains(devices({}, none).out, "No OpenCL device"));
}

TEST_F(Devices, LeavesNothingBehindButAnswersOfProbes) {
  forget_pocl_cache();
  const ProcessOptions options{
      .environment = {{"XDG_CACHE_HOME", folder_ / "cache"}, {"TMPDIR", folder_.path()}}};
  devices({}, options);
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_.path())) {
    if (entry.path() == folder_.path() / "cache/gpufilter/probes.json") continue;
    const bool scratch = entry.path().filename().string().starts_with("gpufilter-pocl-");
    EXPECT_TRUE(entry.is_directory() && !scratch) << entry.path();
  }
}

TEST_F(Devices, WrongUsageEndsWithTwo) {
  expect_failure(2, {"devices", "more"}, {"more: ", "gpufilter devices --help"});
  expect_failure(2, {"devices", "--yaml"}, {"--yaml: "});
}

}  // namespace
}  // namespace gpufilter::test
