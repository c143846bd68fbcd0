// Programs, their cache and the queue on every device of this machine.
#include "device/session.hpp"

#include "device/device_choice.hpp"
#include "device/kernel_figures.hpp"
#include "device/kernel_source.hpp"
#include "device/pocl.hpp"
#include "support/filtering.hpp"

namespace gpufilter::test {
namespace {

using Names = std::vector<std::string>;

const KernelRequest naive_blur{"blur.cl", "blur_naive", "-D GROUP_WIDTH=64 -D GROUP_HEIGHT=1"};

class SessionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  }

  [[nodiscard]] ProgramCache cache() const { return ProgramCache(folder_.path()); }

  // Builds the kernel in a separate session, as a new process would.
  [[nodiscard]] ProgramOrigin build(const DeviceInfo& device) const {
    return build(device, cache());
  }

  static ProgramOrigin build(const DeviceInfo& device, const ProgramCache& cache) {
    Session session(device, cache);
    const ProgramOrigin origin = session.make_kernel(naive_blur).origin();
    session.keep_programs();
    return origin;
  }

  TemporaryFolder folder_;
};

TEST_F(SessionTest, TakesFromTheCacheWhatAnEarlierSessionKept) {
  for (const auto& started : all_sessions()) {
    // Equal devices share programs, so each gets its own cache.
    const TemporaryFolder own;
    const ProgramCache cache(own.path());
    EXPECT_EQ(build(started->device(), cache), ProgramOrigin::compiled) << started->device().name;
    EXPECT_EQ(build(started->device(), cache), ProgramOrigin::cached) << started->device().name;
  }
}

// Two GPUs of one model compile once.
TEST_F(SessionTest, AnEqualDeviceTakesTheSameProgram) {
  const DeviceInfo& device = all_sessions().front()->device();
  DeviceInfo twin = device;
  twin.index += 1;
  ASSERT_EQ(build(device), ProgramOrigin::compiled);
  EXPECT_EQ(build(twin), ProgramOrigin::cached);
}

TEST_F(SessionTest, AnotherDriverVersionIsAnotherProgram) {
  DeviceInfo device = all_sessions().front()->device();
  ASSERT_EQ(build(device), ProgramOrigin::compiled);
  device.driver_version += "+1";
  EXPECT_EQ(build(device), ProgramOrigin::compiled);
  EXPECT_EQ(build(device), ProgramOrigin::cached);
}

// common.cl precedes every program: its text is part of the cache key.
TEST_F(SessionTest, AnotherCommonFileIsAnotherProgram) {
  const DeviceInfo& device = all_sessions().front()->device();
  ASSERT_EQ(build(device), ProgramOrigin::compiled);
  const TemporaryFolder kernels;
  for (const char* name : {"stage/common.cl", "window/blur.cl"}) {
    std::filesystem::copy(std::filesystem::path(GPUFILTER_SOURCE) / "kernels" / name,
                          kernels.path());
  }
  setenv("GPUFILTER_KERNELS", kernels.path().c_str(), 1);
  EXPECT_EQ(build(device), ProgramOrigin::compiled);  // its messages name the folder
  EXPECT_EQ(build(device), ProgramOrigin::cached);
  write_file(kernels / "common.cl", read_file(kernels / "common.cl") + "// changed\n");
  EXPECT_EQ(build(device), ProgramOrigin::compiled);
  unsetenv("GPUFILTER_KERNELS");
}

TEST_F(SessionTest, CompilesAgainWhereTheEntryIsDamaged) {
  const DeviceInfo& device = all_sessions().front()->device();
  ASSERT_EQ(build(device), ProgramOrigin::compiled);
  for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) {
    std::string bytes = read_file(entry.path());
    bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] + 1);
    write_file(entry.path(), bytes);
  }
  EXPECT_EQ(build(device), ProgramOrigin::compiled);
  EXPECT_EQ(build(device), ProgramOrigin::cached);
}

TEST_F(SessionTest, AnUnwritableCacheIsNoFailure) {
  write_file(folder_ / "file", "");
  Session session(all_sessions().front()->device(), ProgramCache(folder_.path() / "file" / "x"));
  EXPECT_EQ(session.make_kernel(naive_blur).origin(), ProgramOrigin::compiled);
  EXPECT_NO_THROW(session.keep_programs());
}

