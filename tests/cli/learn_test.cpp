// "gpufilter learn": the lessons of samples/course, and the judge of solutions.
#include "cli/program_fixture.hpp"

namespace gpufilter::test {
namespace {

const std::string lesson_folder = GPUFILTER_SOURCE "/samples/course/";

struct Learn : ProgramTest {
  [[nodiscard]] std::string solution(const std::string& text) const {
    const std::string file = folder_ / "own.cl";
    write_file(file, text);
    return file;
  }

  // The judgement of a solution.
  [[nodiscard]] Json judged(const std::string& lesson, const std::string& file) const {
    const ProcessResult result = filter({"learn", lesson, "--check", file, "--json"}, optimised());
    EXPECT_LE(result.exit_code, 1) << result.err;
    const Json json = Json::parse(result.out, nullptr, false);
    EXPECT_TRUE(json.is_object()) << result.out;
    EXPECT_EQ(json["passed"], result.exit_code == 0);
    const bool accesses_rightly = json["wrong_access"].is_null() || json["wrong_access"] == "";
    EXPECT_EQ(json["wrong_access"].is_null(), !has_oclgrind());
    EXPECT_EQ(json["passed"], json["wrong"] == 0 && accesses_rightly) << json;
    return json;
  }

  static bool has_oclgrind() { return has_program("oclgrind-kernel"); }

