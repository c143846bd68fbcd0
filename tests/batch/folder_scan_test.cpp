// The pictures of a run from folders, patterns and lists.
#include "batch/folder_scan.hpp"

#include "batch/picture_list.hpp"
#include "codec/codec_table.hpp"
#include "support/testing.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

const std::string png_head = "\x89PNG\r\n\x1a\n and so on";
const std::string jpeg_head = "\xff\xd8\xff\xe0 and so on";

struct FolderScanning : ::testing::Test {
  void put(const std::string& name, const std::string& bytes = png_head) const {
    const fs::path path = folder_.path() / name;
    fs::create_directories(path.parent_path());
    test::write_file(path, bytes);
  }

  [[nodiscard]] FolderScan everything(bool recursive = false, Names patterns = {}) const {
    FolderScan scan;
    scan.folder = folder_.path();
    scan.recursive = recursive;
    scan.patterns = std::move(patterns);
    return scan;
  }

  [[nodiscard]] std::vector<FoundFile> scan(bool recursive = false) const {
    return scan_folder(everything(recursive)).files;
  }

  [[nodiscard]] static Names names(const ScanResult& result) {
    Names names;
    for (const FoundFile& file : result.files)
      names.push_back(file.problem.empty() ? file.relative : file.relative + "!");
    return names;
  }
  [[nodiscard]] Names names(bool recursive = false, Names patterns = {}) const {
    return names(scan_folder(everything(recursive, std::move(patterns))));
  }
  [[nodiscard]] Names names_with_links() const {
    FolderScan scan = everything(true);
    scan.follow_links = true;
    return names(scan_folder(scan));
  }

  test::TemporaryFolder folder_;
};

using Others = std::vector<OtherPicture>;
const std::string psd_head{"8BPS\0\1", 6};

TEST_F(FolderScanning, PicturesOfOtherFormatsAreNamed) {
  put("a.png");
  put("b.PSD", "the name decides");
  put("sub/c.bmp");
  put("d", psd_head);
  put("e.orig", jpeg_head);
  put("f.xmp", "<x:xmpmeta>");
  put(".g.psd");
  put("h.jpg", psd_head);
  fs::create_directory(folder_ / "folder.psd");
  fs::create_symlink("b.PSD", folder_ / "link.gif");
  fs::create_symlink("missing.psd", folder_ / "dangling.psd");
  ASSERT_EQ(::mkfifo((folder_ / "fifo.psd").c_str(), 0600), 0);
  FolderScan wanted = everything(true);
  const ScanResult all = scan_folder(wanted);
  EXPECT_EQ(all.others, (Others{{"b.PSD", "PSD"},
                                {"d", "PSD"},
                                {"e.orig", "JPEG not named .jpg"},
                                {"link.gif", "GIF"},
                                {"sub/c.bmp", "BMP"}}));
  ASSERT_EQ(names(all), (Names{"a.png", "h.jpg!"}));
  EXPECT_EQ(all.files[1].problem, "PSD is not supported");
  wanted.look_inside = false;
  EXPECT_EQ(scan_folder(wanted).others,
            (Others{{"b.PSD", "PSD"}, {"link.gif", "GIF"}, {"sub/c.bmp", "BMP"}}));
  EXPECT_EQ(scan_folder(everything(false, {"*.png", "b*"})).others, (Others{{"b.PSD", "PSD"}}));
}

TEST_F(FolderScanning, FilesThatAreNoPicturesAreNotOpenedForever) {
  for (int i = 0; i < 32; ++i)
    put("a" + std::to_string(10 + i) + ".txt", "text");
  put("b.txt", psd_head);
  put("b.doc", psd_head);
  EXPECT_EQ(scan_folder(everything()).others, (Others{{"b.doc", "PSD"}}));
  fs::remove(folder_ / "a10.txt");
  EXPECT_EQ(scan_folder(everything()).others, (Others{{"b.doc", "PSD"}, {"b.txt", "PSD"}}));
  for (int i = 0; i < 969; ++i)
    put("a.x" + std::to_string(i), "text");
  EXPECT_EQ(scan_folder(everything()).others, Others{});
}