TEST_F(SessionTest, NamesTheFileThatDoesNotCompile) {
  Session session(all_sessions().front()->device(), std::nullopt);
  const std::string refusal = objection_to<DeviceError>([&] {
    return session.make_kernel({"blur.cl", "blur_naive", "-D CHANNELS=nonsense"});
  });
  EXPECT_TRUE(contains(refusal, "blur.cl"));
  EXPECT_EQ(refusal.find('\n'), std::string::npos) << refusal;
}

TEST_F(SessionTest, RefusesAKernelThatIsNotThere) {
  Session session(all_sessions().front()->device(), std::nullopt);
  EXPECT_THROW(static_cast<void>(session.make_kernel({"blur.cl", "no_such", ""})), DeviceError);
  EXPECT_THROW(static_cast<void>(session.make_kernel({"no_such.cl", "x", ""})), DeviceError);
}

// Bands that run at the same time set different arguments.
TEST_F(SessionTest, SharesNoKernelBetweenTwoOwnersAndKeepsItForTheNext) {
  Session session(all_sessions().front()->device(), std::nullopt);
  KernelRequest other = naive_blur;
  other.options += " -D BORDER=1";
  const Kernel different = session.make_kernel(other);
  std::set<const Kernel::State*> first;
  {
    const Kernel a = session.make_kernel(naive_blur);
    const Kernel b = session.make_kernel(naive_blur);
    first = {&a.state(), &b.state()};
    EXPECT_EQ(first.size(), 2U);
    EXPECT_FALSE(first.contains(&different.state()));
  }
  const Kernel c = session.make_kernel(naive_blur);
  const Kernel d = session.make_kernel(naive_blur);
  EXPECT_EQ((std::set{&c.state(), &d.state()}), first);
}

TEST_F(SessionTest, RefusesMemoryThatTheDeviceDoesNotHave) {
  for (const auto& session : all_sessions())
    EXPECT_THROW(static_cast<void>(session->allocate(std::size_t{1} << 50U)), DeviceError);
}

TEST_F(SessionTest, BringsBackWhatItTookAndTimesIt) {
  for (const auto& session : all_sessions()) {
    std::vector<std::uint8_t> sent(100'000);
    std::iota(sent.begin(), sent.end(), std::uint8_t{0});
    std::vector<std::uint8_t> received(sent.size(), 0xA5);
    const Buffer buffer = session->allocate(sent.size());
    Queue queue = session->make_queue();
    const Nanoseconds before = now();
    const Event up = queue.upload(buffer, sent.data(), sent.size());
    const Event down = queue.download(buffer, received.data(), received.size());
    queue.finish();
    const Nanoseconds after = now();
    EXPECT_EQ(received, sent);
    // On the host's clock, to a few microseconds of calibration.
    constexpr Nanoseconds slack = 5'000'000;
    EXPECT_GT(up.times().start, before - slack);
    EXPECT_LE(up.times().start + up.times().duration, down.times().start + 1);
    EXPECT_LT(down.times().start + down.times().duration, after + slack);
  }
}

// The text that programs are compiled from.

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    ++found;
  return found;
}

TEST(KernelSource, IncludedFilesStandInTheirPlaceOnceAndLinesAreNumberedAsInTheFile) {
  const std::string source = kernel_source("blur_packed.cl", "// generated\n");
  EXPECT_EQ(count(source, "#include"), 0U);
  const std::size_t common = source.find("#pragma OPENCL FP_CONTRACT OFF");
  const std::size_t generated = source.find("// generated\n");
  const std::size_t window = source.find("#define FILL_WINDOWS(");
  const std::size_t included = source.find("void blur_three(");
  const std::size_t kernels = source.find("__kernel");
  EXPECT_LT(common, generated);
  EXPECT_LT(generated, window);
  EXPECT_LT(window, included);
  EXPECT_LT(included, kernels);
  EXPECT_EQ(count(source, "void blur_three("), 1U);
  // Messages of the compiler name lines of the file.
  const std::string file = kernel_file("blur_packed.cl");
  const std::size_t include = file.rfind("#include");
  ASSERT_NE(include, std::string::npos);
  const std::size_t line = count(file.substr(0, include), "\n") + 1;
  const std::size_t after = file.find('\n', include) + 1;
  const std::string next = file.substr(after, 200);
  EXPECT_TRUE(
      contains(kernel_source("blur_packed.cl"), "#line " + std::to_string(line + 1) + "\n" + next));
}

