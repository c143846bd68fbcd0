// Several results of each picture: --sizes, --to with several formats, and their names.
#include "cli/batch_fixture.hpp"
#include "codec/formats.hpp"
#include "support/oriented_files.hpp"

namespace gpufilter::test {
namespace {

struct Sizes : ShardTest {
  void SetUp() override {
    ShardTest::SetUp();
    put_many(2, {61, 47});
    put("sub/q.jpg", {48, 90});
  }

  // What runs with --resize, one for each size and format, make of the folder.
  [[nodiscard]] Files made_alone(const Words& sizes, const Words& formats, const Words& before = {},
                                 const Words& after = {}) const {
    Files all;
    for (const std::string& size : sizes) {
      for (const std::string& format : formats) {
        const Words words = before + Words{"--resize", size, "--only", "shrink"} + after;
        const std::string side = size.front() == 'x' ? size.substr(1) : size;
        all.merge(undisturbed(
            words + Words{"--recursive", "--to", format, "--name", "{stem}-" + side + ".{to}"}));
      }
    }
    return all;
  }
};

TEST_F(Sizes, AreWhatResizeMakesOfEach) {
  const Words formats{"png", "jpg", "webp"};
  const Words sizes{"16", "x33", "50x20", "1000"};
  ended(0, batch({"--sizes", "16,x33,50x20,1000", "--invert", "--sharpen", "1", "--to",
                  "png,jpg,webp", "--recursive"}));
  EXPECT_EQ(results_in(out_), made_alone(sizes, formats, {}, {"--invert", "--sharpen", "1"}));
}

TEST_F(Sizes, FollowStagesOfAnyKind) {
  put("flat.png", {200, 20});
  for (const Words& before : {Words{"--levels", "auto"}, Words{"--rotate", "90"},
                              Words{"--crop", "30x15+3+4", "--pad", "5", "--trim"},
                              Words{"--linear"}, Words{"--border", "wrap"}}) {
    SCOPED_TRACE(::testing::PrintToString(before));
    const Words after = before == Words{"--linear"} ? Words{"--encoded", "--gray"} : Words{};
    ended(0, batch(before + Words{"--sizes", "7,300,30", "--recursive", "--to", "png"} + after));
    EXPECT_EQ(results_in(out_), made_alone({"7", "300", "30"}, {"png"}, before, after));
    fs::remove_all(out_);
  }
}

TEST_F(Sizes, AreWidthsOfTheUprightPicture) {
  fs::remove_all(in_);
  fs::create_directory(in_);
  write_oriented(random_image({60, 40}, {3, 8}, 1), in_ + "/a.png", 6);
  ended(0, batch({"--sizes", "20,10"}));
  EXPECT_EQ(read_picture(out_ + "/a-20.png").size(), (ImageSize{20, 30}));
  EXPECT_EQ(read_picture(out_ + "/a-10.png").size(), (ImageSize{10, 15}));
}

// The largest size decides how small a JPEG is decoded, and a copy needs none.
TEST_F(Sizes, ShrinkFastAsTheLargestAllows) {
  write_picture(random_image({640, 480}, {3, 8}, 1).rows(), in_ + "/sub/large.jpg");
  const Words words{in_ + "/sub/large.jpg", out_ + "/", "--sizes", "20,300"};
  const Json json = filter_json(0, words + Words{"--fast-shrink", "--json"});
  EXPECT_FALSE(json["pictures"][0].contains("decoding_divisor")) << "300 needs all of it";
  fs::remove_all(out_);
  const Json smaller =
      filter_json(0, {words[0], words[1], "--sizes", "20,40", "--fast-shrink", "--json"});
  EXPECT_EQ(smaller["pictures"][0]["decoding_divisor"], 8);
  filter_quietly({words[0], folder_ / "copy/", "--sizes", "20,5000", "--fast-shrink"});
  EXPECT_EQ(read_file(folder_ / "copy/large-5000.jpg"), read_file(words[0]));
  EXPECT_EQ(read_picture(folder_ / "copy/large-20.jpg").size(), (ImageSize{20, 15}));
}

TEST_F(Sizes, AreKnownToTheJournal) {
  const Words words{"--sizes", "8,16", "--to", "png,webp", "--resume"};
  EXPECT_EQ(statuses(json_batch(words)), (Words{"done", "done"}));
  const Files whole = results_in(out_);
  EXPECT_EQ(whole.size(), 8U);
  EXPECT_EQ(statuses(json_batch(words)), (Words{"unchanged", "unchanged"}));
  fs::remove(out_ + "/p100-8.webp");
  write_file(out_ + "/p101-16.png", "scribbled over");
  EXPECT_EQ(statuses(json_batch(words)), (Words{"done", "done"}));
  EXPECT_EQ(results_in(out_), whole);
  expect_refusal({"--sizes", "9,16", "--to", "png,webp", "--resume"},
                 {"the stages differ from those of the earlier run"});
  EXPECT_EQ(statuses(json_batch({"--sizes", "8,16", "--to", "png,webp", "--on-exists", "skip"})),
            (Words{"exists", "exists"}));
}

TEST_F(Sizes, MayBeDividedAmongShards) {
  const Words words{"--sizes", "8,16", "--to", "png,webp", "--recursive"};
  const Files whole = undisturbed(words);
  for (int index = 0; index < 3; ++index)
    ended(0, shard(index, 3, words));
  EXPECT_EQ(pictures_in(out_), whole);
  fs::remove(out_ + "/p100-8.webp");
  EXPECT_TRUE(contains(ended(1, filter({"gather", out_})).out, in_ + "/p100.png"));
  for (int index = 0; index < 3; ++index)
    ended(0, shard(index, 3, words));
  ended(0, filter({"gather", out_}));
  EXPECT_EQ(results_in(out_), whole);
  expect_refusal({"--name", "{n}.{to}", "--shard", "0/2"},
                 {"--name: {n} does not work with --shard: names have to follow from paths"});
}

TEST_F(Sizes, AreInTheReports) {
  const Json json = json_batch({"--sizes", "8,16", "--to", "png,webp"});
  const Json& picture = json["pictures"][0];
  EXPECT_EQ(picture["output"], out_ + "/p100-16.webp");
  ASSERT_EQ(picture["other_outputs"].size(), 3U);
  EXPECT_EQ(picture["other_outputs"][1]["output"], out_ + "/p100-8.webp");
  EXPECT_EQ(picture["other_outputs"][1]["output_width"], 8);
  EXPECT_EQ(picture["other_outputs"][1]["output_format"], "WebP");
  const ProcessResult said =
      good_batch({"--sizes", "8,16", "--to", "png,webp", "--on-exists", "overwrite"});
  for (const char* size : {"\n16 WebP: ", ", 8 PNG: ", ", 8 WebP: ", ", 16 PNG: "})
    EXPECT_TRUE(contains(said.err, size)) << said.err;
}

TEST_F(Sizes, AreRefusedWhereTheyCannotBe) {
  const auto refused = [this](const Words& more, const std::string& reason) {
    expect_refusal(more, {"gpufilter: " + reason + "\n"});
  };
  for (const std::string size : {"", "x", "50%", "0", "400!", "1x2x3", "12345678"}) {
    refused({"--sizes", "8," + size},
            "--sizes: '" + size +
                "' is not a size; write widths in pixels, xHEIGHT or WIDTHxHEIGHT, as in 400,800");
  }
  refused({"--sizes", "8", "--sizes", "16"},
          "--sizes: is given twice; write all sizes in one, as in --sizes 400,800");
  refused({"--sizes", "8,8"},
          in_ + "/p100.png: two results would become " + out_ + "/p100-8.png; rename one of them");
  refused({"--sizes", "8,16", "--name", "{stem}.{to}"},
          in_ + "/p100.png: two results would become " + out_ +
              "/p100.png; --name '{stem}-{width}.{to}' gives each its own name");
  refused({"--sizes", "8,16", "--output", folder_ / "more"},
          "--output: does not work with --sizes; write that size with --sizes too");
  refused({"--to", "png,webp,png"}, "--to png: PNG is given twice");
  const std::string one = in_ + "/p100.png";
  expect_failure(2, {one, folder_ / "one.png", "--sizes", "8"},
                 {"--sizes is for results in a folder, and ", "one.png is not a folder\n"});
  expect_failure(2, {one, folder_ / "one.png", "--to", "png,webp"},
                 {"--to with several formats is for results in a folder"});
  expect_failure(2, {in_, "--in-place", "--sizes", "8"},
                 {"--in-place: replaces a picture by one result"});
  const ProcessResult late = ended(1, filter({in_, out_, "--sizes", "8,9", "--rotate", "90"}));
  EXPECT_TRUE(contains(late.err,
                       "p100.png: --rotate: needs the whole picture first, and so cannot "
                       "follow --sizes; put it before --sizes\n"));
}

// Names from a picture's contents, date and number.
struct Names : BatchTest {
  // The names of the results of --name.
  [[nodiscard]] Words named(const std::string& text, const Words& more = {}) const {
    fs::remove_all(out_);
    ended(0, batch(more + Words{"--name", text}));
    return names_of(results_in(out_));
  }