TEST_F(FolderScanning, AFileNamedByTheUserMayHaveAnyName) {
  put("noending", jpeg_head);
  put("note.txt", "text");
  const FoundFile picture = look_at(folder_ / "noending");
  EXPECT_EQ(picture.problem, "");
  EXPECT_EQ(picture.relative, "noending");
  EXPECT_EQ(picture.bytes, jpeg_head.size());
  EXPECT_EQ(look_at(folder_ / "note.txt").problem, "not a " + names_of(codecs()) + " picture");
  EXPECT_EQ(look_at(folder_ / "missing.png").problem, "no such file");
  EXPECT_EQ(look_at(folder_.path()).problem, "is not a regular file");
}

TEST_F(FolderScanning, SortsByBytes) {
  for (const char* name : {"b.png", "B.png", "a/z.png", "a.png", "\xff.png", "a-b.png"})
    put(name);
  EXPECT_EQ(names(true), (Names{"B.png", "a-b.png", "a.png", "a/z.png", "b.png", "\xff.png"}));
}

TEST_F(FolderScanning, MatchesNamesNotFolders) {
  put("a.png");
  put("b.jpg");
  put("[x].png");
  put("sub/c.png");
  EXPECT_EQ(names(true, {"*.png"}), (Names{"[x].png", "a.png", "sub/c.png"}));
  EXPECT_EQ(names(true, {"b*", "c.???"}), (Names{"b.jpg", "sub/c.png"}));
  EXPECT_EQ(names(true, {"sub*"}), Names{});
  EXPECT_EQ(names(true, {"\\[x\\].png"}), Names{"[x].png"});
}

TEST_F(FolderScanning, TheTopFolderMayBeALink) {
  put("real/a.png");
  fs::create_directory_symlink("real", folder_ / "link");
  EXPECT_EQ(names(scan_folder({.folder = folder_ / "link", .recursive = true})), Names{"a.png"});
}

// If a folder were scanned once for every path to it, this would never end.
TEST_F(FolderScanning, EntersAFolderOnceHoweverManyPathsLeadToIt) {
  Names expected;
  for (int i = 10; i < 40; ++i) {
    put(std::to_string(i) + "/a.png");
    expected.push_back(std::to_string(i) + "/a.png");
    for (int j = 10; j < 40; ++j) {
      fs::create_directory_symlink("../" + std::to_string(j),
                                   folder_ / (std::to_string(i) + "/" + std::to_string(j)));
    }
  }
  EXPECT_EQ(names(true), expected);
  EXPECT_EQ(names_with_links(), expected);
}

TEST_F(FolderScanning, AnUnreadableFileHasAProblem) {
  put("a.png");
  fs::create_symlink("missing", folder_ / "dangling.png");
  fs::create_symlink("round.png", folder_ / "round.png");
  EXPECT_EQ(names(), (Names{"a.png", "dangling.png!", "round.png!"}));
  EXPECT_EQ(scan()[1].problem, "is a link to a file that does not exist");
  EXPECT_EQ(names(false, {"a*"}), Names{"a.png"});
  if (geteuid() == 0) GTEST_SKIP() << "skipped in part: the superuser may read everything";
  put("closed.png");
  put("sub/b.png");
  fs::permissions(folder_ / "closed.png", fs::perms::none);
  fs::permissions(folder_ / "sub", fs::perms::none);
  EXPECT_EQ(names(true), (Names{"a.png", "closed.png!", "dangling.png!", "round.png!", "sub!"}));
  EXPECT_EQ(scan(true).back().problem, "permission denied");
  fs::permissions(folder_ / "sub", fs::perms::owner_all);
}

bool file_matches(const char* pattern, const char* path) {
  return PathPattern(pattern).matches(path, false);
}

TEST(PathPattern, WithoutASlashItIsANameAndWithOneAPath) {
  EXPECT_TRUE(file_matches("*.png", "a.png"));
  EXPECT_TRUE(file_matches("*.png", "sub/deep/a.PNG"));
  EXPECT_TRUE(file_matches("img?.jpg", "sub/img1.jpg"));
  EXPECT_FALSE(file_matches("img?.jpg", "sub/img10.jpg"));
  EXPECT_FALSE(file_matches("sub", "sub/a.png")) << "the folder itself is skipped";
  EXPECT_TRUE(PathPattern("sub").matches("a/sub", true));
  EXPECT_TRUE(file_matches("sub/*.png", "sub/a.png"));
  EXPECT_TRUE(file_matches("./sub/*.png", "sub/a.png"));
  EXPECT_FALSE(file_matches("sub/*.png", "b/sub/a.png"));
  EXPECT_FALSE(file_matches("sub/*.png", "sub/deep/a.png"));
  EXPECT_TRUE(file_matches("/a.png", "a.png"));
  EXPECT_FALSE(file_matches("/a.png", "sub/a.png"));
}

