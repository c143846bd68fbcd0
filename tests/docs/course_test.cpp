// The output of the lessons of samples/course, built by CMake and by the command in their comment.
#include "support/documents.hpp"
#include "support/process.hpp"

namespace gpufilter::test {
namespace {

const fs::path course = GPUFILTER_SOURCE "/samples/course";
constexpr std::array lessons{"hello",      "groups",         "invert",    "naive-blur",
                             "tiled-blur", "matrix-product", "reduction", "constants"};

// "..." matches other lines; numbers may differ in texts that show times.
const std::map<std::string, std::string> printed_by{
    {"hello", R"(device: ...

   numbers  processor    copy to     kernel  copy back  results
      1000   0.001 ms   0.001 ms   0.001 ms   0.001 ms  equal
    100000   0.001 ms   0.001 ms   0.001 ms   0.001 ms  equal
   4000000   0.001 ms   0.001 ms   0.001 ms   0.001 ms  equal

Look at: an addition is too little work to pay for the copies.
)"},
    {"groups", R"(group:(local x, local y) of each work-item

0:(0,0) 0:(1,0) 0:(2,0) 0:(3,0)  |  1:(0,0) 1:(1,0) 1:(2,0) 1:(3,0)
0:(0,1) 0:(1,1) 0:(2,1) 0:(3,1)  |  1:(0,1) 1:(1,1) 1:(2,1) 1:(3,1)

2:(0,0) 2:(1,0) 2:(2,0) 2:(3,0)  |  3:(0,0) 3:(1,0) 3:(2,0) 3:(3,0)
2:(0,1) 2:(1,1) 2:(2,1) 2:(3,1)  |  3:(0,1) 3:(1,1) 3:(2,1) 3:(3,1)

global id = group id * group size + local id: holds
...
)"},
    {"invert", R"(300 x 200 pixels need 19 x 13 groups of 16 x 16 work-items:
63232 work-items, 3232 of them beyond the picture

(  0,   0):   0   0   0  ->  255 255 255
(  8,   0):   6   0 255  ->  249 255   0
(299, 199): 254 253 255  ->    1   2   0
...
)"},
    {"naive-blur", R"(blue along a row, across an edge of the pattern:
  before   0   0   0   0 255 255 255 255
  after    0   0   0  85 170 255 255 255
...
)"},
    {"tiled-blur", R"(           reads per pixel        time
naive                 9.00    1.000 ms
tiled                 1.27    1.000 ms
results equal

Look at: local memory of this device is ordinary memory, as on every processor.
)"},
    {"matrix-product", R"(C = A B, 250 x 250
...
a network 64 -> 32 -> ReLU -> 10, for the first of 100 inputs:
  7.788 -3.279 -0.145 10.993 6.261 -6.746 3.848 -7.077 6.639 5.090
results equal
...
)"},
    {"reduction", R"(1.1, added 1048576 times

                             sum   error, ulp        time
left to right        1165568.500      97079.0    1.000 ms
64 groups of 256     1153432.250         11.0    1.000 ms
exact                1153433.625
...
)"},
    {"constants", R"(weights and radius   compiling          time
arguments            100.0 ms     10.000 ms
literals             100.0 ms     10.000 ms
results equal
...
)"}};

std::string first_line(const std::string& text) {
  return text.substr(0, text.find('\n'));
}

// The command that a lesson's comment names, up to "&&".
std::string compiler_line(const std::string& lesson) {
  const std::string text = read_file((course / (lesson + ".cpp")).string());
  const std::size_t begin = text.find("g++ ");
  return text.substr(begin, text.find(" &&", begin) - begin);
}

bool has_pocl() {
  return fs::exists("/etc/OpenCL/vendors/pocl.icd");
}

struct Lesson : ::testing::TestWithParam<const char*> {};

TEST_P(Lesson, PrintsWhatItTeaches) {
  if (!has_pocl()) GTEST_SKIP() << "skipped: no PoCL here";
  const std::string name = GetParam();
  const fs::path build = fs::path(GPUFILTER_PROGRAM).parent_path().parent_path();
  const ProcessResult result =
      ended(0, run_process({build / "samples" / "course" / name}, {.folder = build}));
  EXPECT_FALSE(contains(result.out, "DIFFERENT") || contains(result.out, "FAILS")) << result.out;
  std::string expected = printed_by.at(name);
  std::string printed = result.out;
  if (expected.starts_with("device: ")) {
    expected = expected.substr(first_line(expected).size());
    printed = printed.substr(first_line(printed).size());
  }
  EXPECT_TRUE(matches_shown(expected, printed)) << printed;
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);)
    EXPECT_LE(line.size(), 80U) << line;
}

TEST_P(Lesson, IsShortAndHasItsKernelAnExerciseAndAnAnswer) {
  const std::string name = GetParam();
  const std::string text = read_file((course / (name + ".cpp")).string());
  const auto count = std::ranges::count(text, '\n');
  EXPECT_GE(count, 35);
  EXPECT_LE(count, 120);
  EXPECT_EQ(compiler_line(name), "g++ -std=c++17 -O2 " + name + ".cpp -lOpenCL -o " + name);
  for (const std::string& file :
       {name + ".cl", "exercises/" + name + ".cl", "exercises/" + name + "-answer.cl"})
    EXPECT_TRUE(fs::exists(course / file)) << file;
}

INSTANTIATE_TEST_SUITE_P(Course, Lesson, ::testing::ValuesIn(lessons), [](const auto& lesson) {
  std::string name = lesson.param;
  std::erase(name, '-');
  return name;
});

TEST(Course, IsCompiledByTheLineInItsComments) {
  const TemporaryFolder folder;
  const std::string line = compiler_line("tiled-blur");
  const std::string output = folder / "tiled-blur";
  const std::string command = line.substr(0, line.rfind(' ')) + " " + output;
  ended(0, run_process({"sh", "-c", command}, {.folder = course}));
  EXPECT_TRUE(fs::exists(output));
}

}  // namespace
}  // namespace gpufilter::test
