// Which files a run reads, replaces and does not touch.
#include <unistd.h>

#include "base/printable.hpp"
#include "cli/filter_fixture.hpp"
#include "support/jpeg.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;

class FilterFiles : public FilterTest {
 protected:
  const Image image_ = random_image(size_, format_, 1);
  const std::string in_ = stored(image_, "in.png");
  const std::string out_ = folder_ / "out.png";
};

TEST_F(FilterFiles, AnOutputFolderTakesTheInputsName) {
  fs::create_directory(folder_ / "results");
  filter_quietly({in_, folder_ / "results", "--blur", "auto"});
  filter_quietly({in_, (folder_ / "results") + "/", "--blur", "auto"});
  EXPECT_TRUE(same_pixels(read_picture(folder_ / "results/in.png"), blurred(image_)));
  filter_quietly({in_, (folder_ / "new/deep") + "/", "--blur", "auto"});
  EXPECT_TRUE(same_pixels(read_picture(folder_ / "new/deep/in.png"), blurred(image_)));
  // Not if there is no result.
  expect_failure(1, {folder_ / "missing.png", (folder_ / "other") + "/"}, {"missing.png: "});
  expect_failure(2, {"-", folder_ / "results"}, {"results: ", "standard input"});
}

// As when "gpufilter *.png" matches two pictures.
TEST_F(FilterFiles, TwoPicturesAndNothingElseAreRefused) {
  static_cast<void>(stored(random_image(size_, format_, 2), "out.png"));
  expect_failure(2, {in_, out_}, {out_ + ": already exists", "--on-exists overwrite"});
  filter_quietly({in_, out_, "--on-exists", "overwrite"});
  EXPECT_TRUE(same_pixels(read_picture(out_), image_));
  const std::string copy = folder_ / "copy.png";
  EXPECT_EQ(filter({in_, copy}).exit_code, 0);
  EXPECT_TRUE(same_pixels(read_picture(copy), image_));
}

TEST_F(FilterFiles, OverwritesUnlessAskedOtherwise) {
  write_file(out_, "before");
  filter_quietly({in_, out_});
  EXPECT_TRUE(same_pixels(read_picture(out_), image_));
  write_file(out_, "before");
  filter_quietly({in_, out_, "--on-exists", "overwrite"});
  EXPECT_TRUE(same_pixels(read_picture(out_), image_));
}

TEST_F(FilterFiles, AReplacementIsReported) {
  const ProcessOptions here{.folder = folder_.path()};
  const auto report = [&here](const std::string& output, const std::string& timing) {
    const ProcessResult result =
        ended(0, filter({"in.png", output, "--blur", "auto", "--timing", timing}, here));
    return result.out + result.err;
  };
  EXPECT_TRUE(report("out.png", "line").starts_with("in.png -> out.png: 67x45, RGB, 8-bit; "));
  EXPECT_TRUE(
      report("out.png", "line").starts_with("in.png -> out.png (replaced): 67x45, RGB, 8-bit; "));
  EXPECT_TRUE(report("out.png", "table").starts_with("in.png -> out.png (replaced): 67x45, "));
  EXPECT_EQ(Json::parse(report("out.png", "json"))["replaced"], true);
  EXPECT_EQ(Json::parse(report("new.png", "json"))["replaced"], false);
  fs::create_symlink("new.png", folder_ / "link.png");
  EXPECT_EQ(Json::parse(report("link.png", "json"))["replaced"], true);
  // A file of the name "-" is not standard output.
  write_file(folder_ / "-", "before");
  EXPECT_FALSE(contains(filter({"in.png", "-", "--timing", "line"}, here).err, "(replaced)"));
}

