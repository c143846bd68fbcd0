// Matrices as people write them, and the messages for those that make no sense.
#include <clocale>
#include <filesystem>

#include <gtest/gtest.h>

#include "stages/colour/color.hpp"
#include "support/objection.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

const ColorMatrix counting = to_matrix({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}});

std::string text_objection(const std::string& text, const std::string& file) {
  return test::objection_to([&] { return parse_color_matrix(text, file); });
}

TEST(ColorText, TakesRowsInEveryLayout) {
  for (const std::string text :
       {"1 2 3; 4 5 6; 7 8 9", "1 2 3;4 5 6;7 8 9;", "1,2,3;4,5,6;7,8,9",
        "1, 2, 3\n4, 5, 6\n7, 8, 9", "\t1\t2 3\r\n4 5 6\r\n\r\n7 8 9\r\n",
        "\xEF\xBB\xBF 1 2 3\n4 5 6\n7 8 9", "# a comment; 1 2\n1 2 3 # red\n\n4 5 6;\n;7 8 9#",
        "+1 2e0 0.3e1; 4. 5 6; 7 8 9.000"}) {
    EXPECT_EQ(parse_color_matrix(text, ""), counting) << text;
  }
}

TEST(ColorText, TakesTheFourShapes) {
  const ColorMatrix three = parse_color_matrix("0 0 1; 0 1 0; 1 0 0", "");
  EXPECT_TRUE(three.keeps_alpha());
  EXPECT_EQ(three.bias, (std::array<double, 4>{}));
  const ColorMatrix biased = parse_color_matrix("0 0 1 .5; 0 1 0 -.25; 1 0 0 1e-3", "");
  EXPECT_EQ(biased.weights, three.weights);
  EXPECT_EQ(biased.bias, (std::array<double, 4>{.5, -.25, 1e-3, 0}));
  const ColorMatrix four = parse_color_matrix("1 2 3 4; 5 6 7 8; 9 10 11 12; 13 14 15 16", "");
  EXPECT_EQ(four.weights[3], (std::array<float, 4>{13, 14, 15, 16}));
  EXPECT_EQ(four.bias, (std::array<double, 4>{}));
  const ColorMatrix full =
      parse_color_matrix("1 2 3 4 .1; 5 6 7 8 .2; 9 10 11 12 .3; 13 14 15 16 .4", "");
  EXPECT_EQ(full.weights, four.weights);
  EXPECT_EQ(full.bias, (std::array<double, 4>{.1, .2, .3, .4}));
}

TEST(ColorText, WeightsAreRoundedOnceFromTheDecimal) {
  // Between two floats, and just above the middle in the decimal's 20th digit only.
  const ColorMatrix matrix =
      parse_color_matrix("0.1 16777217 16777217.000001; 1e-50 -0 3.4028234e38; 0 0 1", "");
  EXPECT_EQ(matrix.weights[0], (std::array<float, 4>{0.1F, 16777216.F, 16777218.F, 0}));
  EXPECT_EQ(matrix.weights[1], (std::array<float, 4>{0, 0, 3.4028234e38F, 0}));
}

TEST(ColorText, TheLocaleDoesNotMatter) {
  const std::string before = std::setlocale(LC_ALL, nullptr);
  const char* with_comma = nullptr;
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"}) {
    if (with_comma == nullptr) with_comma = std::setlocale(LC_ALL, name);
  }
  if (with_comma == nullptr) GTEST_SKIP() << "skipped: no locale with a decimal comma here";
  const ColorMatrix matrix = parse_color_matrix("0.5 0 0; 0 0.5 0; 0 0 0.5", "");
  std::setlocale(LC_ALL, before.c_str());
  EXPECT_EQ(matrix.weights[0][0], 0.5F);
}

struct Refusal {
  std::string text;
  std::string complaint;
};

TEST(ColorText, SaysWhatIsWrongWhere) {
  const std::string shapes = "a matrix is 3x3, 3x4, 4x4 or 4x5";
  const std::vector<Refusal> refusals{
      {"", "m.txt:1: no number in it; " + shapes},
      {"\n# only words\n", "m.txt:3: no number in it; " + shapes},
      {"1 0 0\n0 x 0\n0 0 1", "m.txt:2: 'x' is not a number"},
      {"1 0 0\n0 1.5.2 0\n0 0 1", "m.txt:2: '1.5.2' is not a number"},
      {"1 0 0\n0 +-1 0\n0 0 1", "m.txt:2: '+-1' is not a number"},
      {"1 0 0\n\n0 0x10 0\n0 0 1", "m.txt:3: '0x10' is not a number"},
      {"1 0 0\n0 1 0\n0 0 nan", "m.txt:3: 'nan' is not a number"},
      {"inf 0 0\n0 1 0\n0 0 1", "m.txt:1: 'inf' is not a number"},
      {"1e999 0 0\n0 1 0\n0 0 1", "m.txt:1: '1e999' is too large: single precision ends at 3.4e38"},
      {"1e39 0 0\n0 1 0\n0 0 1", "m.txt:1: '1e39' is too large: single precision ends at 3.4e38"},
      {"1 0 0 0\n0 1 0 -1e34\n0 0 1 0",
       "m.txt:2: '-1e34' is too large to be added: single precision ends at 3.4e38, and it is a "
       "share of the largest sample, up to 65535"},
      {"1,,0\n0 1 0\n0 0 1", "m.txt:1: ',' without a number before it"},
      {"1 0 0\n,0 1 0\n0 0 1", "m.txt:2: ',' without a number before it"},
      {"1 0\n0 1", "m.txt:1: a row of 2 numbers, ending in '0'; " + shapes},
      {"7", "m.txt:1: a row of 1 number, ending in '7'; " + shapes},
      {"1 2 3 4 5 6", "m.txt:1: a row of 6 numbers, ending in '6'; " + shapes},
      {"1 0 0\n0 1 0 0.5\n0 0 1",
       "m.txt:2: a row of 4 numbers, ending in '0.5', but the first row has 3"},
      {"1 0 0\n0 1 0", "m.txt:2: 2 rows of 3 numbers, ending in '0'; " + shapes},
      {"1 0 0 0 0\n0 1 0 0 0\n0 0 1 0 9", "m.txt:3: 3 rows of 5 numbers, ending in '9'; " + shapes},
      {"1 0 0\n0 1 0\n0 0 1\n1 1 2", "m.txt:4: 4 rows of 3 numbers, ending in '2'; " + shapes},
      {"1 0 0 0\n0 1 0 0\n0 0 1 0\n0 0 0 1\n\n5 6 7 8",
       "m.txt:6: a fifth row of 4 numbers, ending in '8'; " + shapes},
      {"\x89PNG\r\n", "m.txt:1: '\\x89PNG' is not a number"},
      {std::string(200, 'z'), "m.txt:1: '" + std::string(32, 'z') + "...' is not a number"},
  };
  for (const Refusal& refusal : refusals) {
    EXPECT_EQ(text_objection(refusal.text, "m.txt"), refusal.complaint) << refusal.text;
  }
}

