// "gpufilter INPUT... OUTDIR": several inputs, files and folders.
#include "cli/batch_fixture.hpp"
#include "codec/codec_table.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class BatchInputs : public BatchTest {
 protected:
  void SetUp() override {
    BatchTest::SetUp();
    fs::create_directory(out_);
    put("a.png");
    put("b.jpg");
    put("c.png");
  }

  // A blur of `inputs` to out_, all named relative to the test's folder.
  [[nodiscard]] ProcessResult several(Names inputs, const Names& more = {}) const {
    inputs.emplace_back("out");
    inputs.insert(inputs.end(), {"--blur", "auto", "--device", "cpu", "--timing", "off"});
    inputs.insert(inputs.end(), more.begin(), more.end());
    return filter(inputs, {.folder = folder_.path()});
  }

  // Expects a refusal: exit code 2, one line with `parts`, nothing changed.
  void expect_refused(const Names& words, const Names& parts) const {
    SCOPED_TRACE(::testing::PrintToString(words));
    const Files before = everything_in(folder_.path());
    const ProcessResult result = ended(2, filter(words, {.folder = folder_.path()}));
    EXPECT_EQ(result.out, "");
    expect_one_line(result.err, parts);
    EXPECT_EQ(everything_in(folder_.path()), before);
  }
};

TEST_F(BatchInputs, GoIntoAFolder) {
  const Files all = undisturbed();
  const ProcessResult result = ended(0, several({"in/a.png", "in/b.jpg"}));
  EXPECT_TRUE(result.err.starts_with("in/a.png and 1 more input -> out: 2 pictures done\n"))
      << result.err;
  EXPECT_EQ(results_in(out_), (Files{{"a.png", all.at("a.png")}, {"b.jpg", all.at("b.jpg")}}));
}

TEST_F(BatchInputs, AreListedAsTheyWereNamed) {
  const Json document = Json::parse(several({"in/c.png", "in/a.png", "in/b.jpg"}, {"--json"}).out);
  EXPECT_EQ(document["inputs"], (Names{"in/c.png", "in/a.png", "in/b.jpg"}));
  EXPECT_FALSE(document.contains("input"));
  Names inputs;
  for (const Json& picture : document["pictures"])
    inputs.push_back(picture["input"]);
  EXPECT_EQ(inputs, document["inputs"].get<Names>());
}

TEST_F(BatchInputs, MayBeFoldersToo) {
  put("deep/d.png");
  fs::create_directory(folder_ / "more");
  fs::copy(in_ + "/a.png", folder_ / "more/e.png");
  EXPECT_EQ(several({"in", "more/e.png"}).exit_code, 0);
  EXPECT_EQ(names_of(results_in(out_)), (Names{"a.png", "b.jpg", "c.png", "e.png"}));
  EXPECT_EQ(several({"more", "in"}, {"--recursive", "--resume"}).exit_code, 0);
  EXPECT_EQ(names_of(results_in(out_)), (Names{"a.png", "b.jpg", "c.png", "deep/d.png", "e.png"}));
}

TEST_F(BatchInputs, AreResumed) {
  EXPECT_EQ(several({"in/a.png", "in/b.jpg"}).exit_code, 0);
  expect_refused({"in/a.png", "in/b.jpg", "out", "--blur", "auto"},
                 {"out/a.png: already exists", "--resume"});
  const ProcessResult result = several({"in/a.png", "in/c.png"}, {"--resume", "--json"});
  EXPECT_EQ(statuses(Json::parse(result.out)), (Names{"unchanged", "done"}));
  // A different picture with the same name counts as a different picture.
  fs::create_directory(folder_ / "more");
  fs::copy(in_ + "/c.png", folder_ / "more/a.png");
  const ProcessResult other = several({"more/a.png", "in/c.png"}, {"--resume", "--json"});
  EXPECT_EQ(statuses(Json::parse(other.out)), (Names{"done", "unchanged"}));
}

TEST_F(BatchInputs, OneMayHaveTheOptionsOfSeveral) {
  EXPECT_EQ(statuses(Json::parse(ended(0, several({"in/a.png"}, {"--json"})).out)), Names{"done"});
}

