// "gpufilter compare" with two folders.
#include <filesystem>
#include <string>
#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "base/format.hpp"
#include "cli/compare_fixture.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;

class CompareFolders : public CompareTest {
 protected:
  void SetUp() override {
    fs::create_directories(fs::path(a_) / "sub");
    fs::create_directories(fs::path(b_) / "sub");
  }

  // Puts the same picture into both folders, or `image` into A and a different one into B.
  void put(const std::string& name, const Image& image) const { put(name, image, image); }
  void put(const std::string& name, const Image& in_a, const Image& in_b) const {
    write_picture(in_a.rows(), a_ + "/" + name);
    write_picture(in_b.rows(), b_ + "/" + name);
  }

  [[nodiscard]] ProcessResult compare_both(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {a_, b_});
    return compare(std::move(more));
  }

  const std::string a_ = folder_ / "a";
  const std::string b_ = folder_ / "b";
  const Image image_ = poisoned_image(size_, format_, 50);
};

TEST_F(CompareFolders, OfEqualPicturesEndWithZero) {
  put("1.png", image_);
  put("2.jpg", image_);
  const ProcessResult result = ended(0, compare_both());
  EXPECT_EQ(result.out, "2 names: 2 equal\n");
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(compare({a_, a_}).exit_code, 0);
}

TEST_F(CompareFolders, ListNamesThatAreNotEqualInOrder) {
  put("z.png", image_);
  put("near.png", image_, moved(image_, 4, 5, 1, 2));
  put("far.png", image_, moved(moved(image_, 6, 7, 0, 9), 1, 2, 0, 1));
  put("size.png", image_, random_image({8, 9}, {1, 8}, 1));
  write_png(image_, a_ + "/left.png");
  write_png(image_, b_ + "/right.png");
  // Other files are ignored.
  write_file(a_ + "/notes.txt", "text");
  write_file(b_ + "/.hidden.png", "text");
  const ProcessResult result = ended(3, compare_both({"--tolerance", "2"}));
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out,
            formatted("far.png: different: 2 of 527 pixels (0.38 %) differ, by at most 9 at x 6, y "
                      "7, 1 of 527 pixels (0.19 %) beyond the tolerance, PSNR 60.98 dB, "
                      "SSIM 0.9977\n"
                      "left.png: only in {0}\n"
                      "near.png: equal within the tolerance of 2: 1 of 527 pixels (0.19 %) differ, "
                      "by at most 2 at x 4, y 5, 0 of 527 pixels (0.00 %) beyond the tolerance, "
                      "PSNR 74.10 dB, SSIM more than 0.9999\n"
                      "right.png: only in {1}\n"
                      "size.png: not comparable: 31x17, RGB, 8-bit; 8x9, grey, 8-bit\n"
                      "6 names: 1 equal, 1 equal within the tolerance, 1 different, 1 not "
                      "comparable, 1 only in {0}, 1 only in {1}\n",
                      a_, b_));
}

TEST_F(CompareFolders, EndWithTheWorstOfAllNames) {
  put("1.png", image_);
  EXPECT_EQ(compare_both().exit_code, 0);
  put("2.png", image_, moved(image_, 4, 5, 1, 2));
  EXPECT_EQ(compare_both({"--tolerance=2"}).exit_code, 1);
  EXPECT_EQ(compare_both({"--fail-percent=0.2"}).exit_code, 1);
  EXPECT_EQ(compare_both().exit_code, 2);
  put("3.png", image_, random_image({8, 9}, {1, 8}, 1));
  EXPECT_EQ(compare_both().exit_code, 3);
  write_file(b_ + "/1.png", "not a picture");
  EXPECT_EQ(compare_both().exit_code, 4);
}