TEST(ColorText, OnTheCommandLineRowsAreNamed) {
  EXPECT_EQ(text_objection("1 0 0; 0 x 0; 0 0 1", ""), "--color: row 2: 'x' is not a number");
  EXPECT_EQ(text_objection("1 0 0; 0 1 0; 0 0 1 2", ""),
            "--color: row 3: a row of 4 numbers, ending in '2', but the first row has 3");
  EXPECT_EQ(text_objection("1 0 0; 0 1 0", ""),
            "--color: 2 rows of 3 numbers, ending in '0'; a matrix is 3x3, 3x4, 4x4 or 4x5");
  EXPECT_EQ(text_objection("", ""), "--color: no number in it; a matrix is 3x3, 3x4, 4x4 or 4x5");
}

TEST(ColorText, KnowsAMatrixFromAName) {
  for (const std::string text : {"1 0 0; 0 1 0; 0 0 1", "0.5", "-1,0,0", "+.5 1", "1;2", "x 1; 2",
                                 "a\n1", "inf 0 0; 1", "1 x", " \t2 3", "1e999 0"}) {
    EXPECT_TRUE(is_matrix_text(text)) << text;
  }
  for (const std::string text :
       {"", "sepia", "warm.txt", "2warm.txt", "warm 2.txt", "./1 0 0; 0 1 0", "/1;2", "../0.5",
        "a;b", "info.txt", "nano", "1.5.txt", "my matrices/warm.txt", "-x"}) {
    EXPECT_FALSE(is_matrix_text(text)) << text;
  }
}

std::string file_complaint(const std::string& path) {
  return test::objection_to([&] { return read_color_matrix(path); });
}

TEST(ColorText, ReadsFiles) {
  const test::TemporaryFolder folder;
  const std::string path = folder.path() / "swap.txt";
  test::write_file(path, "# swaps\r\n1 2 3\r\n4 5 6\r\n7 8 9");
  EXPECT_EQ(read_color_matrix(path), counting);
}

TEST(ColorText, ReadsTheSamples) {
  const std::string folder = GPUFILTER_SOURCE "/samples/matrices/";
  EXPECT_EQ(read_color_matrix(folder + "warm.txt"),
            parse_color_matrix("1.08 .04 0 .015; .02 .99 0 .005; 0 .06 .8 -.01", ""));
  EXPECT_EQ(read_color_matrix(folder + "infrared.txt"),
            parse_color_matrix("-.3 1.8 -.5; -.3 1.8 -.5; -.3 1.8 -.5", ""));
  EXPECT_EQ(read_color_matrix(folder + "ink.txt"),
            parse_color_matrix("0 0 0 0; 0 0 0 0; 0 0 0 0; -.2126 -.7152 -.0722 1", ""));
  std::ptrdiff_t files = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    EXPECT_NO_THROW(static_cast<void>(read_color_matrix(entry.path()))) << entry.path();
    ++files;
  }
  EXPECT_EQ(files, 3);
}

TEST(ColorText, RefusesWhatIsNoMatrixFile) {
  const test::TemporaryFolder folder;
  const std::string missing = folder.path() / "missing.txt";
  EXPECT_EQ(file_complaint(missing), missing + ": no such file");
  const std::string here = folder.path();
  EXPECT_EQ(file_complaint(here), here + ": is a folder");
  const std::string no_text = ": is not a text file with a matrix of up to 4x5 numbers";
  EXPECT_EQ(file_complaint("/dev/zero"), "/dev/zero: is not a regular file");
  const std::string large = folder.path() / "large.txt";
  test::write_file(large, "1 0 0; 0 1 0; 0 0 1\n" + std::string(70'000, '#'));
  EXPECT_EQ(file_complaint(large), large + ": is larger than 64 KiB");
  const std::string binary = folder.path() / "binary";
  test::write_file(binary, std::string("1 0 0\0 0 1 0; 0 0 1", 19));
  EXPECT_EQ(file_complaint(binary), binary + no_text);
  const std::string wrong = folder.path() / "wrong.txt";
  test::write_file(wrong, "\n\n1 0 O\n");
  EXPECT_EQ(file_complaint(wrong), wrong + ":3: 'O' is not a number");
}

}  // namespace
}  // namespace gpufilter
