// OpenCL devices and vendors: the choice of one, the list, and those that fail.
#include <cctype>

#include "cli/program_fixture.hpp"
#include "support/kernel_folder.hpp"

namespace gpufilter::test {
namespace {

// The choice of a run's device, and the fallback if it does not work.

struct FilterDevice : OnePicture {
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
    return Words{in_, out_, "--blur", "auto"} + words;
  }

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
  for (const std::string name : {"no such device", "99", "-1", "1e0", "99999999999999999999999"})
    expect_failure(3, blur({"--device=" + name}), {"'" + name + "'"});
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
  expect_one_line(ended(0, filter(blur({"--device", "opencl", "-q"}), no_opencl_)).err,
                  {"no OpenCL device found", "the processor"});
  const ProcessResult result = ended(0, filter({in_, out_, "--timing", "json"}, no_opencl_));
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(Json::parse(result.out)["device"]["name"], "processor");
}

TEST_F(FilterDevice, WithoutOpenClARequiredDeviceEndsWithThree) {
  expect_failure(3, blur({"--require-device"}), {"no OpenCL device"}, no_opencl_);
  expect_failure(3, blur({"--device", "opencl", "--require-device"}), {"no OpenCL device found"},
                 no_opencl_);
  expect_failure(3, blur({"--device", "0"}), {"no OpenCL device"}, no_opencl_);
  expect_failure(3, {in_, out_, "--require-device"}, {"no OpenCL device"}, no_opencl_);
}

struct FilterKernels : FilterDevice {
  void SetUp() override { GPUFILTER_REQUIRE_DEVICE(); }

