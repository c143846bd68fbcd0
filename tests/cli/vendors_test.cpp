// Which OpenCL vendors are loaded, and when: PoCL brings LLVM, which takes longer than a picture.
#include <fstream>

#include "cli/filter_fixture.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;

class Vendors : public FilterTest {
 protected:
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

  // What the fake vendor saw.
  [[nodiscard]] std::string log() const { return fs::exists(log_) ? read_file(log_) : ""; }

  const fs::path vendors_ = folder_.path() / "vendors";
  const std::string log_ = folder_ / "log";
  const Image image_ = random_image(size_, format_, 1);
  const std::string in_ = stored(image_, "in.png");
  const std::string out_ = folder_ / "out.png";
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
  const ProcessResult rank = filter({in_, out_, "--blur", "auto", "--device", "gpu", "-vv"}, four);
  EXPECT_TRUE(contains(
      rank.err, "device tried first: Fake GPU 3 (GPU 4 of 4, by OMPI_COMM_WORLD_LOCAL_RANK=7)"));
}

TEST_F(Vendors, TheProcessorAndOtherCommandsLoadNone) {
  filter_quietly({in_, out_, "--blur", "auto", "--device", "cpu"}, options(false));
  filter_quietly({in_, out_}, options(false));
  EXPECT_EQ(filter({"compare", in_, in_}, options(false)).exit_code, 0);
  EXPECT_EQ(filter({"--version"}, options(false)).exit_code, 0);
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

}  // namespace
}  // namespace gpufilter::test