// A folder needs only the files that differ.
TEST(KernelSource, PlacesInMessagesAreThoseOfItsFiles) {
  const std::string source =
      "#line 1 \"a.cl\"\nint a;\n#line 7\nint b;\n#line 1 \"b.cl\"\nint c;\n";
  EXPECT_EQ(with_file_lines("<kernel>:2:5: wrong\n<kernel>:4: b, <kernel>:6:1 <kernel>:", source),
            "a.cl:1:5: wrong\na.cl:7: b, b.cl:1:1 <kernel>:");
  EXPECT_EQ(with_file_lines("own.cl:3: wrong", source), "own.cl:3: wrong");
}

TEST(KernelSource, AFolderReplacesTheFilesThatItHas) {
  const std::string built_in = kernel_file("blur_packed.cl");
  const TemporaryFolder folder;
  write_file(folder / "blur_lines.cl", "// lines of another folder\n");
  setenv("GPUFILTER_KERNELS", folder.path().c_str(), 1);
  EXPECT_EQ(kernel_file("blur_lines.cl"), "// lines of another folder\n");
  EXPECT_EQ(kernel_file("blur_packed.cl"), built_in);
  const std::string source = kernel_source("blur_packed.cl");
  EXPECT_EQ(count(source, "// lines of another folder\n"), 1U);
  EXPECT_EQ(count(source, "void blur_three("), 0U);
  EXPECT_THROW(static_cast<void>(kernel_file("no_such.cl")), DeviceError);
  setenv("GPUFILTER_KERNELS", (folder / "missing").c_str(), 1);
  EXPECT_THROW(static_cast<void>(kernel_file("blur_packed.cl")), DeviceError);
  unsetenv("GPUFILTER_KERNELS");
}

// Registers and spills in what NVIDIA's compiler prints, and what follows from them.

constexpr const char* build_log =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'blur' for 'sm_90'\n"
    "ptxas info    : Function properties for blur\n"
    "    144 bytes stack frame, 136 bytes spill stores, 208 bytes spill loads\n"
    "ptxas info    : Used 255 registers, 400 bytes cmem[0]\n"
    "ptxas info    : Compiling entry function 'blur_naive' for 'sm_90'\n"
    "ptxas info    : Function properties for blur_naive\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 40 registers, 400 bytes cmem[0]\n"
    "ptxas info    : Compiling entry function 'small' for 'sm_90'\n"
    "ptxas info    : Used 8 registers, 344 bytes cmem[0]\n";

TEST(CompilerFigures, AreThoseOfTheFunction) {
  EXPECT_EQ(figures_in(build_log, "blur"), (CompilerFigures{255, 136}));
  EXPECT_EQ(figures_in(build_log, "blur_naive"), (CompilerFigures{40, 0}));
  EXPECT_EQ(figures_in(build_log, "small"), (CompilerFigures{8, 0}));
}

// What ptxas 13.0 prints for Hopper's own instructions, with registers left out and then enough.
TEST(CompilerFigures, AreReadFromTheTextForSm90a) {
  constexpr const char* few =
      "ptxas info    : Overriding maximum register limit 256 for 'low_product' with  128 of "
      "maxrregcount option\n"
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'low_product' for 'sm_90a'\n"
      "ptxas info    : Function properties for low_product\n"
      "    96 bytes stack frame, 176 bytes spill stores, 140 bytes spill loads\n"
      "ptxas info    : Used 128 registers, used 1 barriers, 96 bytes cumulative stack size, 49152 "
      "bytes smem\n"
      "ptxas info    : Compile time = 101.959 ms\n";
  EXPECT_EQ(figures_in(few, "low_product"), (CompilerFigures{128, 176}));
  constexpr const char* enough =
      "ptxas info    : 0 bytes gmem\n"
      "ptxas info    : Compiling entry function 'low_product' for 'sm_90a'\n"
      "ptxas info    : Function properties for low_product\n"
      "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
      "ptxas info    : Used 154 registers, used 1 barriers, 49152 bytes smem\n"
      "ptxas info    : Compile time = 90.417 ms\n";
  EXPECT_EQ(figures_in(enough, "low_product"), (CompilerFigures{154, 0}));
}