  FilterKernels() { copy_kernels(folder_ / "kernels"); }
  const ProcessOptions live_{.environment = {{"GPUFILTER_KERNELS", folder_ / "kernels"}}};
};

TEST_F(FilterKernels, AreReadFromAFolder) {
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
  const ProcessOptions nowhere{.environment = {{"GPUFILTER_KERNELS", folder_ / "nowhere"}}};
  expect_failure(3, blur({"--device", "0", "--require-device"}),
                 {folder_ / "nowhere/",
                  ": no such file (GPUFILTER_KERNELS names the folder of kernel files)\n"},
                 nowhere);
}

// "gpufilter devices".

struct Devices : ProgramTest {
  static ProcessResult devices(const Words& arguments, const ProcessOptions& options = {}) {
    ProcessResult result = ended(0, filter(Words{"devices"} + arguments, options));
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
    EXPECT_TRUE(contains(table, device["index"].dump() + "  " + device["name"].get<std::string>() +
                                    " (" + device["kind"].get<std::string>() + ")\n"));
  }
  expect_parts(table, {"compute unit", "each on work-groups", "sub-groups", "local memory",
                       "--tile", "not measured yet", "not known yet"});
}

TEST_F(Devices, NoneAtAllIsNoFailureAndWrongUsageIsOne) {
  const ProcessOptions none{
      .environment = {{"OCL_ICD_VENDORS", folder_.path()}, {"OCL_ICD_FILENAMES", ""}}};
  EXPECT_EQ(devices_json(none), Json::array());
  EXPECT_TRUE(contains(devices({}, none).out, "No OpenCL device"));
  expect_failure(2, {"devices", "more"}, {"more: ", "gpufilter devices --help"});
  expect_failure(2, {"devices", "--yaml"}, {"--yaml: "});
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

// Which OpenCL vendors are loaded, and when: PoCL brings LLVM, which takes longer than a picture.

struct Vendors : OnePicture {
  Vendors() {
    fs::create_directory(vendors_);
    name_vendor("fake.icd", GPUFILTER_FAKE_VENDOR);
  }

  void name_vendor(const std::string& file, const std::string& library) const {
    write_file(vendors_ / file, library + "\n");
  }

  // Adds PoCL as installed here. Returns whether that was possible.
  [[nodiscard]] bool add_pocl() const {
    const fs::path installed = "/etc/OpenCL/vendors/pocl.icd";
    if (!fs::exists(installed)) return false;
    fs::copy_file(installed, vendors_ / "pocl.icd", fs::copy_options::overwrite_existing);
    return true;
  }

  [[nodiscard]] ProcessOptions options(bool gpu) const {
    ProcessOptions all{.environment = {{"OCL_ICD_VENDORS", vendors_},
                                       {"OCL_ICD_FILENAMES", ""},
                                       {"FAKE_VENDOR_LOG", log_}}};
    if (gpu) all.environment["FAKE_VENDOR_GPU"] = "1";
    return all;
  }

  // Makes sure that no run probes the vendors in a separate process.
  void get_to_know_vendors(bool gpu) const {
    static_cast<void>(filter({"devices"}, options(gpu)));
    fs::remove(log_);
  }

  // The fake vendor's log.
  [[nodiscard]] std::string log() const { return fs::exists(log_) ? read_file(log_) : ""; }

  const fs::path vendors_ = folder_.path() / "vendors";
  const std::string log_ = folder_ / "log";
};

TEST_F(Vendors, PoclComesLastAndOnlyWithoutAGpu) {
  if (!add_pocl()) GTEST_SKIP() << "skipped: no PoCL here";
  get_to_know_vendors(false);
  filter_quietly({in_, out_, "--blur", "auto", "--require-device"}, options(false));
  EXPECT_EQ(log(), "asked: no PoCL\nend: PoCL is loaded\n");
  EXPECT_TRUE(same_pixels(read_picture(out_), blurred(image_)));
}

TEST_F(Vendors, PoclIsNotLoadedBesideAGpu) {
  if (!add_pocl()) GTEST_SKIP() << "skipped: no PoCL here";
  get_to_know_vendors(true);
  for (const std::string device : {"auto", "gpu", "0", "fake"}) {
    // A copy, since this GPU can do nothing else.
    filter_quietly({in_, out_, "--device", device, "--require-device"}, options(true));
    EXPECT_EQ(log(), "asked: no PoCL\nend: no PoCL\n") << device;
    fs::remove(log_);
  }
  for (const std::string device : {"1", "portable"}) {
    filter_quietly({in_, out_, "--blur", "auto", "--device", device}, options(true));
    EXPECT_EQ(log(), "asked: no PoCL\nend: PoCL is loaded\n") << device;
    EXPECT_TRUE(same_pixels(read_picture(out_), blurred(image_)));
    fs::remove(log_);
  }
}

TEST_F(Vendors, PoclTakesThePlaceOfAGpuThatFails) {
  if (!add_pocl()) GTEST_SKIP() << "skipped: no PoCL here";
  get_to_know_vendors(true);
  const ProcessResult result = ended(
      0,
      filter({in_, out_, "--blur", "auto", "--require-device", "--timing", "json"}, options(true)));
  expect_one_line(result.err, {"Fake GPU: it cannot be started", "falling back to"});
  EXPECT_EQ(log(), "asked: no PoCL\nend: PoCL is loaded\n");
  EXPECT_EQ(Json::parse(result.out)["device"]["kind"], "cpu");
  EXPECT_TRUE(same_pixels(read_picture(out_), blurred(image_)));
}

TEST_F(Vendors, DevicesAreNumberedAsTheyAreChosen) {
  if (!add_pocl()) GTEST_SKIP() << "skipped: no PoCL here";
  const Json devices = Json::parse(filter({"devices", "--json"}, options(true)).out)["devices"];
  ASSERT_EQ(devices.size(), 2);
  EXPECT_EQ(devices[0]["name"], "Fake GPU");
  EXPECT_EQ(devices[1]["kind"], "cpu");
}

TEST_F(Vendors, TasksOfANodeTakeOneGpuEach) {
  ProcessOptions four = options(true);
  four.environment["FAKE_VENDOR_GPU"] = "4";
  four.environment["SLURM_LOCALID"] = "2";
  const ProcessResult task =
      ended(0, filter({in_, out_, "--blur", "auto", "--device", "gpu", "-vv"}, four));
  EXPECT_TRUE(
      contains(task.err, "device tried first: Fake GPU 2 (GPU 3 of 4, by SLURM_LOCALID=2)"));
  // These GPUs do not work: the next one is tried, and finally the processor.
  for (const char* next : {"Fake GPU 3", "Fake GPU", "Fake GPU 1", "processor"}) {
    EXPECT_TRUE(contains(task.err, std::string("; falling back to ") + next + "\n")) << next << "\n"
                                                                                     << task.err;
  }
  four.environment["OMPI_COMM_WORLD_LOCAL_RANK"] = "7";
  EXPECT_TRUE(
      contains(filter({in_, out_, "--blur", "auto", "--device", "gpu", "-vv"}, four).err,
               "device tried first: Fake GPU 3 (GPU 4 of 4, by OMPI_COMM_WORLD_LOCAL_RANK=7)"));
}

TEST_F(Vendors, TheProcessorAndOtherCommandsLoadNone) {
  filter_quietly({in_, out_, "--blur", "auto", "--device", "cpu"}, options(false));
  filter_quietly({in_, out_}, options(false));
  ended(0, filter({"compare", in_, in_}, options(false)));
  ended(0, filter({"--version"}, options(false)));
  EXPECT_EQ(log(), "");
}

TEST_F(Vendors, ThatCannotBeLoadedAreLeftOut) {
  name_vendor("a.icd", "libthere-is-no-such-vendor.so.1");
  name_vendor("b.icd", "libz.so.1");  // a library, but no vendor
  name_vendor("c.icd", "");
  write_file(vendors_ / "d.icd", "");
  name_vendor("e.icd",
              std::string(GPUFILTER_FAKE_VENDOR) + " \r");  // twice, and with stray characters
  const Json devices = Json::parse(filter({"devices", "--json"}, options(true)).out)["devices"];
  ASSERT_EQ(devices.size(), 1);
  EXPECT_EQ(devices[0]["name"], "Fake GPU");
  EXPECT_TRUE(contains(log(), "asked: no PoCL\n"));
}

TEST_F(Vendors, AreFoundAsTheLoadersFindThem) {
  const auto found = [this](std::map<std::string, std::string> environment) {
    environment.emplace("FAKE_VENDOR_GPU", "1");
    for (const char* variable : {"OCL_ICD_VENDORS", "OCL_ICD_FILENAMES", "OPENCL_VENDOR_PATH"})
      environment.emplace(variable, "");  // overrides this program's own environment
    const Json all = Json::parse(filter({"devices", "--json"}, {.environment = environment}).out);
    for (const Json& device : all["devices"]) {
      if (device["name"] == "Fake GPU") return true;
    }
    return false;
  };
  EXPECT_FALSE(found({}));
  EXPECT_TRUE(found({{"OCL_ICD_VENDORS", vendors_}}));
  EXPECT_TRUE(found({{"OCL_ICD_VENDORS", vendors_ / "fake.icd"}}));
  EXPECT_TRUE(found({{"OCL_ICD_VENDORS", GPUFILTER_FAKE_VENDOR}}));
  EXPECT_TRUE(found({{"OCL_ICD_VENDORS", "fake.icd"}, {"OPENCL_VENDOR_PATH", vendors_}}));
  EXPECT_TRUE(found({{"OPENCL_VENDOR_PATH", vendors_}}));
  EXPECT_TRUE(
      found({{"OCL_ICD_FILENAMES", std::string("libnothing.so:") + GPUFILTER_FAKE_VENDOR}}));
  EXPECT_FALSE(found({{"OCL_ICD_VENDORS", folder_ / "nowhere"}, {"OPENCL_VENDOR_PATH", vendors_}}));
}

// OpenCL vendors whose library crashes the process: the picture is still written.

struct VendorProbes : OnePicture {
  VendorProbes() {
    fs::create_directory(vendors_);
    // A copy, as its name and its times are part of the tests.
    fs::copy_file(GPUFILTER_FAKE_VENDOR, library_);
    write_file(vendors_ / "fake.icd", library_ + "\n");
  }

  // A vendor that fails in this way, with a private cache.
  [[nodiscard]] ProcessOptions failing(const std::string& moment_and_way) const {
    return {.environment = {{"OCL_ICD_VENDORS", vendors_},
                            {"OCL_ICD_FILENAMES", ""},
                            {"XDG_CACHE_HOME", folder_ / "cache"},
                            {"GPUFILTER_PROBE_SECONDS", "2"},
                            {"FAKE_VENDOR_GPU", "1"},
                            {"FAKE_VENDOR_LOG", log_},
                            {"FAKE_VENDOR_FAILS", moment_and_way}}};
  }

  // Runs a blur on `device`, which has to give the right picture. Returns its messages.
  [[nodiscard]] std::string blur(const std::string& device, const ProcessOptions& options,
                                 const Words& more = {}) const {
    fs::remove(out_);
    const ProcessResult result = ended(
        0, filter(Words{in_, out_, "--blur", "auto", "--device", device, "--timing", "off"} + more,
                  options));
    EXPECT_EQ(result.out, "");
    EXPECT_TRUE(same_pixels(read_picture(out_), blurred(image_)));
    return result.err;
  }

  // How often the fake vendor's platforms were queried.
  [[nodiscard]] std::ptrdiff_t times_asked() const {
    const std::string log = fs::exists(log_) ? read_file(log_) : "";
    return std::count(log.begin(), log.end(), '\n');
  }

  const fs::path vendors_ = folder_.path() / "vendors";
  const std::string library_ = folder_ / "libvendor-of-tests.so";
  const std::string log_ = folder_ / "log";
};

TEST_F(VendorProbes, WhateverEndsTheProcessThePictureIsWritten) {
  using Case = std::pair<const char*, const char*>;
  for (const auto& [failure, ending] :
       {Case{"load abort", "SIGABRT while loading it"},
        Case{"platforms exit", "exit(0) while loading it"},
        Case{"devices crash", "SIGSEGV while looking for its devices"},
        Case{"context abort", "SIGABRT while making a context"},
        Case{"launch abort", "SIGABRT while running a kernel"},
        Case{"launch exit", "exit(0) while running a kernel"}}) {
    SCOPED_TRACE(failure);
    fs::remove_all(folder_ / "cache");
    expect_one_line(blur("opencl", failing(failure)),
                    {library_, ending, "the fake vendor fails", "'gpufilter devices'"});
    expect_one_line(blur("0", failing(failure)), {library_, ending});
    expect_one_line(blur("vendor-of-TESTS", failing(failure)), {library_, ending});
    EXPECT_EQ(blur("auto", failing(failure)), "");
    EXPECT_EQ(blur("cpu", failing(failure)), "");
    expect_failure(3, {in_, out_, "--blur", "auto", "--device", "opencl", "--require-device"},
                   {library_, ending}, failing(failure));
  }
}

TEST_F(VendorProbes, AKilledProbeIsNotRemembered) {
  for (int i = 1; i <= 2; ++i) {
    expect_one_line(blur("opencl", failing("context kill")),
                    {library_, "SIGKILL while making a context"});
    EXPECT_EQ(times_asked(), i);
  }
}

TEST_F(VendorProbes, AVendorThatHangsIsLeftAfterATime) {
  const auto begin = std::chrono::steady_clock::now();
  for (int i = 0; i < 3; ++i) {  // remembered after the first
    expect_one_line(blur("opencl", failing("context hang")),
                    {library_, "no answer within 2 s while making a context"});
  }
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(6));
}

TEST_F(VendorProbes, PoclTakesThePlaceOfAVendorThatFails) {
  if (!fs::exists("/etc/OpenCL/vendors/pocl.icd")) GTEST_SKIP() << "skipped: no PoCL here";
  fs::copy_file("/etc/OpenCL/vendors/pocl.icd", vendors_ / "pocl.icd");
  fs::remove(log_);
  ProcessOptions options = failing("devices abort");
  options.environment["GPUFILTER_PROBE_SECONDS"] = "60";  // PoCL compiles while other tests run
  const ProcessResult result = ended(0, filter({in_, out_, "--blur", "auto", "--device", "opencl",
                                                "--require-device", "--timing", "json"},
                                               options));
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(Json::parse(result.out)["device"]["kind"], "cpu");
  EXPECT_TRUE(same_pixels(read_picture(out_), blurred(image_)));
}

TEST_F(VendorProbes, AVendorThatFailsIsNamedIfNoGpuIsFound) {
  expect_one_line(blur("gpu", failing("devices abort")),
                  {"no GPU found", library_ + " is not usable"});
  EXPECT_TRUE(contains(blur("gpu", failing("devices abort"), {"--log-level", "debug"}),
                       library_ + " is skipped: "));
  const std::string reported = blur("all", failing("devices abort"));
  expect_parts(reported, {library_ + ": it failed when probed", "no GPU found"});
}

TEST_F(VendorProbes, DevicesSayWhyAVendorIsNotUsable) {
  const ProcessOptions options = failing("devices abort");
  const ProcessResult table = ended(0, filter({"devices"}, options));
  EXPECT_EQ(table.err, "");
  expect_parts(table.out, {"0  " + library_ + " (not usable)\n    reason ", "SIGABRT"});
  const Json json = Json::parse(filter({"devices", "--json"}, options).out);
  EXPECT_EQ(json["devices"], Json::array());
  ASSERT_EQ(json["unusable"].size(), 1);
  EXPECT_EQ(json["unusable"][0]["index"], 0);
  EXPECT_EQ(json["unusable"][0]["library"], library_);
  EXPECT_TRUE(contains(json["unusable"][0]["reason"].get<std::string>(), "SIGABRT"));
}

TEST_F(VendorProbes, AnAnswerHoldsUntilSomethingChanges) {
  const auto asked_by = [this](const ProcessOptions& options, const std::string& command = "") {
    fs::remove(log_);
    if (command.empty()) {
      static_cast<void>(blur("0", options));
    } else {
      static_cast<void>(filter({command}, options));
    }
    return times_asked();
  };
  const ProcessOptions failing_one = failing("devices abort");
  EXPECT_EQ(asked_by(failing_one), 1);
  EXPECT_EQ(asked_by(failing_one), 0);
  EXPECT_EQ(asked_by(failing_one, "devices"), 1);
  ProcessOptions elsewhere = failing_one;
  elsewhere.environment["LD_LIBRARY_PATH"] = folder_.path();
  EXPECT_EQ(asked_by(elsewhere), 1);
  EXPECT_EQ(asked_by(failing_one), 0);
  fs::last_write_time(library_, fs::file_time_type::clock::now() - std::chrono::hours(1));
  EXPECT_EQ(asked_by(failing_one), 1);
  EXPECT_EQ(asked_by(failing_one), 0);
  write_file(folder_ / "cache/gpufilter/probes.json", "nonsense");
  EXPECT_EQ(asked_by(failing_one), 1);
  EXPECT_EQ(asked_by(failing_one), 0);
}

TEST_F(VendorProbes, WithoutAUsableCacheEachRunProbes) {
  ProcessOptions options = failing("devices abort");
  options.environment["XDG_CACHE_HOME"] = in_;  // a file
  for (int i = 1; i <= 2; ++i) {
    expect_one_line(blur("0", options), {library_});
    EXPECT_EQ(times_asked(), i);
  }
}

TEST_F(VendorProbes, NoneTakesPlaceWhereNoOpenClIsNeeded) {
  EXPECT_EQ(blur("cpu", failing("load abort")), "");
  filter_quietly({in_, out_}, failing("load abort"));
  EXPECT_FALSE(fs::exists(folder_ / "cache/gpufilter/probes.json"));
}

}  // namespace
}  // namespace gpufilter::test
