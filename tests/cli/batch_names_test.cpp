// Which files of a folder are filtered, and the names of the results.
#include "cli/batch_fixture.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class BatchNames : public BatchTest {};

TEST_F(BatchNames, MatchPicksNamesInAnyCase) {
  put("a.png");
  put("b.jpg");
  put("sub/c.PNG");
  put("D.PNG");
  static_cast<void>(good_batch({"--recursive", "--match", "*.JPG", "--match", "c*"}));
  EXPECT_EQ(names_of(results_in(out_)), (Names{"b.jpg", "sub/c.PNG"}));
  static_cast<void>(good_batch({"--match", "*.PNG"}));
  EXPECT_EQ(names_of(results_in(out_)), (Names{"D.PNG", "a.png", "b.jpg", "sub/c.PNG"}));
}

TEST_F(BatchNames, ToSetsTheFormat) {
  put("a.png");
  put("b.jpg");
  put("c.JPEG");
  fs::copy(in_ + "/a.png", in_ + "/liar.jpg");
  static_cast<void>(good_batch({"--to", "png"}));
  EXPECT_EQ(names_of(results_in(out_)), (Names{"a.png", "b.png", "c.png", "liar.png"}));
  for (const auto& [name, bytes] : results_in(out_))
    EXPECT_EQ(bytes.substr(1, 3), "PNG") << name;
  out_ = folder_ / "jpg";
  static_cast<void>(good_batch({"--to", "jpg", "--match", "[abc].*"}));
  EXPECT_EQ(names_of(results_in(out_)), (Names{"a.jpg", "b.jpg", "c.JPEG"}));
  for (const auto& [name, bytes] : results_in(out_))
    EXPECT_EQ(bytes.substr(0, 3), "\xff\xd8\xff") << name;
}

// The content decides what is read, the name what is written: in a folder as for one picture.
TEST_F(BatchNames, ANameThatLiesGivesTheSameResultInAFolderAndAlone) {
  put("a.png");
  put("b.jpg");
  fs::rename(in_ + "/a.png", in_ + "/liar.jpg");
  fs::rename(in_ + "/b.jpg", in_ + "/liar.png");
  static_cast<void>(good_batch());
  EXPECT_EQ(names_of(results_in(out_)), (Names{"liar.jpg", "liar.png"}));
  EXPECT_EQ(read_file(out_ + "/liar.jpg").substr(0, 3), "\xff\xd8\xff");
  EXPECT_EQ(read_file(out_ + "/liar.png").substr(1, 3), "PNG");
  fs::create_directory(folder_ / "alone");
  for (const char* name : {"/liar.jpg", "/liar.png"})
    filter_quietly({in_ + name, folder_ / "alone", "--blur", "auto"});
  EXPECT_EQ(results_in(folder_ / "alone"), results_in(out_));
}

TEST_F(BatchNames, OtherNamesAreNotConsidered) {
  put("a.png");
  fs::copy(in_ + "/a.png", in_ + "/picture.dat");
  write_file(in_ + "/note.txt", "text");
  const ProcessResult result = good_batch({"--timing", "off"});
  EXPECT_EQ(names_of(results_in(out_)), Names{"a.png"});
  EXPECT_TRUE(
      result.err.starts_with(in_ + " -> " + out_ +
                             ": 1 picture done; 1 file of another format skipped (1 PNG not "
                             "named .png)\n"))
      << result.err;
}

TEST_F(BatchNames, LinksToFoldersAreFollowedOnlyWhenAsked) {
  put("sub/a.png");
  const TemporaryFolder elsewhere;
  fs::copy(in_ + "/sub/a.png", elsewhere / "b.png");
  fs::create_directory_symlink(elsewhere.path(), in_ + "/away");
  fs::create_directory_symlink("..", in_ + "/sub/up");
  fs::create_symlink(elsewhere / "b.png", in_ + "/file.png");
  static_cast<void>(good_batch({"--recursive"}));
  EXPECT_EQ(names_of(results_in(out_)), (Names{"file.png", "sub/a.png"}));
  static_cast<void>(good_batch({"--recursive", "--follow-links", "--resume"}));
  EXPECT_EQ(names_of(results_in(out_)), (Names{"away/b.png", "file.png", "sub/a.png"}));
  expect_refusal({"--follow-links"}, {"--follow-links: has no effect without --recursive"});
}

TEST_F(BatchNames, VerboseNamesSkippedFoldersAndTheOptionThatEntersThem) {
  put("a.png");
  fs::create_directories(in_ + "/sub");
  fs::create_directory_symlink("sub", in_ + "/link");
  const ProcessResult flat = good_batch({"-v"});
  for (const std::string line :
       {"sub: is a folder, skipped; --recursive enters it\n",
        "link: is a link to a folder, skipped; --recursive --follow-links enters it\n"})
    EXPECT_TRUE(contains(flat.err, "gpufilter: " + in_ + "/" + line));
  const ProcessResult deep = good_batch({"-v", "--recursive", "--resume"});
  EXPECT_TRUE(
      contains(deep.err, "link: is a link to a folder, skipped; --follow-links enters it\n"));
}

TEST_F(BatchNames, RecursiveMirrorsTheTree) {
  put("a.png");
  put("sub/deep/b.png");
  put("sub/.hidden.png");
  put(".hidden/c.png");
  fs::create_directory(in_ + "/empty");
  static_cast<void>(good_batch({"-q"}));
  EXPECT_EQ(names_of(results_in(out_)), Names{"a.png"});
  static_cast<void>(good_batch({"-q", "--recursive", "--on-exists", "skip"}));
  EXPECT_EQ(names_of(results_in(out_)), (Names{"a.png", "sub/deep/b.png"}));
  EXPECT_FALSE(fs::exists(out_ + "/empty"));
}

TEST_F(BatchNames, NothingToDoIsExplained) {
  put("sub/a.png");
  EXPECT_TRUE(contains(good_batch().err,
                       "in: contains no picture; --recursive searches its subfolder too\n"));
  put("b.png");
  EXPECT_TRUE(contains(good_batch({"--match", "*.tif", "--match", "x*"}).err,
                       "in: contains 1 picture, but none matches --match '*.tif' or 'x*'\n"));
}

TEST_F(BatchNames, AnEmptyFolderIsDoneAtOnce) {
  EXPECT_EQ(good_batch({"-q"}).err, "");
  EXPECT_TRUE(contains(good_batch().err, "in: contains no picture\n"));
  EXPECT_EQ(statuses(json_batch()), Names{});
}

}  // namespace
}  // namespace gpufilter::test