TEST(CompilerFigures, AreAbsentFromOtherTexts) {
  EXPECT_EQ(figures_in(build_log, "blur_"), std::nullopt);
  EXPECT_EQ(figures_in("", "blur"), std::nullopt);
  EXPECT_EQ(figures_in("warning: unused variable 'x'", "blur"), std::nullopt);
  EXPECT_EQ(figures_in("Compiling entry function 'blur' for 'sm_90'\nUsed ", "blur"), std::nullopt);
}

TEST(KernelFigures, AreWrittenAsFarAsTheyAreKnown) {
  KernelFigures figures;
  EXPECT_EQ(to_string(figures), "");
  figures.limits.local_bytes = 1296;
  EXPECT_EQ(to_string(figures), "1296 bytes local");
  figures.limits.private_bytes = 144;
  figures.compiled = CompilerFigures{255, 136};
  EXPECT_EQ(to_string(figures),
            "255 registers, 136 bytes spilled, 144 bytes private, 1296 bytes local");
}

TEST(KernelFigures, SayHowManyGroupsHaveRegistersAndOfMadeKernelsAreTakenOnce) {
  KernelFigures figures;
  EXPECT_EQ(resident_groups(figures, 256, 65536), std::nullopt) << "the driver does not tell";
  figures.compiled = CompilerFigures{128, 0};
  EXPECT_EQ(resident_groups(figures, 256, 65536), 2U);
  EXPECT_EQ(resident_groups(figures, 32, 65536), 16U);
  EXPECT_EQ(resident_groups(figures, 33, 65536), 8U) << "two warps";
  figures.compiled = CompilerFigures{33, 0};  // 33 * 32 = 1056 become 1280
  EXPECT_EQ(resident_groups(figures, 32, 65536), 51U);
  EXPECT_EQ(resident_groups(figures, 32, 0), std::nullopt);
  static_cast<void>(take_made_kernels());
  for (unsigned i = 0; i < 300; ++i) {
    KernelFigures figures;
    figures.compiled = CompilerFigures{i, 0};
    note_made_kernel(figures);
  }
  const auto made = take_made_kernels();
  ASSERT_EQ(made.size(), 256U) << "the last ones";
  EXPECT_EQ(made.front().compiled->registers, 44U);
  EXPECT_EQ(made.back().compiled->registers, 299U);
  EXPECT_TRUE(take_made_kernels().empty());
}

// "N0" to "N3" by NVIDIA, "A0", ... by AMD, "I0", ... by Intel, "P0", ... by NVIDIA and shown by
// PoCL; each vendor's on a platform of its own.
DeviceInfo gpu(const std::string& name) {
  DeviceInfo device;
  device.kind = DeviceKind::gpu;
  device.name = name;
  switch (name.front()) {
    case 'A':
      device.vendor = "Advanced Micro Devices, Inc.";
      device.platform = "AMD Accelerated Parallel Processing";
      break;
    case 'I':
      device.vendor = "Intel(R) Corporation";
      device.platform = "Intel(R) OpenCL Graphics";
      break;
    default:
      device.vendor = "NVIDIA Corporation";
      device.platform = name.front() == 'P' ? pocl_platform : "NVIDIA CUDA";
  }
  return device;
}

struct Case {
  Names gpus;  // as they are listed
  NodeVariables variables;
  Names order;
  std::string reason;
};

void expect_shares(const std::vector<Case>& cases) {
  for (const Case& one : cases) {
    std::vector<DeviceInfo> gpus;
    for (const std::string& name : one.gpus)
      gpus.push_back(gpu(name));
    const GpuShare share = share_gpus(gpus, one.variables);
    Names order;
    for (const DeviceInfo& device : share.gpus)
      order.push_back(device.name);
    std::string text = formatted("{}:", fmt::join(one.gpus, " "));
    for (const auto& [name, value] : one.variables)
      text += formatted(" {}={}", name, value);
    EXPECT_EQ(order, one.order) << text;
    EXPECT_EQ(share.reason, one.reason) << text;
  }
}

