#include <gtest/gtest.h>

#include "batch/folder_scan.hpp"

namespace gpufilter {
namespace {

bool file_matches(const char* pattern, const char* path) {
  return PathPattern(pattern).matches(path, false);
}

TEST(PathPattern, WithoutASlashItIsAName) {
  EXPECT_TRUE(file_matches("*.png", "a.png"));
  EXPECT_TRUE(file_matches("*.png", "sub/deep/a.PNG"));
  EXPECT_TRUE(file_matches("img?.jpg", "sub/img1.jpg"));
  EXPECT_FALSE(file_matches("img?.jpg", "sub/img10.jpg"));
  EXPECT_FALSE(file_matches("sub", "sub/a.png")) << "the folder itself is skipped";
  EXPECT_TRUE(PathPattern("sub").matches("a/sub", true));
}

TEST(PathPattern, WithASlashItIsAPath) {
  EXPECT_TRUE(file_matches("sub/*.png", "sub/a.png"));
  EXPECT_TRUE(file_matches("./sub/*.png", "sub/a.png"));
  EXPECT_FALSE(file_matches("sub/*.png", "b/sub/a.png"));
  EXPECT_FALSE(file_matches("sub/*.png", "sub/deep/a.png"));
  EXPECT_TRUE(file_matches("/a.png", "a.png"));
  EXPECT_FALSE(file_matches("/a.png", "sub/a.png"));
}

TEST(PathPattern, TwoStarsAreAnyFolders) {
  for (const char* path : {"sub/a.png", "sub/x/a.png", "sub/x/y/a.png"})
    EXPECT_TRUE(file_matches("sub/**/a.png", path)) << path;
  EXPECT_TRUE(file_matches("**/a.png", "a.png"));
  EXPECT_TRUE(file_matches("**/x/*.png", "sub/x/a.png"));
  EXPECT_TRUE(file_matches("sub/**", "sub/x/a.png"));
  EXPECT_FALSE(file_matches("sub/**", "sub"));
  EXPECT_FALSE(file_matches("sub/**/b.png", "sub/x/a.png"));
}

TEST(PathPattern, ASlashAtItsEndMeansFolders) {
  EXPECT_FALSE(file_matches("raw/", "raw"));
  EXPECT_TRUE(PathPattern("raw/").matches("sub/raw", true));
  EXPECT_FALSE(PathPattern("/raw/").matches("sub/raw", true));
  EXPECT_TRUE(PathPattern("/raw/").matches("raw", true));
}

}  // namespace
}  // namespace gpufilter