TEST_F(CompareFolders, CountANameInOneOfThemAsDifferent) {
  put("1.png", image_);
  write_png(image_, b_ + "/2.png");
  EXPECT_EQ(compare_both({"--tolerance=65535", "--fail-percent=100"}).exit_code, 2);
  fs::remove(b_ + "/2.png");
  // The same picture with a different extension is a different name.
  write_picture(image_.rows(), a_ + "/3.png");
  write_picture(image_.rows(), b_ + "/3.jpg");
  const ProcessResult result = ended(2, compare_both());
  EXPECT_EQ(result.out, formatted("3.jpg: only in {1}\n3.png: only in {0}\n"
                                  "3 names: 1 equal, 1 only in {0}, 1 only in {1}\n",
                                  a_, b_));
}

TEST_F(CompareFolders, NameFilesThatCannotBeReadAndGoOn) {
  put("1.png", image_);
  put("2.png", image_);
  put("3.png", image_);
  const std::string bytes = read_file(b_ + "/2.png");
  write_file(b_ + "/2.png", bytes.substr(0, bytes.size() / 2));
  const ProcessResult result = ended(4, compare_both());
  EXPECT_EQ(result.out, "2.png: cannot be read\n3 names: 2 equal, 1 cannot be read\n");
  EXPECT_TRUE(result.err.starts_with("gpufilter: " + b_ + "/2.png: ")) << result.err;
  EXPECT_EQ(result.err.find('\n'), result.err.size() - 1) << result.err;

  const ProcessResult quiet = ended(4, compare_both({"-q"}));
  EXPECT_EQ(quiet.out, "");
  EXPECT_EQ(quiet.err, result.err);
}

TEST_F(CompareFolders, EnterFoldersOnlyWhenAskedTo) {
  put("1.png", image_);
  put("sub/1.png", image_, moved(image_, 4, 5, 1, 2));
  EXPECT_EQ(compare_both().exit_code, 0);
  const ProcessResult result = ended(2, compare_both({"--recursive"}));
  EXPECT_TRUE(result.out.starts_with("sub/1.png: different: ")) << result.out;
  // A folder of results within that of the originals is not one of the originals.
  const std::string inner = a_ + "/results";
  fs::create_directory(inner);
  fs::create_directory(inner + "/sub");
  for (const char* name : {"/1.png", "/sub/1.png"})
    fs::copy_file(a_ + name, inner + name);
  EXPECT_EQ(compare({a_, inner, "--recursive"}).exit_code, 0);
  EXPECT_EQ(compare({inner, a_, "--recursive"}).exit_code, 0);
}

TEST_F(CompareFolders, JsonHasAnObjectForEachName) {
  put("equal.png", image_);
  put("far.png", image_, moved(image_, 6, 7, 0, 9));
  put("size.png", image_, random_image({8, 9}, {1, 8}, 1));
  put("torn.png", image_);
  write_file(a_ + "/torn.png", read_file(a_ + "/torn.png").substr(0, 60));
  write_png(image_, a_ + "/left.png");
  write_png(image_, b_ + "/right.png");
  const ProcessResult result =
      ended(4, compare_both({"--json", "--tolerance=2", "--fail-percent=0.1"}));
  const Json json = Json::parse(result.out);
  EXPECT_EQ(json["schema"], "gpufilter-compare-folders-1");
  EXPECT_EQ(json["tolerance"], 2);
  EXPECT_EQ(json["fail_percent"], 0.1);
  EXPECT_EQ(json["recursive"], false);
  EXPECT_EQ(json["a"], a_);
  EXPECT_EQ(json["b"], b_);
  ASSERT_EQ(json["pictures"].size(), 6);
  const std::vector<std::tuple<std::string, std::string, int>> expected{
      {"equal.png", "equal", 0},
      {"far.png", "different", 2},
      {"left.png", "only_in_a", 2},
      {"right.png", "only_in_b", 2},
      {"size.png", "other_size_or_format", 3},
      {"torn.png", "unreadable", 4}};
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const auto& [name, outcome, code] = expected[i];
    const Json& picture = json["pictures"][i];
    EXPECT_EQ(picture["name"], name);
    EXPECT_EQ(picture["result"], outcome);
    EXPECT_EQ(picture["exit_code"], code);
    EXPECT_EQ(picture.contains("pixels"), code == 0 || name == "far.png") << name;
    EXPECT_EQ(picture.contains("error"), outcome == "unreadable") << name;
    EXPECT_EQ(picture.contains("a"), picture.contains("pixels") || name == "size.png") << name;
  }
  // The numbers of a pair are those of comparing its two pictures.
  Json single =
      compare_json({a_ + "/far.png", b_ + "/far.png", "--tolerance=2", "--fail-percent=0.1"}, 2);
  Json pair = json["pictures"][1];
  pair.erase("name");
  for (const char* key : {"schema", "tolerance", "fail_percent", "difference_picture"})
    single.erase(key);
  EXPECT_EQ(pair, single);
  EXPECT_GT(pair["ssim"].get<double>(), 0.99);
  EXPECT_LT(pair["ssim"].get<double>(), 1.0);
  EXPECT_EQ(json["summary"], (Json{{"result", "unreadable"},
                                   {"exit_code", 4},
                                   {"counts",
                                    {{"names", 6},
                                     {"equal", 1},
                                     {"within_tolerance", 0},
                                     {"different", 1},
                                     {"other_size_or_format", 1},
                                     {"only_in_a", 1},
                                     {"only_in_b", 1},
                                     {"unreadable", 1}}}}));
}

