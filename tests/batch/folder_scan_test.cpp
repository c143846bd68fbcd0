#include "batch/folder_scan.hpp"

#include <filesystem>

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/error.hpp"
#include "base/posix_file.hpp"
#include "codec/jpeg/codec.hpp"
#include "codec/png/codec.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

const std::string png_head = "\x89PNG\r\n\x1a\n and so on";
const std::string jpeg_head = "\xff\xd8\xff\xe0 and so on";

class FolderScanning : public ::testing::Test {
 protected:
  void put(const std::string& name, const std::string& bytes = png_head) const {
    const fs::path path = folder_.path() / name;
    fs::create_directories(path.parent_path());
    test::write_file(path, bytes);
  }

  [[nodiscard]] std::vector<FoundFile> scan(bool recursive = false, Names patterns = {}) const {
    return scan_folder({folder_.path(), recursive, std::move(patterns), std::nullopt});
  }

  [[nodiscard]] Names names(bool recursive = false, Names patterns = {}) const {
    Names names;
    for (const FoundFile& file : scan(recursive, std::move(patterns)))
      names.push_back(file.problem.empty() ? file.relative : file.relative + "!");
    return names;
  }

  test::TemporaryFolder folder_;
};

TEST_F(FolderScanning, GoesByContent) {
  put("a.jpg");
  put("b.txt", jpeg_head);
  put("c.png", "no picture");
  put("d.png", "");
  put("noending");
  const auto found = scan();
  EXPECT_EQ(names(), (Names{"a.jpg", "b.txt", "noending"}));
  EXPECT_EQ(found[0].format, &png_codec());
  EXPECT_EQ(found[0].bytes, png_head.size());
  EXPECT_EQ(found[1].format, &jpeg_codec());
}

TEST_F(FolderScanning, SortsByBytes) {
  for (const char* name : {"b.png", "B.png", "a/z.png", "a.png", "\xff.png", "a-b.png"})
    put(name);
  EXPECT_EQ(names(true), (Names{"B.png", "a-b.png", "a.png", "a/z.png", "b.png", "\xff.png"}));
}

TEST_F(FolderScanning, PassesHiddenFilesAndFoldersOver) {
  put(".a.png");
  put(".folder/a.png");
  put("sub/.b.png");
  put("sub/b.png");
  EXPECT_EQ(names(true), Names{"sub/b.png"});
  EXPECT_EQ(names(true, {"*"}), Names{"sub/b.png"});
}

TEST_F(FolderScanning, EntersFoldersOnlyWhenAsked) {
  put("a.png");
  put("sub/deep/b.png");
  EXPECT_EQ(names(), Names{"a.png"});
  EXPECT_EQ(names(true), (Names{"a.png", "sub/deep/b.png"}));
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

TEST_F(FolderScanning, OpensNothingButPlainFiles) {
  put("a.png");
  ASSERT_EQ(::mkfifo((folder_ / "fifo.png").c_str(), 0600), 0);
  fs::create_symlink("fifo.png", folder_ / "link-to-fifo.png");
  fs::create_symlink("/dev/zero", folder_ / "zero.png");
  const FileDescriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = folder_ / "socket.png";
  ASSERT_LT(name.size(), sizeof address.sun_path);
  name.copy(address.sun_path, name.size());
  ASSERT_EQ(::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  EXPECT_EQ(names(), Names{"a.png"});
}

TEST_F(FolderScanning, FollowsLinksToFilesAndFolders) {
  put("real/a.png");
  fs::create_symlink("real/a.png", folder_ / "b.png");
  const test::TemporaryFolder elsewhere;
  test::write_file(elsewhere / "c.png", png_head);
  fs::create_directory_symlink(elsewhere.path(), folder_ / "away");
  EXPECT_EQ(names(true), (Names{"away/c.png", "b.png", "real/a.png"}));
}

TEST_F(FolderScanning, EndsWhereLinksGoRound) {
  put("sub/a.png");
  fs::create_directory_symlink("..", folder_ / "sub/up");
  fs::create_directory_symlink(".", folder_ / "sub/here");
  fs::create_directory_symlink("sub", folder_ / "again");
  EXPECT_EQ(names(true), Names{"sub/a.png"});
}

// Were a folder scanned once for every way to it, this would take for ever.
TEST_F(FolderScanning, EntersAFolderOnceHoweverManyWaysLeadThere) {
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
}

TEST_F(FolderScanning, TellsOfWhatCannotBeRead) {
  put("a.png");
  fs::create_symlink("missing", folder_ / "dangling.png");
  fs::create_symlink("round.png", folder_ / "round.png");
  EXPECT_EQ(names(), (Names{"a.png", "dangling.png!", "round.png!"}));
  EXPECT_EQ(scan()[1].problem, "no such file");
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

TEST_F(FolderScanning, LeavesTheResultsOut) {
  put("a.png");
  put("results/a.png");
  put("results/sub/b.png");
  const auto found = scan_folder({folder_.path(), true, {}, folder_ / "./results/"});
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].relative, "a.png");
}

TEST_F(FolderScanning, TakesNamesAsBytes) {
  for (const char* name : {"\xff\xfe.png", "new\nline.png", " .png", "%s{}.png", "-v.png"})
    put(name);
  put(std::string(251, 'x') + ".png");
  EXPECT_EQ(names().size(), 6U);
}

TEST_F(FolderScanning, AMissingFolderIsAFailure) {
  EXPECT_THROW(static_cast<void>(scan_folder({folder_ / "missing", true, {}, std::nullopt})),
               PictureError);
}

}  // namespace
}  // namespace gpufilter
