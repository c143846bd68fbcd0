// --in-place takes one name: every input is replaced by its result.
#include "cli/batch_fixture.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class InPlace : public FilterTest {
 protected:
  void SetUp() override {
    for (const char* name : {"a.png", "b.png", "c.png"})
      static_cast<void>(stored(image_, name));
  }

  [[nodiscard]] ProcessResult here(Names words, const ProcessOptions& more = {}) const {
    ProcessOptions options = more;
    options.folder = folder_.path();
    words.insert(words.end(), {"--blur", "auto", "--device", "cpu", "--in-place"});
    return filter(words, options);
  }

  // How often each picture has been blurred.
  [[nodiscard]] std::vector<std::size_t> blurs() const {
    std::vector<std::size_t> all;
    for (const char* name : {"a.png", "b.png", "c.png"}) {
      std::size_t times = 0;
      const Image found = read_picture(folder_ / name);
      const auto is_result = [&] {
        return same_pixels(found.rows(),
                           times == 0 ? image_.rows() : blurred(image_, {}, times).rows());
      };
      while (times < 3 && !is_result())
        ++times;
      all.push_back(times);
    }
    return all;
  }

  using Times = std::vector<std::size_t>;
  const Image image_ = random_image(size_, format_, 1);
};

TEST_F(InPlace, OnePicture) {
  const ProcessResult result = ended(0, here({"a.png"}));
  EXPECT_TRUE(result.err.starts_with("a.png -> a.png (replaced): 67x45, RGB, 8-bit; "))
      << result.err;
  EXPECT_EQ(blurs(), (Times{1, 0, 0}));
  EXPECT_EQ(names_in(folder_.path()), (Names{"a.png", "b.png", "c.png"}));
  EXPECT_EQ(here({"a.png", "a.png"}).exit_code, 0);
  EXPECT_EQ(blurs(), (Times{2, 0, 0}));
}

TEST_F(InPlace, SeveralPictures) {
  const ProcessResult result = ended(0, here({"a.png", "./c.png"}));
  EXPECT_EQ(blurs(), (Times{1, 0, 1}));
  EXPECT_EQ(names_in(folder_.path()), (Names{".gpufilter-journal", "a.png", "b.png", "c.png"}));
}

TEST_F(InPlace, NothingIsFilteredTwice) {
  EXPECT_EQ(here({"a.png", "b.png"}).exit_code, 0);
  EXPECT_EQ(here({"a.png", "b.png", "c.png", "--resume"}).exit_code, 0);
  EXPECT_EQ(blurs(), (Times{1, 1, 1}));
  // The journal is that of the folder.
  EXPECT_EQ(here({".", "--resume"}).exit_code, 0);
  EXPECT_EQ(here({"b.png", "--resume"}).exit_code, 0);
  EXPECT_EQ(here({"b.png", "--resume", "--json"}).exit_code, 0);
  EXPECT_EQ(blurs(), (Times{1, 1, 1}));
  EXPECT_EQ(here({folder_.path().string()}).exit_code, 0);
  EXPECT_EQ(blurs(), (Times{2, 2, 2}));
}

TEST_F(InPlace, OneFileByTwoNamesIsRefused) {
  fs::create_symlink("a.png", folder_ / "link.png");
  const ProcessResult result = ended(2, here({"a.png", "b.png", "link.png"}));
  EXPECT_EQ(result.err,
            "gpufilter: a.png and link.png: both results would be the same file, because "
            "./link.png is a link to a.png; leave out one of them\n");
  EXPECT_EQ(here({"a.png", "b.png", "./a.png"}).err, "gpufilter: ./a.png: is given twice\n");
  EXPECT_EQ(blurs(), (Times{0, 0, 0}));
  // The link stays, and the picture that it leads to is replaced.
  EXPECT_EQ(here({"link.png"}).exit_code, 0);
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.png"));
  EXPECT_EQ(blurs(), (Times{1, 0, 0}));
}

TEST_F(InPlace, EveryNameIsAnInput) {
  const auto refusal = [this](const Names& words) {
    const ProcessResult result = ended(2, here(words));
    EXPECT_EQ(blurs(), (Times{0, 0, 0}));
    return result.err;
  };
  EXPECT_EQ(refusal({"a.png", "new.png"}),
            "gpufilter: new.png: no such file or folder; with --in-place every name is an input\n");
  fs::create_directory(folder_ / "more");
  static_cast<void>(stored(image_, "more/d.png"));
  EXPECT_EQ(refusal({"a.png", "b.png", "more"}),
            "gpufilter: more: is a folder; --in-place takes one folder alone, or pictures of one "
            "folder\n");
  EXPECT_EQ(refusal({"a.png", "more/d.png"}),
            "gpufilter: a.png and more/d.png: are in different folders; --in-place takes pictures "
            "of one folder\n");
  EXPECT_EQ(refusal({"-"}), "gpufilter: -: --in-place replaces files, not standard input\n");
  EXPECT_EQ(refusal({}), "gpufilter: INPUT is required (see gpufilter --help)\n");
  EXPECT_EQ(here({"missing.png"}).exit_code, 1);
}

TEST_F(InPlace, ReplacesWhateverOnExistsSays) {
  const ProcessOptions fail{.environment = {{"GPUFILTER_ON_EXISTS", "fail"}}};
  EXPECT_EQ(here({"a.png"}, fail).exit_code, 0);
  EXPECT_EQ(here({"a.png", "b.png"}, fail).exit_code, 0);
  EXPECT_EQ(blurs(), (Times{2, 1, 0}));
}

TEST_F(InPlace, AFailureLeavesThePictureAsItWas) {
  const std::string whole = read_file(folder_ / "b.png");
  write_file(folder_ / "b.png", whole.substr(0, whole.size() - 30));
  const ProcessResult result = ended(1, here({"a.png", "b.png", "c.png"}));
  EXPECT_EQ(read_file(folder_ / "b.png"), whole.substr(0, whole.size() - 30));
  write_file(folder_ / "b.png", whole);
  EXPECT_EQ(blurs(), (Times{1, 0, 1}));
  EXPECT_EQ(here({"a.png", "b.png", "c.png", "--resume"}).exit_code, 0);
  EXPECT_EQ(blurs(), (Times{1, 1, 1}));
}

}  // namespace
}  // namespace gpufilter::test