TEST_F(FilterFiles, TheEnvironmentDecidesWhatExists) {
  const auto with = [this](const std::string& value, std::vector<std::string> words) {
    return filter(std::move(words), {.environment = {{"GPUFILTER_ON_EXISTS", value}}});
  };
  write_file(out_, "before");
  const std::vector<std::string> call{in_, out_, "--blur", "auto", "-q"};
  const ProcessResult failed = ended(2, with("fail", call));
  EXPECT_EQ(failed.err,
            "gpufilter: " + out_ + ": already exists; --on-exists overwrite replaces it\n");
  EXPECT_EQ(with("skip", call).exit_code, 0);
  EXPECT_EQ(read_file(out_), "before");
  // A bad value names the variable, and the option wins.
  const ProcessResult bad = ended(2, with("never", call));
  EXPECT_EQ(bad.err,
            "gpufilter: GPUFILTER_ON_EXISTS: 'never' is not one of fail, skip, overwrite\n");
  EXPECT_EQ(with("", call).exit_code, 0);
  EXPECT_TRUE(same_pixels(read_picture(out_), blurred(image_)));
  for (const std::string value : {"fail", "never"}) {
    write_file(out_, "before");
    EXPECT_EQ(with(value, {in_, out_, "--on-exists", "overwrite"}).exit_code, 0);
    EXPECT_TRUE(same_pixels(read_picture(out_), image_));
  }
  // The option is a choice: a copy over another picture is then meant.
  EXPECT_EQ(with("overwrite", {in_, out_}).exit_code, 0);
  // Folders too.
  fs::create_directory(folder_ / "photos");
  fs::create_directory(folder_ / "results");
  fs::copy(in_, folder_ / "photos/in.png");
  write_file(folder_ / "results/in.png", "before");
  EXPECT_EQ(with("skip", {folder_ / "photos", folder_ / "results", "-q"}).exit_code, 0);
  EXPECT_EQ(read_file(folder_ / "results/in.png"), "before");
  EXPECT_EQ(with("overwrite", {folder_ / "photos", folder_ / "results", "-q"}).exit_code, 0);
  EXPECT_TRUE(same_pixels(read_picture(folder_ / "results/in.png"), image_));
}

TEST_F(FilterFiles, OnExistsFailEndsWithTwo) {
  write_file(out_, "before");
  expect_failure(2, {in_, out_, "--on-exists", "fail"}, {out_ + ": ", "--on-exists overwrite"});
  expect_failure(2, {folder_ / "missing.png", out_, "--on-exists", "fail"}, {out_ + ": "});
  fs::remove(out_);
  filter_quietly({in_, out_, "--on-exists", "fail"});
  EXPECT_TRUE(same_pixels(read_picture(out_), image_));
}

TEST_F(FilterFiles, OnExistsSkipDoesNothing) {
  write_file(out_, "before");
  const ProcessResult result = ended(0, filter({in_, out_, "--on-exists", "skip", "-v"}));
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, in_ + " -> " + out_ + ": already exists, skipped\n");
  EXPECT_EQ(read_file(out_), "before");
  filter_quietly({folder_ / "missing.png", out_, "--on-exists", "skip"});
  fs::remove(out_);
  filter_quietly({in_, out_, "--on-exists", "skip"});
  EXPECT_TRUE(same_pixels(read_picture(out_), image_));
}

TEST_F(FilterFiles, OneFileAsInputAndOutputIsRefused) {
  fs::create_symlink("in.png", folder_ / "link.png");
  fs::create_hard_link(in_, folder_ / "hard.png");
  fs::create_directory_symlink(".", folder_ / "here");
  for (const std::string name :
       {"in.png", "./in.png", "link.png", "hard.png", "here/in.png", "."}) {
    expect_failure(2, {"in.png", name, "--blur", "auto"}, {"--in-place"},
                   {.folder = folder_.path()});
  }
  expect_failure(2, {"link.png", in_}, {"--in-place"}, {.folder = folder_.path()});
}

TEST_F(FilterFiles, InPlaceAllowsIt) {
  filter_quietly({in_, in_, "--blur", "tiled", "--in-place"});
  EXPECT_TRUE(same_pixels(read_picture(in_), blurred(image_)));
  fs::create_symlink("in.png", folder_ / "link.png");
  filter_quietly({in_, folder_ / "link.png", "--blur", "tiled", "--in-place"});
  EXPECT_TRUE(same_pixels(read_picture(in_), blurred(image_, {}, 2)));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.png"));
  EXPECT_EQ(names_in(folder_.path()), (std::vector<std::string>{"in.png", "link.png"}));
}

TEST_F(FilterFiles, ADamagedInputIsNotReplacedInPlace) {
  const std::string bytes = read_file(in_);
  write_file(in_, bytes.substr(0, bytes.size() - 30));
  expect_failure(1, {in_, in_, "--blur", "tiled", "--in-place"}, {in_ + ": "});
}