TEST_F(BatchInputs, OneFailureLeavesTheOthersAlone) {
  write_file(folder_ / "note.png", "text");
  write_file(folder_ / "empty.png", "");
  const ProcessResult result = ended(1, several({"empty.png", "in/a.png", "note.png"}, {"-q"}));
  expect_parts(result.err,
               {"gpufilter: empty.png: the file is empty\n",
                "gpufilter: note.png: not a " + gpufilter::names_of(codecs()) + " picture\n"});
  EXPECT_EQ(names_of(results_in(out_)), Names{"a.png"});
}

TEST_F(BatchInputs, WithOneResultForTwoAreRefused) {
  fs::create_directory(folder_ / "more");
  fs::copy(in_ + "/c.png", folder_ / "more/a.png");
  expect_refused({"in/a.png", "more/a.png", "out"},
                 {"in/a.png and more/a.png: both would become out/a.png"});
  expect_refused({"in/a.png", "more", "out"},
                 {"in/a.png and more/a.png: both would become out/a.png"});
  expect_refused({"in/a.png", "in/../in/a.png", "out"}, {"in/../in/a.png: is given twice"});
  expect_refused({"in", "in/a.png", "out"}, {"in/a.png: is given twice"});
}

TEST_F(BatchInputs, NeedAFolder) {
  const Names remedy{"in/c.png: is not a folder", "gpufilter in/a.png ... OUTDIR"};
  expect_refused({"in/a.png", "in/b.jpg", "in/c.png"}, remedy);
  expect_refused({"in/a.png", "in/b.jpg", "in/c.png", "--blur", "auto"}, remedy);
  expect_refused({"in/a.png", "in/b.jpg", "new.png"},
                 {"new.png: no such folder; several inputs need a folder for their results, and "
                  "new.png/ creates it"});
  expect_refused({"in/a.png", "in/b.jpg", "-"}, {"-: several pictures go to a folder"});
}

TEST_F(BatchInputs, AreNeverReplaced) {
  expect_refused({"in/a.png", "in/c.png", "in", "--on-exists", "overwrite"},
                 {"in/a.png: input and output are the same file; --in-place replaces the inputs"});
  expect_refused({"in/a.png", "in/c.png", "in", "--in-place"},
                 {"in: is a folder; --in-place takes one folder alone, or pictures of one folder"});
  expect_refused({"in", "out", "in"}, {"in: input and output are the same folder"});
}

TEST_F(BatchInputs, ALinkAmongThemIsNamed) {
  const fs::path in = in_;
  fs::create_symlink("a.png", in / "link.png");
  expect_refused({"in/a.png", "in/c.png", "in/link.png", "in/"},
                 {"gpufilter: in/a.png and in/link.png: both results would be the same file, "
                  "because in/link.png is a link to a.png; leave out one of them\n"});
  fs::create_symlink("../in/b.jpg", in / "other.jpg");
  expect_refused({"in/other.jpg", "in/c.png", "in/"},
                 {"gpufilter: in/other.jpg: input and output are the same file (in/other.jpg is a "
                  "link to ../in/b.jpg); --in-place replaces the inputs\n"});
  fs::create_symlink("../in/a.png", fs::path(out_) / "c.png");
  expect_refused({"in/a.png", "in/c.png", "out"},
                 {"gpufilter: out/c.png: is an input of this run (out/c.png is a link to "
                  "../in/a.png); in/c.png would replace it\n"});
}

TEST_F(BatchInputs, StandardInputIsNotOneOfThem) {
  expect_refused({"in/a.png", "-", "out"}, {"-: standard input has no name"});
}

TEST_F(BatchInputs, OptionsThatHaveNoEffectAreRefused) {
  expect_refused({"in/a.png", "in/c.png", "out", "--recursive"},
                 {"--recursive: is for folders, but no input is a folder"});
  expect_refused({"nowhere", "in/a.png", "out", "--recursive"},
                 {"nowhere: no such file or folder"});
  expect_refused({"in/a.png", "in/c.png", "out", "--match", "*"}, {"--match: is for folders"});
}

TEST_F(BatchInputs, ThatSayNoFormatNeedOne) {
  fs::copy(in_ + "/a.png", folder_ / "scan");
  expect_refused({"in/c.png", "scan", "out"},
                 {"scan: the name does not end in " + extensions_of(codecs()), "--to"});
  EXPECT_EQ(several({"in/c.png", "scan"}, {"--to", "png"}).exit_code, 0);
  EXPECT_EQ(names_of(results_in(out_)), (Names{"c.png", "scan.png"}));
}

}  // namespace
}  // namespace gpufilter::test