TEST(PathPattern, TwoStarsAndASlashAtItsEndMeanFolders) {
  for (const char* path : {"sub/a.png", "sub/x/a.png", "sub/x/y/a.png"})
    EXPECT_TRUE(file_matches("sub/**/a.png", path)) << path;
  EXPECT_TRUE(file_matches("**/a.png", "a.png"));
  EXPECT_TRUE(file_matches("**/x/*.png", "sub/x/a.png"));
  EXPECT_TRUE(file_matches("sub/**", "sub/x/a.png"));
  EXPECT_FALSE(file_matches("sub/**", "sub"));
  EXPECT_FALSE(file_matches("sub/**/b.png", "sub/x/a.png"));
  EXPECT_FALSE(file_matches("raw/", "raw"));
  EXPECT_TRUE(PathPattern("raw/").matches("sub/raw", true));
  EXPECT_FALSE(PathPattern("/raw/").matches("sub/raw", true));
  EXPECT_TRUE(PathPattern("/raw/").matches("raw", true));
}

using namespace std::string_literals;
using Sizes = std::vector<std::pair<std::string, std::uint64_t>>;

struct PictureLists : ::testing::Test {
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
  EXPECT_EQ(read("1\ta\nb.png\0"s), (Sizes{{"a\nb.png", 1}}));
  EXPECT_EQ(read("1\ta\r\0"
                 "2\tb.png\r\0"
                 "3\tc\r.png\0"s),
            (Sizes{{"c\r.png", 3}}));
  // The output of find gives the same pictures as a search of the folder.
  EXPECT_EQ(read("1\ta.txt\n2\t.b.png\n3\t.git/c.png\n4\td/.e/f.png\n5\tg.png\n6\tMakefile\n"),
            (Sizes{{"g.png", 5}}));
}

TEST_F(PictureLists, AreReadFromFilesWithMissingSizes) {
  std::filesystem::create_directory(folder_ / "sub");
  test::write_file(folder_ / "a.png", "12345");
  test::write_file(folder_ / "sub/12\tb.png", "123");
  EXPECT_EQ(read("missing.png\nsub/12\tb.png\na.png\n"),
            (Sizes{{"a.png", 5}, {"missing.png", 0}, {"sub/12\tb.png", 3}}));
  // The names point into a text, which moves with the list.
  PictureList first({{"a.png", 1}});
  const PictureList copy = first;
  const PictureList moved = std::move(first);
  EXPECT_EQ(copy.pictures()[0].name, "a.png");
  EXPECT_EQ(moved.pictures()[0].name, "a.png");
  test::write_file(folder_ / "list", "1\ta.png\n");
  EXPECT_EQ(read_picture_list(folder_ / "list", ".").bytes(), 1U);
  EXPECT_THROW(static_cast<void>(read_picture_list(folder_ / "missing", ".")), PictureError);
  EXPECT_THROW(static_cast<void>(read_picture_list(folder_.path(), ".")), PictureError);
}

TEST_F(PictureLists, NameFilesBelowTheFolderOnceWithAllSizesOrNone) {
  for (const std::string name :
       {"/a.png", "../a.png", "b/../a.png", "b//a.png", "b/./a.png", "b/"}) {
    const std::string text = refusal("1\t" + name + "\n");
    test::expect_parts(text, {"list: '" + name + "' is not a path below ", "-printf '%s\\t%P\\0'"});
  }
  EXPECT_EQ(refusal("1\ta.png\n2\tb.png\n3\t./a.png\n"), "list: 'a.png' is listed twice");
  EXPECT_EQ(refusal("1\ta.png\nb.png\n"), "list: 'b.png' has no size, but the first name has one");
  EXPECT_EQ(refusal("1\ta.png\n-1\tb.png\n"),
            "list: '-1\\tb.png' has no size, but the first name has one");
}

TEST_F(PictureLists, AreTheSameInAnyOrderAndKeepOtherFormatsApart) {
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

}  // namespace
}  // namespace gpufilter