TEST_F(FilterFiles, MissingFilesAndFoldersAreNamed) {
  expect_failure(1, {folder_ / "missing.png", out_, "--blur", "auto"},
                 {"missing.png: no such file"});
  expect_failure(1, {in_, folder_ / "nowhere/out.png"}, {"nowhere/out.png: ", "create it first"});
  expect_failure(1, {in_, in_ + "/out.png"}, {"in.png/out.png: "});
}

TEST_F(FilterFiles, AFullDeviceIsAFailure) {
  fs::create_symlink("/dev/full", folder_ / "full.png");
  expect_failure(1, {in_, folder_ / "full.png", "--blur", "auto"}, {"full.png: no space left"});
  EXPECT_TRUE(fs::is_symlink(folder_ / "full.png"));
}

TEST_F(FilterFiles, AFolderThatMayNotBeWrittenIsAFailure) {
  expect_failure(1, {in_, "/proc/gpufilter-out.png"}, {"/proc/gpufilter-out.png: "});
  if (geteuid() == 0) GTEST_SKIP() << "skipped: the superuser may write everywhere";
  const fs::path closed = folder_ / "closed";
  fs::create_directory(closed);
  fs::permissions(closed, fs::perms::owner_read | fs::perms::owner_exec);
  expect_failure(1, {in_, closed / "out.png"}, {"closed/out.png: ", "permission denied"});
  fs::permissions(closed, fs::perms::owner_all);
}

TEST_F(FilterFiles, NamesMayBeginWithADash) {
  fs::rename(in_, folder_ / "-in.png");
  filter_quietly({"--blur", "auto", "./-in.png", "./-out.png"}, {.folder = folder_.path()});
  const ProcessResult result = ended(
      0,
      filter({"--blur", "auto", "-q", "--", "-in.png", "-again.png"}, {.folder = folder_.path()}));
  EXPECT_TRUE(same_pixels(read_picture(folder_ / "-again.png"), blurred(image_)));
}

TEST_F(FilterFiles, NamesMayHoldAnyBytes) {
  for (const std::string name : {"sp ace {}.png", "\xff\xfe.png", "%s%n.png", "ü\"'$.png"}) {
    const std::string out = folder_ / name;
    const ProcessResult result = ended(0, filter({in_, out, "--timing", "json"}));
    EXPECT_TRUE(Json::accept(result.out)) << result.out;
    EXPECT_TRUE(same_pixels(read_picture(out), image_));
    expect_failure(1, {out + ".missing", out_}, {printable(name) + ".missing: no such file"});
  }
}

// Truncates the file after every 97th byte.
class FilterDamage : public FilterFiles {
 protected:
  void expect_refused_wherever_cut(const std::string& bytes, const std::string& name) const {
    const std::string cut = folder_ / name;
    for (std::size_t size = 0; size < bytes.size(); size += 97) {
      write_file(cut, bytes.substr(0, size));
      expect_failure(1, {cut, out_, "--blur", "auto", "--device", "cpu"}, {cut + ": "});
    }
    write_file(cut, bytes);
    filter_quietly({cut, out_, "--blur", "auto", "--device", "cpu"});
  }
};

TEST_F(FilterDamage, ATruncatedPngIsRefused) {
  expect_refused_wherever_cut(read_file(in_), "cut.png");
}

TEST_F(FilterDamage, ATruncatedPngLeavesTheOldOutput) {
  const std::string bytes = read_file(in_);
  write_file(folder_ / "cut.png", bytes.substr(0, bytes.size() - 14));
  write_file(out_, "before");
  expect_failure(1, {folder_ / "cut.png", out_, "--blur", "auto"}, {"cut.png: "});
  EXPECT_EQ(read_file(out_), "before");
}

TEST_F(FilterDamage, ATruncatedJpegIsRefused) {
  for (const bool progressive : {false, true}) {
    const Bytes jpeg = encode_with_libjpeg(textured_raster(61, 43, 3),
                                           {.quality = 80, .progressive = progressive});
    expect_refused_wherever_cut({jpeg.begin(), jpeg.end()}, "cut.jpg");
  }
}

}  // namespace
}  // namespace gpufilter::test