const Names four{"N0", "N1", "N2", "N3"};

TEST(GpuShare, WithoutASchedulerTheOrderStaysAndTheNumberOnTheNodeChoosesModuloTheGpus) {
  expect_shares({{{}, {}, {}, ""},
                 {{}, {{"SLURM_LOCALID", "1"}}, {}, ""},
                 {four, {}, four, ""},
                 {{"I0", "N0", "N1"}, {}, {"I0", "N0", "N1"}, ""}});
  const Names third{"N2", "N3", "N0", "N1"};
  expect_shares({{four, {{"SLURM_LOCALID", "0"}}, four, "GPU 1 of 4, by SLURM_LOCALID=0"},
                 {four, {{"SLURM_LOCALID", "2"}}, third, "GPU 3 of 4, by SLURM_LOCALID=2"},
                 {four, {{"SLURM_LOCALID", "6"}}, third, "GPU 3 of 4, by SLURM_LOCALID=6"},
                 {four, {{"MPI_LOCALRANKID", "2"}}, third, "GPU 3 of 4, by MPI_LOCALRANKID=2"},
                 {four, {{"PMI_LOCAL_RANK", "2"}}, third, "GPU 3 of 4, by PMI_LOCAL_RANK=2"},
                 {four, {{"PARALLEL_JOBSLOT", "3"}}, third, "GPU 3 of 4, by PARALLEL_JOBSLOT=3"},
                 {four,
                  {{"OMPI_COMM_WORLD_LOCAL_RANK", "2"}},
                  third,
                  "GPU 3 of 4, by OMPI_COMM_WORLD_LOCAL_RANK=2"},
                 {{"N0"}, {{"SLURM_LOCALID", "3"}}, {"N0"}, ""}});
}

// mpirun's processes and GNU parallel's inherit the variables of the Slurm task around them.
TEST(GpuShare, TheInnermostSchedulerDecidesAndWhatIsNoNumberDecidesNothing) {
  expect_shares({{four,
                  {{"SLURM_LOCALID", "0"}, {"OMPI_COMM_WORLD_LOCAL_RANK", "1"}},
                  {"N1", "N2", "N3", "N0"},
                  "GPU 2 of 4, by OMPI_COMM_WORLD_LOCAL_RANK=1"},
                 {four,
                  {{"SLURM_LOCALID", "0"}, {"PARALLEL_JOBSLOT", "4"}},
                  {"N3", "N0", "N1", "N2"},
                  "GPU 4 of 4, by PARALLEL_JOBSLOT=4"}});
  for (const char* value : {"", "-1", "x", "1x", " 1", "99999999999999999999999"})
    expect_shares({{four, {{"SLURM_LOCALID", value}}, four, ""}});
  expect_shares({{four, {{"PARALLEL_JOBSLOT", "0"}}, four, ""},
                 {four,
                  {{"MPI_LOCALRANKID", "x"}, {"SLURM_LOCALID", "3"}},
                  {"N3", "N0", "N1", "N2"},
                  "GPU 4 of 4, by SLURM_LOCALID=3"}});
}

TEST(GpuShare, AListThatTheDriverHasAppliedIsNotAppliedAgain) {
  expect_shares(
      {{{"N0"}, {{"CUDA_VISIBLE_DEVICES", "2"}}, {"N0"}, "given by CUDA_VISIBLE_DEVICES=2"},
       {{"N0"},
        {{"CUDA_VISIBLE_DEVICES", "2"}, {"SLURM_LOCALID", "2"}},
        {"N0"},
        "given by CUDA_VISIBLE_DEVICES=2"},
       {{"N0", "N1"},
        {{"CUDA_VISIBLE_DEVICES", "1,3"}},
        {"N0", "N1"},
        "given by CUDA_VISIBLE_DEVICES=1,3"},
       {{"N0"},
        {{"CUDA_VISIBLE_DEVICES", "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"}},
        {"N0"},
        "given by CUDA_VISIBLE_DEVICES=GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"},
       {{"A0"}, {{"ROCR_VISIBLE_DEVICES", "5"}}, {"A0"}, "given by ROCR_VISIBLE_DEVICES=5"}});
}

