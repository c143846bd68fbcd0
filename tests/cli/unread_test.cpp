// Files that hold more than is read: a warning says so, and --in-place does not replace them.
#include "cli/batch_fixture.hpp"

namespace gpufilter::test {
namespace {

using Names = std::vector<std::string>;

class Unread : public BatchTest {
 protected:
  // A file of tests/cases in the input folder, under its own name.
  std::string put_case(const std::string& name) const {
    const std::string path = in_ + "/" + name;
    write_file(path, read_file(GPUFILTER_SOURCE "/tests/cases/" + name));
    return path;
  }

  // What is left out is named in the same words everywhere, and no byte of the file changes.
  void expect_kept(const std::string& path, const std::string& parts) const {
    const std::string before = read_file(path);
    const ProcessResult copy = ended(0, filter({path, folder_ / "copy.ppm", "-q"}));
    EXPECT_EQ(copy.err, "gpufilter: warning: " + path + ": not read: " + parts + "\n");
    const std::string refusal = "gpufilter: " + path + ": holds " + parts +
                                ", which the result would not have; --pages first replaces the "
                                "file all the same\n";
    // Also where there is nothing to do. A dry run knows what the header says.
    const bool is_late = parts == "data behind the picture";
    for (const Names& more :
         {Names{}, Names{"--blur", "auto"}, Names{"--blur", "auto", "--dry-run"}}) {
      if (is_late && more.size() == 3) continue;
      Names words{path, "--in-place", "-q", "--device", "cpu"};
      words.insert(words.end(), more.begin(), more.end());
      EXPECT_EQ(ended(2, filter(words)).err, refusal);
    }
    const ProcessResult folder =
        ended(1, filter({in_, "--in-place", "-q", "--device", "cpu", "--blur", "auto"}));
    EXPECT_EQ(folder.err, refusal);
    EXPECT_EQ(read_file(path), before);
  }

  // --pages first says that the rest is not wanted.
  void expect_replaced(const std::string& path, const std::string& parts) const {
    const ProcessResult result = ended(0, filter({path, "--in-place", "--pages", "first", "-q",
                                                  "--device", "cpu", "--blur", "auto"}));
    EXPECT_EQ(result.err, "gpufilter: warning: " + path + ": not read: " + parts + "\n");
    EXPECT_EQ(filter({path, "--in-place", "-q", "--device", "cpu", "--blur", "auto"}).err, "");
  }
};

TEST_F(Unread, PagesOfATiff) {
  const std::string path = put_case("tiff-3-pages.tif");
  expect_kept(path, "2 more pages");
  expect_replaced(path, "2 more pages");
}

TEST_F(Unread, FramesOfAnAnimatedPng) {
  const std::string path = put_case("png-animated-3-frames.png");
  expect_kept(path, "2 more frames");
  expect_replaced(path, "2 more frames");
}

TEST_F(Unread, TheFilmBehindAMotionPhoto) {
  const std::string path = put_case("jpeg-motion-photo-trailer.jpg");
  expect_kept(path, "a film");
  // Also if nobody knows before the end of the picture, and where the picture is not decoded.
  const std::string copy = folder_ / "copy.jpg";
  const ProcessResult piped =
      filter({"-", copy, "-q", "--blur", "auto", "--device", "cpu"}, {.input = read_file(path)});
  EXPECT_EQ(piped.err, "gpufilter: warning: standard input: not read: a film\n");
  EXPECT_EQ(filter({path, copy, "-q", "--strip"}).err,
            "gpufilter: warning: " + path + ": not read: a film\n");
  expect_replaced(path, "a film");
}

// As it was before another program replaced the picture, or as a camera pads its files.
TEST_F(Unread, BytesBehindThePicture) {
  for (const char* name : {"a.png", "a.jpg"}) {
    put(name);
    const std::string path = in_ + "/" + name;
    const std::string bytes = read_file(path);
    write_file(path, bytes + "something else");
    expect_kept(path, "data behind the picture");
    write_file(path, bytes + std::string(1000, '\0') + "\n");
    EXPECT_EQ(filter({path, folder_ / "copy.ppm", "-q"}).err, "");
    std::filesystem::remove(path);
  }
}

TEST_F(Unread, PicturesOfAPortablePixmap) {
  put("a.ppm");
  const std::string path = in_ + "/a.ppm";
  write_file(path, read_file(path) + read_file(path));
  const std::string bytes = read_file(path);
  const ProcessResult result =
      ended(2, filter({path, "--in-place", "--blur", "auto", "--device", "cpu", "-q"}));
  EXPECT_EQ(read_file(path), bytes);
}

// The other pictures of a folder are filtered, and one line counts.
TEST_F(Unread, InFoldersTheWarningsAreGathered) {
  put("a.png");
  const std::string bytes = read_file(put_case("tiff-3-pages.tif"));
  write_file(in_ + "/twice.tif", bytes);
  EXPECT_EQ(good_batch({"-q"}).err, "gpufilter: warning: not read: 2 more pages (2 pictures)\n");
  const Json pictures = json_batch({"--on-exists", "overwrite"})["pictures"];
  EXPECT_FALSE(pictures[0].contains("not_read"));
  EXPECT_EQ(pictures[1]["not_read"], Json({"2 more pages"}));
  out_ = in_;
  EXPECT_EQ(statuses(json_batch({"--in-place"}, 1)), (Names{"done", "failed", "failed"}));
  EXPECT_EQ(read_file(in_ + "/twice.tif"), bytes);
}

TEST_F(Unread, OtherCommandsSayItToo) {
  const std::string path = put_case("tiff-3-pages.tif");
  const std::string line = "gpufilter: warning: " + path + ": not read: 2 more pages\n";
  EXPECT_EQ(run_gpufilter({"stats", path}).err, line);
  EXPECT_EQ(run_gpufilter({"compare", path, path}).err, line + line);
}

// The picture alone, also where the stages change nothing.
TEST_F(Unread, PagesFirstLeavesTheRestOut) {
  const std::string path = put_case("tiff-3-pages.tif");
  const std::string all = folder_ / "all.tif";
  const std::string first = folder_ / "first.tif";
  EXPECT_EQ(filter({path, all, "-q"}).err, "");
  EXPECT_EQ(read_file(all), read_file(path));
  EXPECT_EQ(filter({path, first, "--pages", "first", "-q"}).err,
            "gpufilter: warning: " + path + ": not read: 2 more pages\n");
  EXPECT_EQ(filter({first, "--in-place", "-q"}).exit_code, 0);
}

TEST_F(Unread, PagesTakesOnlyFirst) {
  put("a.png");
  expect_refusal({"--pages", "2"}, {"--pages: '2' is not one of first"});
}

}  // namespace
}  // namespace gpufilter::test
