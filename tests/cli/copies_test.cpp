// Nothing to do means nothing done: the file is copied as it is.
#include "cli/batch_fixture.hpp"
#include "codec/codec_table.hpp"

namespace gpufilter::test {
namespace {

using Names = std::vector<std::string>;

class Copies : public BatchTest {
 protected:
  // A picture that the program did not write: another encoder's bytes, and data behind them.
  std::string foreign(const std::string& name) const {
    put(name, {64, 48});
    const std::string path = in_ + "/" + name;
    std::string bytes = read_file(path);
    if (name.ends_with(".jpg") || name.ends_with(".png")) bytes += std::string(9, '\n');
    write_file(path, bytes);
    return path;
  }

  // The report of a run that copies the file.
  std::string copied(const std::string& path, const Names& more) const {
    const std::string output = folder_ / ("out" + std::filesystem::path(path).extension().string());
    std::filesystem::remove(output);
    Names words{path, output, "--device", "cpu"};
    words.insert(words.end(), more.begin(), more.end());
    const ProcessResult result = ended(0, filter(words));
    EXPECT_TRUE(read_file(output) == read_file(path)) << ::testing::PrintToString(words);
    return result.err;
  }
};

TEST_F(Copies, OfEveryFormat) {
  for (const Codec* codec : codecs()) {
    if (codec->create == nullptr) continue;
    const std::string name = "a" + codec->extensions.front();
    try {
      static_cast<void>(foreign(name));
    } catch (const Error&) {
      continue;  // this library has no encoder
    }
    // A .pnm holds a PPM.
    if (open_picture(open_source(in_ + "/" + name))->header().file_format != codec) continue;
    SCOPED_TRACE(codec->name);
    const std::string report = copied(in_ + "/" + name, {});
    EXPECT_TRUE(contains(report, " (copied unchanged): 64x48"));
  }
}

// Each of these finds nothing to change in a picture of 64x48 pixels, RGB with 8 bits.
TEST_F(Copies, OfStagesThatChangeNothing) {
  for (const char* name : {"a.jpg", "a.png"}) {
    const std::string path = foreign(name);
    for (const Names& stages : std::vector<Names>{{"--auto-orient"},
                                                  {"--resize", "100x100", "--only", "shrink"},
                                                  {"--resize", "64x48"},
                                                  {"--pad", "0"},
                                                  {"--trim"},
                                                  {"--to-srgb"},
                                                  {"--crop", "64x48+0+0"},
                                                  {"--depth", "8"},
                                                  {"--auto-orient", "--resize", "x48"}}) {
      SCOPED_TRACE(::testing::PrintToString(stages));
      EXPECT_TRUE(contains(copied(path, stages), "copied unchanged"));
    }
  }
}

TEST_F(Copies, WhatAnOptionAsksForIsDone) {
  const std::string path = foreign("a.png");
  for (const Names& options : {Names{"--strip"},
                               {"--keep", "icc"},
                               {"--png-level", "1"},
                               {"--flip"},
                               {"--rotate", "90"}}) {
    Names words{path, folder_ / "out.png", "--device", "cpu", "--json"};
    words.insert(words.end(), options.begin(), options.end());
    EXPECT_FALSE(Json::parse(ended(0, filter(words)).out).contains("copied"));
    EXPECT_FALSE(read_file(folder_ / "out.png") == read_file(path));
  }
  EXPECT_EQ(Json::parse(filter({path, folder_ / "b.png", "--json"}).out)["copied"], true);
}

// A copy of a damaged file would be damaged.
TEST_F(Copies, OfADamagedFileFail) {
  for (const char* name : {"a.jpg", "a.png", "a.ppm"}) {
    const std::string path = foreign(name);
    const std::string bytes = read_file(path);
    write_file(path, bytes.substr(0, bytes.size() / 2));
    expect_failure(1, {path, folder_ / ("out" + std::filesystem::path(name).extension().string())},
                   {path});
  }
}

TEST_F(Copies, KeepWhatStandsBehindThePicture) {
  const std::string path = in_ + "/film.jpg";
  write_file(path, read_file(GPUFILTER_SOURCE "/tests/cases/jpeg-motion-photo-trailer.jpg"));
  EXPECT_EQ(copied(path, {"-q"}), "");
}

TEST_F(Copies, InPlaceTheFileStays) {
  const std::string path = foreign("a.jpg");
  const std::string bytes = read_file(path);
  const auto identity = std::filesystem::last_write_time(path);
  for (const std::string& input : {path, in_}) {
    const ProcessResult result =
        ended(0, filter({input, "--in-place", "--auto-orient", "--device", "cpu"}));
    EXPECT_TRUE(contains(result.err, "unchanged"));
    EXPECT_EQ(read_file(path), bytes);
    EXPECT_EQ(std::filesystem::last_write_time(path), identity);
  }
}

TEST_F(Copies, InFoldersAreCounted) {
  put("a.png", {64, 48});
  put("b.png", {64, 50});
  const ProcessResult result =
      ended(0, filter({in_, out_, "--crop", "64x48+0+0", "--device", "cpu"}));
  EXPECT_TRUE(contains(result.err, ": 2 pictures done (1 copied unchanged)\n"));
  EXPECT_EQ(read_file(out_ + "/a.png"), read_file(in_ + "/a.png"));
  EXPECT_TRUE(
      contains(filter({in_, out_, "--crop", "64x48+0+0", "--device", "cpu", "--resume"}).err,
               "2 unchanged since an earlier run"));
}

// One output of several is a copy.
TEST_F(Copies, BesidesOtherOutputs) {
  const std::string path = foreign("a.png");
  const std::string whole = folder_ / "whole.png";
  const std::string small = folder_ / "small.png";
  EXPECT_EQ(
      filter({path, small, "--output", whole, "--resize", "50%", "--device", "cpu", "-q"}).err, "");
  EXPECT_EQ(read_file(whole), read_file(path));
  EXPECT_EQ(read_picture(small).size(), (ImageSize{32, 24}));
}

}  // namespace
}  // namespace gpufilter::test