  // A JPEG file whose EXIF has this date, as TIFF has it: tag 0x0132 of the first directory.
  static void write_dated(const std::string& path, const std::string& date) {
    const Image image = random_image({9, 8}, {3, 8}, 1);
    PictureHeader header;
    header.set_shape({image.size(), image.format()});
    const std::string begin("II*\0\x08\0\0\0\x01\0\x32\x01\x02\0\x14\0\0\0\x1a\0\0\0\0\0\0\0", 26);
    const std::string exif = begin + date + '\0';
    header.metadata.exif.assign(exif.begin(), exif.end());
    const auto sink = open_sink(path);
    const auto writer = create_picture(jpeg_codec(), *sink, header, {});
    writer->write(image.rows());
    writer->finish({});
    sink->commit();
  }
};

TEST_F(Names, MayHaveTheNumberInTheFolder) {
  put_many(11);
  const Words names = named("{n:03}-{stem}.{to}");
  EXPECT_EQ(names.front(), "001-p100.png");
  EXPECT_EQ(names.back(), "011-p110.png");
  EXPECT_EQ(named("{n}.{to}").front(), "1.png");
}

TEST_F(Names, MayHaveTheDate) {
  write_dated(in_ + "/taken.jpg", "2024:05:01 10:11:12");
  write_dated(in_ + "/wrong.jpg", "0000:00:00 00:00:00");
  put("file.png");
  for (const char* name : {"/file.png", "/wrong.jpg"}) {
    ended(0, run_process({"touch", "-d", "1999-12-31 23:59:58", in_ + name}));
  }
  EXPECT_EQ(named("{date}-{stem}.{to}"),
            (Words{"1999-12-31-file.png", "1999-12-31-wrong.jpg", "2024-05-01-taken.jpg"}));
  EXPECT_EQ(named("{date:%Y/%m}/{date:%d-%H%M%S_%j%y%%}.{to}", {"--exclude", "wrong.jpg"}),
            (Words{"1999/12/31-235958_36599%.png", "2024/05/01-101112_12224%.jpg"}));
}

// A page that names such a file may be cached for ever.
TEST_F(Names, MayHaveAHashThatChangesWithAllThatCounts) {
  put("a.png");
  std::set<std::string> seen;
  const auto is_new = [&](const Words& more) {
    const Words names = named("{hash}.{to}", more);
    if (names.empty()) return false;
    EXPECT_EQ(names.front().find('.'), 16U);
    return std::ranges::all_of(names,
                               [&](const std::string& name) { return seen.insert(name).second; });
  };
  EXPECT_TRUE(is_new({}));
  EXPECT_FALSE(is_new({}));
  EXPECT_TRUE(is_new({"--gray"}));
  EXPECT_TRUE(is_new({"--to", "jpg"}));
  EXPECT_TRUE(is_new({"--to", "jpg", "--quality", "50"}));
  EXPECT_TRUE(is_new({"--sizes", "8,9"}));
  EXPECT_TRUE(is_new({"--sizes", "8,9", "--to", "webp,png"}));
  put("a.png", {21, 22});
  EXPECT_TRUE(is_new({}));
}

}  // namespace
}  // namespace gpufilter::test