TEST_F(CompareFolders, OfManyPicturesKeepTheOrderOfNames) {
  std::string expected;
  for (int i = 100; i < 160; ++i) {
    // Large ones among small ones end later.
    const Image large = random_image({i % 7 == 0 ? 700 : 31, 300}, format_, 5);
    put(formatted("p{}.png", i), large, moved(large, 3, 2, 1, 1));
    expected += formatted("p{}.png: different: 1 of ", i);
  }
  const ProcessResult result = ended(2, compare_both());
  std::string found;
  for (const std::string& line : lines_of(result.out)) {
    if (line.starts_with("p")) found += line.substr(0, line.find("1 of ") + 5);
  }
  EXPECT_EQ(found, expected);
  EXPECT_TRUE(result.out.ends_with("\n60 names: 0 equal, 60 different\n")) << result.out;
}

TEST_F(CompareFolders, ShowNamesOnOneLine) {
  const std::string name = "a\nb\x1b[31m.png";
  write_png(image_, a_ + "/" + name);
  EXPECT_EQ(compare_both().out,
            formatted("a\\nb\\x1b[31m.png: only in {0}\n1 name: 0 equal, 1 only in {0}\n", a_));
  EXPECT_EQ(Json::parse(compare_both({"--json"}).out)["pictures"][0]["name"], name);
}

TEST_F(CompareFolders, AreRefusedWhereNothingCanBeCompared) {
  put("1.png", image_);
  const std::string picture = a_ + "/1.png";
  expect_trouble({a_, picture}, "is a folder, but " + picture + " is not");
  expect_trouble({picture, a_}, "is a folder, but " + picture + " is not");
  expect_trouble({a_, "-"}, "is a folder");
  expect_trouble({a_, b_ + "/none"}, b_ + "/none: no such file or folder");
  expect_trouble({a_, b_, "--diff", folder_ / "out.png"}, "--diff");
  expect_trouble({a_ + "/sub", b_ + "/sub"}, "neither folder holds a picture");
  expect_trouble({a_ + "/sub", b_ + "/sub", "--json"}, "neither folder holds a picture");
  const ProcessResult full =
      ended(4, run_process({"/bin/sh", "-c", R"(exec "$0" compare "$1" "$2" > /dev/full)",
                            GPUFILTER_PROGRAM, a_, b_}));
  EXPECT_TRUE(full.err.starts_with("gpufilter: standard output: ")) << full.err;
}

}  // namespace
}  // namespace gpufilter::test