TEST(GpuShare, SeveralTasksWithOneListTakeOneEachAndAListThatTheDriverDoesNotReadIsApplied) {
  expect_shares({{four,
                  {{"CUDA_VISIBLE_DEVICES", "0,1,2,3"}, {"SLURM_LOCALID", "1"}},
                  {"N1", "N2", "N3", "N0"},
                  "GPU 2 of the 4 of CUDA_VISIBLE_DEVICES=0,1,2,3, by SLURM_LOCALID=1"}});
  expect_shares(
      {{four, {{"CUDA_VISIBLE_DEVICES", "2"}}, {"N2"}, "given by CUDA_VISIBLE_DEVICES=2"},
       {four,
        {{"CUDA_VISIBLE_DEVICES", "3,1"}, {"SLURM_LOCALID", "1"}},
        {"N1", "N3"},
        "GPU 2 of the 2 of CUDA_VISIBLE_DEVICES=3,1, by SLURM_LOCALID=1"},
       {four, {{"CUDA_VISIBLE_DEVICES", "1,-1,2"}}, {"N1"}, "given by CUDA_VISIBLE_DEVICES=1,-1,2"},
       // Nothing was given.
       {four, {{"CUDA_VISIBLE_DEVICES", ""}}, {}, ""},
       {four, {{"CUDA_VISIBLE_DEVICES", "NoDevFiles"}}, {}, ""},
       {four, {{"CUDA_VISIBLE_DEVICES", "7"}}, {}, ""}});
}

TEST(GpuShare, AListSpeaksForItsVendorAloneAndWithoutAListOnlyOnePlatformIsSharedOut) {
  expect_shares({{{"I0", "N0"},
                  {{"CUDA_VISIBLE_DEVICES", "3"}},
                  {"N0", "I0"},
                  "given by CUDA_VISIBLE_DEVICES=3"},
                 {{"I0", "A0"}, {{"CUDA_VISIBLE_DEVICES", "3"}}, {"I0", "A0"}, ""},
                 {{"I0", "A0", "A1"},
                  {{"CUDA_VISIBLE_DEVICES", "0"}, {"ROCR_VISIBLE_DEVICES", "1"}},
                  {"A1", "I0"},
                  "given by ROCR_VISIBLE_DEVICES=1"},
                 {{"P0", "P1"}, {{"CUDA_VISIBLE_DEVICES", "1"}}, {"P0", "P1"}, ""}});
  // A slow GPU inside the processor must not take a task's turn.
  expect_shares({{{"N0", "N1", "I0"},
                  {{"SLURM_LOCALID", "2"}},
                  {"N0", "N1", "I0"},
                  "GPU 1 of 2, by SLURM_LOCALID=2"},
                 {{"N0", "N1", "I0"},
                  {{"SLURM_LOCALID", "3"}},
                  {"N1", "N0", "I0"},
                  "GPU 2 of 2, by SLURM_LOCALID=3"}});
}

TEST(GpuShare, ReadsTheEnvironment) {
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  setenv("SLURM_LOCALID", "3", 1);
  const NodeVariables variables = node_variables();
  unsetenv("CUDA_VISIBLE_DEVICES");
  unsetenv("SLURM_LOCALID");
  ASSERT_TRUE(variables.contains("CUDA_VISIBLE_DEVICES"));
  EXPECT_EQ(variables.at("CUDA_VISIBLE_DEVICES"), "");
  ASSERT_TRUE(variables.contains("SLURM_LOCALID"));
  EXPECT_EQ(variables.at("SLURM_LOCALID"), "3");
  EXPECT_FALSE(variables.contains("PATH"));
}

// The gate with a device that fails where PoCL does: when a launch is wider than all before it, no
// other command may be running or begin beside it.

const LaunchGate::Key key{"blur.cl -D CHANNELS=3", "blur_naive", 64, 4};

