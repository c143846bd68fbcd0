// "--kernel FILE.cl": kernels of the user's own.
#include "cli/program_fixture.hpp"
#include "stages/window/blur.hpp"

namespace gpufilter::test {
namespace {

const std::string course = GPUFILTER_SOURCE "/samples/course/";

struct OwnKernels : ProgramTest {
  [[nodiscard]] std::string kernel(const std::string& text) const {
    const std::string file = folder_ / "own.cl";
    write_file(file, text);
    return file;
  }

  // The picture after these stages.
  [[nodiscard]] Image result_of(const Image& picture, const Words& stages) const {
    const std::string in = stored(picture, "in.png");
    filter_quietly(Words{in, out_} + stages);
    return read_picture(out_);
  }

  // A kernel of a picture whose body is `body`.
  [[nodiscard]] std::string body(const std::string& text) const {
    return kernel(
        "__kernel void own(__global const uchar4 *in, __global uchar4 *out,\n"
        "                  int width, int height) {\n"
        "  const int x = get_global_id(0), y = get_global_id(1);\n"
        "  if (x >= width || y >= height) return;\n" +
        text + "}\n");
  }

  void expect_refused(int code, const Words& words, const Words& parts) const {
    const std::string in = stored(random_image({9, 5}, {3, 8}, 1), "in.png");
    expect_failure(code, Words{in, out_} + words, parts);
    EXPECT_FALSE(fs::exists(out_));
  }
};

// Every way to divide a picture, and each number of channels, gives the bits of our own stage.
TEST_F(OwnKernels, GiveTheResultOfTheStageThatDoesTheSame) {
  GPUFILTER_REQUIRE_DEVICE();
  const std::string rows = GPUFILTER_SOURCE "/samples/broken/right/blur.cl";
  struct Case {
    Words own;
    Words stage;
    PixelFormat format;
  };
  const Words as_blur{"--blur", "auto", "--alpha", "independent"};
  const std::vector<Case> cases{
      {{"--kernel", course + "invert.cl"}, {"--invert"}, {1, 8}},
      {{"--kernel", course + "invert.cl"}, {"--invert"}, {4, 8}},
      {{"--kernel", course + "naive-blur.cl"}, as_blur, {3, 8}},
      {{"--kernel", course + "naive-blur.cl", "--band-rows", "7"}, as_blur, {2, 8}},
      {{"--kernel", course + "tiled-blur.cl", "--band-rows", "5"}, as_blur, {3, 8}},
      {{"--kernel", course + "exercises/constants-answer.cl", "--define", "RADIUS=1", "--define",
        "GROUP_WIDTH=8", "--band-rows", "9"},
       as_blur,
       {3, 8}},
      {{"--kernel", rows, "--band-rows", "5"}, as_blur, {1, 16}},
      {{"--gray", "--kernel", rows, "--flop", "--kernel", rows},
       {"--gray", "--blur", "auto", "--flop", "--blur", "auto"},
       {3, 16}}};
  for (const Case& one : cases) {
    SCOPED_TRACE(::testing::PrintToString(one.own));
    const Image picture = random_image({67, 37}, one.format, 3);
    const Image expected = result_of(picture, one.stage);
    EXPECT_TRUE(same_pixels(result_of(picture, one.own), expected));
  }
}

// Positions are relative to the band, unless the kernel gets the whole picture.
TEST_F(OwnKernels, GetBandsOrTheWholePicture) {
  GPUFILTER_REQUIRE_DEVICE();
  const std::string file = body("  out[y * width + x] = (uchar4)(y, height, x, 255);\n");
  const Image whole =
      result_of(Image({5, 40}, {3, 8}), {"--kernel", file, "--whole", "--band-rows", "8"});
  const Image bands = result_of(Image({5, 40}, {3, 8}), {"--kernel", file, "--band-rows", "8"});
  for (const auto [x, y] : each_pixel({5, 40})) {
    EXPECT_EQ(sample_at(whole, x, y, 0), static_cast<unsigned>(y));
    EXPECT_EQ(sample_at(whole, x, y, 1), 40U);
    EXPECT_EQ(sample_at(bands, x, y, 0), static_cast<unsigned>(y < 8 ? y : y % 8 + 1));
    EXPECT_EQ(sample_at(bands, x, y, 1), y < 8 || y >= 32 ? 9U : 10U);
  }
}

TEST_F(OwnKernels, WorkInFoldersAndPrint) {
  GPUFILTER_REQUIRE_DEVICE();
  const std::string in = folder_ / "photos";
  fs::create_directory(in);
  const Image picture = random_image({9, 5}, {3, 8}, 1);
  for (const char* name : {"/a.png", "/b.png"})
    write_png(picture, in + name);
  const std::string file = body(
      "  if (x == 3 && y == 2) printf(\"here %d\\n\", width);\n"
      "  out[y * width + x] = in[y * width + x];\n");
  const ProcessResult result = ended(0, filter({in, folder_ / "results", "--kernel", file}));
  EXPECT_TRUE(contains(result.out, "here 9\n")) << result.out << result.err;
  for (const char* name : {"a.png", "b.png"})
    EXPECT_TRUE(same_pixels(read_picture(folder_.path() / "results" / name), picture));
}

TEST_F(OwnKernels, AreVerifiedAgainstAStage) {
  GPUFILTER_REQUIRE_DEVICE();
  const std::string in = stored(random_image({67, 37}, {3, 8}, 3), "in.png");
  const auto verify = [&](const std::string& file, const Words& like) {
    return filter(Words{in, out_, "--kernel", file} + like + Words{"--verify=99"});
  };
  ended(0, verify(course + "tiled-blur.cl", {"--like", "blur"}));
  ended(0, verify(course + "invert.cl", {"--like", "invert"}));
  ended(0, verify(course + "exercises/naive-blur-answer.cl", {"--like", "dilate 1"}));
  ended(0, verify(course + "naive-blur.cl", {"--like", "blur auto --border replicate"}));
  const ProcessResult other = ended(1, verify(course + "naive-blur.cl", {"--like", "median 1"}));
  EXPECT_TRUE(contains(other.err, "differs from the processor's baseline: row 0, column 0, "));
  const ProcessResult unknown = ended(2, verify(course + "naive-blur.cl", {}));
  EXPECT_TRUE(contains(unknown.err,
                       "naive-blur.cl: the processor has nothing to compare it with; "
                       "name a stage with the same result, such as --like blur"));
}

TEST_F(OwnKernels, MistakesAreNamedWithTheirLines) {
  GPUFILTER_REQUIRE_DEVICE();
  const std::string file = body("  out[y * width + x] = wrong;\n  int 5;\n");
  const std::string in = stored(random_image({9, 5}, {3, 8}, 1), "in.png");
  const ProcessResult result = ended(2, filter({in, out_, "--kernel", file}));
  expect_parts(result.err,
               {"own.cl: compiler: ", "own.cl does not compile: ", "own.cl:5:", "wrong"});
  EXPECT_FALSE(fs::exists(out_));
  expect_refused(2, {"--kernel", course + "tiled-blur.cl", "--define", "GROUP_WIDTH=8"},
                 {"tiled-blur.cl: blur is for groups of 256 work-items and gets 8x16"});
}

TEST_F(OwnKernels, AccessesAreCheckedOnRequest) {
  const std::string rows = GPUFILTER_SOURCE "/samples/broken/right/blur.cl";
  expect_refused(2, {"--kernel", rows, "--check"}, {"is for kernels over uchar4, not over ROWS"});
  const std::string file = body("  out[y * width + x] = in[(y + 1) * width + x];\n");
  if (!has_program("oclgrind-kernel")) {
    expect_refused(2, {"--kernel", file, "--check"},
                   {"own.cl --check: install Oclgrind: sudo apt-get install oclgrind"});
    return;
  }
  expect_refused(2, {"--kernel", file, "--check"},
                 {"own.cl:5: Invalid read of size 4 at global memory, by work-item (", ",332,0)"});
  expect_refused(2, {"--kernel", file, "--check", "--define", "GROUP_WIDTH=8"}, {"own.cl:5: "});
  GPUFILTER_REQUIRE_DEVICE();
  const Image picture = random_image({67, 37}, {3, 8}, 3);
  const Words checked{"--kernel", course + "tiled-blur.cl", "--check"};
  EXPECT_TRUE(same_pixels(result_of(picture, checked),
                          result_of(picture, {"--blur", "auto", "--alpha", "independent"})));
}

TEST_F(OwnKernels, WhatIsNoneIsRefused) {
  expect_refused(2, {"--kernel", kernel("void f(int a) {}\n")},
                 {"own.cl: has no kernel of the form __kernel void NAME(...) {...}"});
  expect_refused(2, {"--kernel", kernel("// __kernel void a(ROWS) {\nkernel void f(int a) {}\n")},
                 {"own.cl: f has other parameters than ROWS or __global const uchar4 *in, "
                  "__global uchar4 *out, int width, int height"});
  const std::string right = course + "naive-blur.cl";
  expect_refused(2, {"--kernel", folder_ / "missing.cl"}, {"missing.cl: no such file"});
  expect_refused(2, {"--kernel", right, "--device", "cpu"},
                 {"--kernel: --device cpu runs no OpenCL kernel; name another device"});
  expect_refused(2, {"--kernel", right, "--define", "1=2"},
                 {"--define 1=2: is not of the form NAME=VALUE"});
  expect_refused(2, {"--kernel", right, "--define", "GROUP_WIDTH=many"},
                 {"--define GROUP_WIDTH=many: is a whole number from 1 to 1024"});
  expect_refused(2, {"--kernel", right, "--like", "blurr"},
                 {"--like blurr: 'blurr' is not a stage"});
  expect_refused(2, {"--kernel", right, "--like", "levels auto"},
                 {"--like levels: compare with a stage that keeps the picture's shape"});
  expect_refused(2, {"--kernel", "cubik"}, {"--kernel cubik: unknown; did you mean cubic?"});
  const std::string deep = stored(random_image({9, 5}, {3, 16}, 1), "deep.png");
  if (has_device()) {
    expect_failure(2, {deep, out_, "--kernel", right},
                   {"--kernel naive-blur.cl: uchar4 holds samples of 8 bits, and the picture has "
                    "16; put --depth 8 before it"});
  }
  expect_failure(3, {deep, out_, "--depth", "8", "--kernel", right}, {},
                 {.environment = {{"OCL_ICD_VENDORS", folder_.path()}, {"OCL_ICD_FILENAMES", ""}}});
}

// The parameter of the same name keeps its values, and outputs count the stages.
TEST_F(OwnKernels, ShareTheirNameWithAParameterOfResize) {
  const Image picture = random_image({20, 10}, {3, 8}, 4);
  const Words small{"--resize", "50%", "--kernel", "cubic"};
  const Image expected = result_of(picture, small);
  EXPECT_FALSE(same_pixels(expected, result_of(picture, {"--resize", "50%"})));
  const std::string between = folder_ / "between.png";
  static_cast<void>(result_of(picture, small + Words{"--output", between, "--flop"}));
  EXPECT_TRUE(same_pixels(read_picture(between), expected));
}

}  // namespace
}  // namespace gpufilter::test