  static const Words& names() {
    static const Words all{"hello",      "groups",         "invert",    "naive-blur",
                           "tiled-blur", "matrix-product", "reduction", "constants"};
    return all;
  }
};

TEST_F(Learn, ListsAndPrintsTheLessons) {
  const std::string list = ended(0, filter({"learn"})).out;
  std::size_t place = 0;
  for (const std::string& name : names()) {
    const std::size_t next = list.find("\n" + name + " ", place);
    EXPECT_TRUE(begins(list, name + " ") || next != std::string::npos) << name;
    place = next == std::string::npos ? 0 : next;
    const std::string program = read_file(lesson_folder + name + ".cpp");
    const std::string exercise = read_file(lesson_folder + "exercises/" + name + ".cl");
    expect_parts(ended(0, filter({"learn", name})).out,
                 {program, read_file(lesson_folder + name + ".cl"), exercise});
    EXPECT_EQ(ended(0, filter({"learn", name, "--exercise"})).out, exercise);
    EXPECT_EQ(ended(0, filter({"learn", name, "--answer"})).out,
              read_file(lesson_folder + "exercises/" + name + "-answer.cl"));
  }
  expect_failure(2, {"learn", "tiles"}, {"tiles: no such lesson; those are hello, groups, "});
  expect_failure(2, {"learn", "--check", "my.cl"}, {"name a lesson"});
}

TEST_F(Learn, OurAnswersPassAndTheExercisesDoNot) {
  GPUFILTER_REQUIRE_DEVICE();
  for (const std::string& name : names()) {
    SCOPED_TRACE(name);
    const Json answer = judged(name, lesson_folder + "exercises/" + name + "-answer.cl");
    EXPECT_TRUE(answer["passed"]) << answer;
    for (const Json& kernel : answer["kernels"])
      EXPECT_GT(kernel["ms"], 0) << kernel;
  }
  for (const std::string name : {"hello", "tiled-blur", "reduction"})
    EXPECT_FALSE(judged(name, lesson_folder + "exercises/" + name + ".cl")["passed"]) << name;
}

// A change of our answer, and what the judge says about it.
struct WrongAnswer {
  std::string lesson;
  std::string right;
  std::string wrong;
  std::string likely;
};

TEST_F(Learn, MistakesAreRecognised) {
  GPUFILTER_REQUIRE_DEVICE();
  const std::string corners =
      "  if (side_x && side_y) tile[row + side_y][column + side_x] = PIXEL(x + side_x, y + "
      "side_y);\n";
  const std::vector<WrongAnswer> answers{
      {"tiled-blur", corners, "", "the corners of the halo are not fetched"},
      {"tiled-blur", "  barrier(CLK_LOCAL_MEM_FENCE);\n", "",
       "there is no barrier between writing local memory and reading it"},
      {"tiled-blur", "(sum + 4) / 9", "sum / 9",
       "rounding: the mean is not rounded to the nearest"},
      {"tiled-blur", "if (side_x) tile", "if (side_x < -1) tile",
       "the halo's columns are not fetched"},
      {"tiled-blur", "if (side_y) tile", "if (side_y < -1) tile",
       "the halo's rows are not fetched"},
      {"constants", "clamp(y + dy, 0, height - 1)", "abs((y + dy) % height)",
       "the edge: neighbours outside the picture are not the nearest pixels inside"},
      {"naive-blur", "x >= width ||", "x >= width - 1 ||",
       "work-items return or stop before they store: look at the conditions and indices"},
      {"naive-blur", "= largest;", "= (uchar4)(largest.xyz, 0);",
       "alpha, the fourth channel, is treated differently"},
      {"matrix-product", "fmax(sum, 0.0f)", "sum", "ReLU is missing: negative sums become 0"},
      {"invert", "width - 1 - x", "x", "the result is the input: nothing is computed yet"}};
  for (const WrongAnswer& answer : answers) {
    SCOPED_TRACE(answer.wrong);
    std::string text = read_file(lesson_folder + "exercises/" + answer.lesson + "-answer.cl");
    const std::size_t place = text.find(answer.right);
    ASSERT_NE(place, std::string::npos);
    text.replace(place, answer.right.size(), answer.wrong);
    const Json json = judged(answer.lesson, solution(text));
    EXPECT_GT(json["wrong"], 0);
    EXPECT_NE(json["first"], "");
    // Without a barrier, runs may differ.
    const bool races = json["likely"].get<std::string>().starts_with("a second run differs");
    EXPECT_TRUE(json["likely"] == answer.likely || (races && contains(answer.right, "barrier")))
        << json;
  }
}

// Oclgrind finds what a result need not show.
TEST_F(Learn, AccessesAreCheckedWhereOclgrindIsInstalled) {
  GPUFILTER_REQUIRE_DEVICE();
  const std::string answer = lesson_folder + "exercises/invert-answer.cl";
  const std::string text = ended(0, filter({"learn", "invert", "--check", answer})).out;
  expect_parts(text, {has_oclgrind() ? "\naccesses: none outside the buffers, no race\n"
                                     : "\naccesses: not checked; install Oclgrind: sudo apt-get "
                                       "install oclgrind\n"});
  if (!has_oclgrind()) GTEST_SKIP() << "skipped: no Oclgrind here";
  const std::string file = solution(
      "__kernel void mirror(__global const uchar4 *in, __global uchar4 *out, int width,\n"
      "                     int height) {\n"
      "  const int x = get_global_id(0), y = get_global_id(1);\n"
      "  volatile uchar4 before = in[y * width + width - 1 - x];\n"
      "  if (x < width && y < height) out[y * width + x] = before;\n"
      "}\n");
  const Json json = judged("invert", file);
  EXPECT_EQ(json["wrong"], 0) << json;
  const std::string found = json["wrong_access"];
  EXPECT_TRUE(found.starts_with(file + ":4: Invalid read of size 4 at global memory")) << found;
  std::string blur = read_file(lesson_folder + "exercises/tiled-blur-answer.cl");
  const std::string waits = "  barrier(CLK_LOCAL_MEM_FENCE);\n";
  const std::string returns = "  if (x >= width || y >= height) return;\n";
  blur.replace(blur.find(waits), waits.size(), returns + waits);
  EXPECT_EQ(judged("tiled-blur", solution(blur))["wrong_access"],
            file + ":19: Work-group divergence detected (barrier)");
}

TEST_F(Learn, WhatIsNoSolutionIsRefused) {
  GPUFILTER_REQUIRE_DEVICE();
  const auto refused = [&](const std::string& text, const Words& parts) {
    expect_failure(2, {"learn", "hello", "--check", solution(text)}, parts);
  };
  refused("__kernel void f(__global float *a) {}\n",
          {"own.cl: f has 1 parameter, the exercise's kernel 4"});
  const std::string file =
      solution("\n__kernel void f(__global float *a, int b, int c, int d) { wrong; }\n");
  expect_parts(ended(2, filter({"learn", "hello", "--check", file})).err,
               {"own.cl does not compile: ", "own.cl:2:"});
  expect_failure(2, {"learn", "hello", "--check", solution(""), "--device", "cpu"},
                 {"--check: --device cpu runs no OpenCL kernel; name another device"});
}

}  // namespace
}  // namespace gpufilter::test