// What makes PoCL fail: a launch wider than those before it that begins or runs beside another.
class Device {
 public:
  void begin(const LaunchGate::Key& kernel, std::size_t width) {
    const std::lock_guard lock(mutex_);
    if (alone_) ++violations_;
    if (width > widest_[kernel]) {
      if (under_way_ != 0) ++violations_;
      widest_[kernel] = width;
      alone_ = true;
    }
    ++under_way_;
  }
  void end(std::size_t commands) {
    const std::lock_guard lock(mutex_);
    under_way_ -= commands;
    if (under_way_ == 0) alone_ = false;
  }
  [[nodiscard]] int violations() const { return violations_; }
  [[nodiscard]] std::size_t under_way() const { return under_way_; }

 private:
  std::mutex mutex_;
  std::map<LaunchGate::Key, std::size_t> widest_;
  std::size_t under_way_ = 0;
  bool alone_ = false;
  int violations_ = 0;
};

class FakeQueue final : public LaunchGate::Client {
 public:
  FakeQueue(LaunchGate& gate, Device& device) : gate_(gate), device_(device) {}
  ~FakeQueue() override { finish(); }

  void launch(const LaunchGate::Key& kernel, std::size_t width) {
    gate_.launch(kernel, width, *this, [&] {
      device_.begin(kernel, width);
      ++under_way_;
    });
  }
  void finish() {
    wait();
    gate_.ended(*this);
  }
  // Two threads may wait at the same time: neither continues before the commands have ended.
  void wait() override {
    const std::lock_guard lock(ending_);
    std::this_thread::yield();
    device_.end(under_way_.exchange(0));
  }

 private:
  LaunchGate& gate_;
  Device& device_;
  std::atomic<std::size_t> under_way_ = 0;
  std::mutex ending_;
};

TEST(LaunchGate, GivesTheWidestLaunchesTheDeviceToThemselves) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    LaunchGate gate;
    Device device;
    std::vector<std::thread> threads;
    for (unsigned t = 0; t < 6; ++t) {
      threads.emplace_back([&gate, &device, seed, t] {
        std::mt19937 random(seed * 100 + t);
        FakeQueue queue(gate, device);
        for (std::size_t step = 1; step <= 200; ++step) {
          const LaunchGate::Key kernel{"blur.cl", formatted("blur_{}", random() % 3), 1, 1};
          queue.launch(kernel, 1 + random() % (step * 10));
          if (random() % 3 == 0) queue.finish();
        }
      });
    }
    for (std::thread& thread : threads)
      thread.join();
    ASSERT_EQ(device.violations(), 0) << "seed " << seed;
    ASSERT_EQ(device.under_way(), 0U);
  }
}

TEST(LaunchGate, LetsLaunchesThatAreNoWiderRunBesideEachOther) {
  LaunchGate gate;
  Device device;
  FakeQueue first(gate, device);
  FakeQueue second(gate, device);
  first.launch(key, 100);
  EXPECT_EQ(device.under_way(), 0U) << "the first launch is a wider one, and waited for";
  first.launch(key, 100);
  second.launch(key, 50);
  EXPECT_EQ(device.under_way(), 2U);
  second.launch(key, 101);
  EXPECT_EQ(device.under_way(), 0U) << "both were waited for";
  EXPECT_EQ(device.violations(), 0);
}

TEST(LaunchGate, WaitsForAllBeforeWorkThatWantsToBeAlone) {
  LaunchGate gate;
  Device device;
  FakeQueue queue(gate, device);
  queue.launch(key, 100);
  queue.launch(key, 100);
  gate.alone([&] { EXPECT_EQ(device.under_way(), 0U); });
  queue.launch(key, 100);
  EXPECT_EQ(device.under_way(), 0U) << "the first launch after it is on its own too";
}

TEST(LaunchGate, GoesOnAfterALaunchThatFails) {
  LaunchGate gate;
  Device device;
  FakeQueue queue(gate, device);
  const auto fail = [] { throw std::runtime_error("no"); };
  EXPECT_THROW(gate.launch(key, 100, queue, fail), std::runtime_error);
  EXPECT_THROW(gate.launch(key, 0, queue, fail), std::runtime_error);
  queue.launch(key, 10);
  queue.launch(key, 10);
  EXPECT_EQ(device.violations(), 0);
}

}  // namespace
}  // namespace gpufilter::test
