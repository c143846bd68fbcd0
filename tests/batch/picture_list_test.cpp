#include "batch/picture_list.hpp"

#include <filesystem>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "support/objection.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"
#include "support/texts.hpp"

namespace gpufilter {
namespace {

using namespace std::string_literals;
using Sizes = std::vector<std::pair<std::string, std::uint64_t>>;

class PictureLists : public ::testing::Test {
 protected:
  [[nodiscard]] Sizes read(const std::string& text) const {
    const PictureList list(text, "list", folder_.path());
    Sizes sizes;
    for (const SizedName& picture : list.pictures())
      sizes.emplace_back(picture.name, picture.bytes);
    return sizes;
  }

  [[nodiscard]] std::string refusal(const std::string& text) const {
    return test::objection_to([&] { return read(text); }, "accepted");
  }

  test::TemporaryFolder folder_;
};

TEST_F(PictureLists, HaveSizesAndNames) {
  const Sizes expected{{"a.png", 5}, {"sub/b c.JPG", 0}};
  EXPECT_EQ(read("0\tsub/b c.JPG\0"
                 "5\ta.png\0"s),
            expected);
  EXPECT_EQ(read("0\tsub/b c.JPG\0"
                 "5\ta.png"s),
            expected);
  EXPECT_EQ(read("0\tsub/b c.JPG\n5\ta.png\n"), expected);
  EXPECT_EQ(read("0\t./sub/b c.JPG\r\n\r\n5\t././a.png\r\n"), expected);
  EXPECT_EQ(read("18446744073709551615\ta.png\n"), (Sizes{{"a.png", UINT64_MAX}}));
  EXPECT_TRUE(read("").empty());
}

TEST_F(PictureLists, TakeMissingSizesFromTheFiles) {
  std::filesystem::create_directory(folder_ / "sub");
  test::write_file(folder_ / "a.png", "12345");
  test::write_file(folder_ / "sub/12\tb.png", "123");
  EXPECT_EQ(read("missing.png\nsub/12\tb.png\na.png\n"),
            (Sizes{{"a.png", 5}, {"missing.png", 0}, {"sub/12\tb.png", 3}}));
}

TEST_F(PictureLists, NamesMayContainLineEndsIfTheyEndInNul) {
  EXPECT_EQ(read("1\ta\nb.png\0"s), (Sizes{{"a\nb.png", 1}}));
  EXPECT_EQ(read("1\ta\r\0"
                 "2\tb.png\r\0"
                 "3\tc\r.png\0"s),
            (Sizes{{"c\r.png", 3}}));
}

// The output of find gives the same pictures as a search of the folder.
TEST_F(PictureLists, IgnoreWhatAScanIgnores) {
  EXPECT_EQ(read("1\ta.txt\n2\t.b.png\n3\t.git/c.png\n4\td/.e/f.png\n5\tg.png\n6\tMakefile\n"),
            (Sizes{{"g.png", 5}}));
}

TEST_F(PictureLists, NameFilesBelowTheFolder) {
  for (const std::string name :
       {"/a.png", "../a.png", "b/../a.png", "b//a.png", "b/./a.png", "b/"}) {
    const std::string text = refusal("1\t" + name + "\n");
    test::expect_parts(text, {"list: '" + name + "' is not a path below ", "-printf '%s\\t%P\\0'"});
  }
}

TEST_F(PictureLists, NameEachOnceAndHaveAllSizesOrNone) {
  EXPECT_EQ(refusal("1\ta.png\n2\tb.png\n3\t./a.png\n"), "list: 'a.png' is listed twice");
  EXPECT_EQ(refusal("1\ta.png\nb.png\n"), "list: 'b.png' has no size, but the first name has one");
  EXPECT_EQ(refusal("1\ta.png\n-1\tb.png\n"),
            "list: '-1\\tb.png' has no size, but the first name has one");
}

TEST_F(PictureLists, AreTheSameInAnyOrder) {
  const PictureList a("1\tb.png\n2\ta.png\n", "", "");
  const PictureList b(
      "2\ta.png\0"
      "9\tc.txt\0"
      "1\t./b.png\0"s,
      "", "");
  EXPECT_EQ(a.text(),
            "2\ta.png\0"
            "1\tb.png\0"s);
  EXPECT_EQ(b.text(), a.text());
  EXPECT_EQ(PictureList({{"b.png", 1}, {"a.png", 2}}).text(), a.text());
  EXPECT_EQ(a.bytes(), 3U);
  EXPECT_EQ(PictureList(a.text(), "", "").text(), a.text());
}

TEST_F(PictureLists, KeepOtherFormatsApart) {
  const PictureList list("3\tz.gif\n1\tb.png\n4\t.hidden.gif\n2\ta.bmp\n9\tc.txt\n", "", "");
  ASSERT_EQ(list.pictures().size(), 1U);
  ASSERT_EQ(list.others().size(), 2U);
  EXPECT_EQ(list.others()[0].name, "a.bmp");
  EXPECT_EQ(list.others()[1].name, "z.gif");
  EXPECT_EQ(list.bytes(), 1U);
  EXPECT_EQ(list.text(),
            "1\tb.png\0"
            "2\ta.bmp\0"
            "3\tz.gif\0"s);
  EXPECT_EQ(PictureList(list.text(), "", "").text(), list.text());
  const PictureList made({{"b.png", 1}}, {{"z.gif", 3}, {"a.bmp", 2}});
  EXPECT_EQ(made.text(), list.text());
  EXPECT_EQ(made.others()[1].name, "z.gif");
}

// The names point into a text, which moves with the list.
TEST_F(PictureLists, MayBeMovedAndCopied) {
  PictureList first({{"a.png", 1}});
  const PictureList copy = first;
  const PictureList moved = std::move(first);
  EXPECT_EQ(copy.pictures()[0].name, "a.png");
  EXPECT_EQ(moved.pictures()[0].name, "a.png");
}

TEST_F(PictureLists, AreReadFromFiles) {
  test::write_file(folder_ / "list", "1\ta.png\n");
  EXPECT_EQ(read_picture_list(folder_ / "list", ".").bytes(), 1U);
  EXPECT_THROW(static_cast<void>(read_picture_list(folder_ / "missing", ".")), PictureError);
  EXPECT_THROW(static_cast<void>(read_picture_list(folder_.path(), ".")), PictureError);
}

}  // namespace
}  // namespace gpufilter
