// OpenCL devices: the choice of one, and the list.
#include <cctype>
#include <fstream>

#include "cli/program_fixture.hpp"
#include "support/kernel_folder.hpp"

namespace gpufilter::test {
namespace {

// Which device a run uses, and what happens if it does not work.

class FilterDevice : public ProgramTest {
 protected:
  FilterDevice() { fs::create_directory(folder_ / "empty"); }

  // Runs a blur with --timing json, which has to succeed and give the right pixels. Returns the
  // report.
  [[nodiscard]] Json report_of(const Words& words, const ProcessOptions& options = {},
                               std::string* messages = nullptr) const {
    const ProcessResult result =
        ended(0, filter(Words{in_, out_, "--blur", "tiled", "--timing", "json"} + words, options));
    EXPECT_TRUE(same_pixels(read_picture(out_), blurred(image_)));
    if (messages == nullptr) {
      EXPECT_EQ(result.err, "");
    } else {
      *messages = result.err;
    }
    return Json::parse(result.out);
  }

  [[nodiscard]] Words blur(const Words& words) const {
    const Words arguments = Words{in_, out_, "--blur", "auto"} + words;
    return arguments;
  }

  const Image image_ = random_image(size_, format_, 1);
  const std::string in_ = stored(image_, "in.png");
  const std::string out_ = folder_ / "out.png";
  // The loader finds no platform at all.
  const ProcessOptions no_opencl_{
      .environment = {{"OCL_ICD_VENDORS", folder_ / "empty"}, {"OCL_ICD_FILENAMES", ""}}};
};

// --blur tiled names an OpenCL kernel.
TEST_F(FilterDevice, AutoTakesOpenClForAKernelThatIsNamed) {
  GPUFILTER_REQUIRE_DEVICE();
  const Json device = report_of({})["device"];
  EXPECT_EQ(device["kind"], has_device("gpu") ? "gpu" : "cpu");
  EXPECT_NE(device["name"], "");
  EXPECT_NE(device["driver"], "");
  EXPECT_NE(device["platform"], "");
  EXPECT_NE(device["reason"], "");
  EXPECT_EQ(device["left_out"], Json::array());
}

TEST_F(FilterDevice, AutoTakesTheProcessorForASmallPictureAndSaysWhy) {
  const ProcessResult result = filter(blur({"--timing", "json"}));
  EXPECT_EQ(result.err, "");
  EXPECT_TRUE(same_pixels(read_picture(out_), blurred(image_)));
  const Json device = Json::parse(result.out)["device"];
  EXPECT_EQ(device["kind"], "processor");
  const std::string reason = device["reason"];
  expect_parts(reason, {" ms estimated; ", has_device("gpu") ? " to start" : "no GPU found"});
}

TEST_F(FilterDevice, AnIndexOrPartOfANameOrAKindPicksIt) {
  GPUFILTER_REQUIRE_DEVICE();
  const Json first = Json::parse(filter({"devices", "--json"}).out)["devices"][0];
  EXPECT_EQ(report_of({"--device", "0"})["device"]["name"], first["name"]);
  std::string part = first["name"].get<std::string>().substr(0, 7);
  for (char& c : part)
    c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  EXPECT_EQ(report_of({"--device", part, "--require-device"})["device"]["name"], first["name"]);
  EXPECT_EQ(report_of({"--device", "opencl"})["device"]["kind"], has_device("gpu") ? "gpu" : "cpu");
}

TEST_F(FilterDevice, WithoutAGpuTheProcessorDoesItsWorkWithAWarning) {
  if (has_device("gpu")) GTEST_SKIP() << "skipped: this machine has a GPU";
  for (const std::string kind : {"gpu", "all"}) {
    std::string messages;
    EXPECT_EQ(report_of({"--device", kind}, {}, &messages)["device"]["kind"], "processor");
    expect_one_line(messages, {"no GPU found", "the processor"});
    expect_failure(3, blur({"--device", kind, "--require-device"}), {"no GPU found"});
  }
}

TEST_F(FilterDevice, DevicesThatAreNotThereEndWithThree) {
  for (const std::string name : {"no such device", "99", "-1", "1e0", "99999999999999999999999"}) {
    expect_failure(3, blur({"--device=" + name}), {"'" + name + "'"});
  }
  // The device is refused even if no stage needs it, and before the input is opened.
  expect_failure(3, {in_, out_, "--device", "no such device"}, {"no such device"});
  expect_failure(3, {folder_ / "missing.png", out_, "--device", "99"}, {"'99'"});
}

TEST_F(FilterDevice, TheEnvironmentNamesOneAndTheOptionWins) {
  const ProcessOptions processor{.environment = {{"GPUFILTER_DEVICE", "cpu"}}};
  EXPECT_EQ(report_of({}, processor)["device"]["kind"], "processor");
  const ProcessOptions missing{.environment = {{"GPUFILTER_DEVICE", "no such device"}}};
  expect_failure(3, blur({}), {"no OpenCL device for 'no such device' (from GPUFILTER_DEVICE)"},
                 missing);
  EXPECT_FALSE(contains(filter(blur({"--device", "another"}), missing).err, "GPUFILTER_DEVICE"));
  expect_failure(2, blur({"--require-device"}),
                 {"--require-device contradicts --device cpu (from GPUFILTER_DEVICE): leave one of "
                  "them out\n"},
                 processor);
  EXPECT_EQ(report_of({"--device", "cpu"}, missing)["device"]["kind"], "processor");
}

TEST_F(FilterDevice, TheProcessorNeedsNoOpenCl) {
  const Json report = report_of({"--device", "cpu"}, no_opencl_);
  EXPECT_EQ(report["device"]["name"], "processor");
  EXPECT_EQ(report["device"]["reason"], "requested");
  EXPECT_EQ(report["passes"][0]["reason"], "the processor");
  EXPECT_EQ(report["passes"][0]["program"], "none");
}

TEST_F(FilterDevice, WithoutOpenClTheProcessorRunsNamedKernelsWithAWarning) {
  std::string messages;
  const Json report = report_of({}, no_opencl_, &messages);
  EXPECT_EQ(report["device"]["kind"], "processor");
  EXPECT_NE(report["device"]["reason"], "");
  expect_one_line(messages, {"no OpenCL device found", "the processor"});
  filter_quietly(blur({}), no_opencl_);
}

TEST_F(FilterDevice, AWarningOfAFallbackIsNeverHidden) {
  expect_one_line(ended(0, filter(blur({"--device", "opencl", "-q"}), no_opencl_)).err,
                  {"no OpenCL device found", "the processor"});
}

TEST_F(FilterDevice, WithoutOpenClARequiredDeviceEndsWithThree) {
  expect_failure(3, blur({"--require-device"}), {"no OpenCL device"}, no_opencl_);
  expect_failure(3, blur({"--device", "opencl", "--require-device"}), {"no OpenCL device found"},
                 no_opencl_);
  expect_failure(3, blur({"--device", "0"}), {"no OpenCL device"}, no_opencl_);
  expect_failure(3, {in_, out_, "--require-device"}, {"no OpenCL device"}, no_opencl_);
}

TEST_F(FilterDevice, ACopyNeedsNoDevice) {
  const ProcessResult result = ended(0, filter({in_, out_, "--timing", "json"}, no_opencl_));
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(Json::parse(result.out)["device"]["name"], "processor");
}

class FilterKernels : public FilterDevice {
 protected:
  FilterKernels() { copy_kernels(folder_ / "kernels"); }
  const ProcessOptions live_{.environment = {{"GPUFILTER_KERNELS", folder_ / "kernels"}}};
};

TEST_F(FilterKernels, AreReadFromAFolder) {
  GPUFILTER_REQUIRE_DEVICE();
  EXPECT_NE(report_of({}, live_)["device"]["kind"], "processor");
  {
    std::ofstream kernel(folder_ / "kernels/blur_packed.cl", std::ios::app);
    kernel << "#error changed by a test\n";
  }
  for (const auto& words : {Words{"--device", "0", "--require-device"}, {"--require-device"}}) {
    const ProcessResult result = ended(3, filter(blur(words), live_));
    // The driver's compiler may have printed something itself.
    expect_one_line(result.err.substr(result.err.rfind("gpufilter: ")),
                    {folder_ / "kernels/blur_packed.cl does not compile: ",
                     folder_ / "kernels/blur_packed.cl:", "changed by a test"});
  }
}

TEST_F(FilterKernels, ThatDoNotCompileAreLeftOutWithAWarning) {
  GPUFILTER_REQUIRE_DEVICE();
  write_file(folder_ / "kernels/common.cl", "no kernel\n");
  std::string messages;
  const Json report = report_of({}, live_, &messages);
  EXPECT_EQ(report["device"]["kind"], "processor");
  EXPECT_EQ(report["device"]["platform"], "");
  EXPECT_TRUE(contains(messages, "falling back to"));
  ASSERT_GE(report["device"]["left_out"].size(), 1);
  EXPECT_TRUE(contains(report["device"]["left_out"][0].get<std::string>(), "blur_packed.cl"));
}

// The device has a pass more than the processor: it codes the result.
TEST_F(FilterKernels, OfTheEncoderThatDoNotCompileLeaveTheProcessorsReportWhole) {
  GPUFILTER_REQUIRE_DEVICE();
  write_file(folder_ / "kernels/jpeg_encode.cl", "no kernel\n");
  for (const std::string format : {"line", "table", "json", "csv"}) {
    const ProcessResult result = ended(
        0, filter({in_, folder_ / "out.jpg", "--blur", "tiled", "--encode-on", "gpu", "--timing",
                   format, "--trace", folder_ / "trace.json", "--on-exists", "overwrite"},
                  live_));
    EXPECT_TRUE(contains(result.err, "falling back to"));
    EXPECT_TRUE(contains((result.out + result.err), "build program")) << result.err;
  }
}

TEST_F(FilterKernels, ThatAreMissingAreNamed) {
  GPUFILTER_REQUIRE_DEVICE();
  const ProcessOptions nowhere{.environment = {{"GPUFILTER_KERNELS", folder_ / "nowhere"}}};
  expect_failure(3, blur({"--device", "0", "--require-device"}),
                 {folder_ / "nowhere/",
                  ": no such file (GPUFILTER_KERNELS names the folder of kernel files)\n"},
                 nowhere);
}

// "gpufilter devices".

class Devices : public ProgramTest {
 protected:
  static ProcessResult devices(Words arguments, const ProcessOptions& options = {}) {
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
  for (const auto& entry : fs::recursive_directory_iterator(folder_.path())) {
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
