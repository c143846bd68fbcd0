// Pictures of other formats in folders.
#include "cli/shard_fixture.hpp"
#include "codec/codec_table.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;

class BatchOthers : public ShardTest {
 protected:
  void SetUp() override {
    ShardTest::SetUp();
    put("a.png");
    put("b.jpg");
    for (const char* name : {"c.gif", "d.GIF", "sub/e.gif", "f.bmp", "sub/g.BMP", "h.txt"}) {
      fs::create_directories((fs::path(in_) / name).parent_path());
      write_file(in_ + "/" + name, "as the name says");
    }
  }

  // The first line of the report.
  [[nodiscard]] static std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n') + 1);
  }

  [[nodiscard]] Json skipped(const std::string& name, const std::string& format) const {
    return {{"input", in_ + "/" + name}, {"format", format}};
  }
};

TEST_F(BatchOthers, AreCounted) {
  EXPECT_EQ(
      first_line(good_batch({"--recursive"}).err),
      in_ + " -> " + out_ + ": 2 pictures done; 5 files of other formats skipped (3 GIF, 2 BMP)\n");
  EXPECT_EQ(first_line(good_batch({"--resume", "--match", "[acx]*"}).err),
            in_ + " -> " + out_ +
                ": 0 of 1 picture done, 1 unchanged since an earlier run; 1 file of another format "
                "skipped (1 GIF)\n");
  EXPECT_EQ(good_batch({"--resume", "-q"}).err, "");
}

TEST_F(BatchOthers, AreNamedInJsonAndVerbosely) {
  const Json expected{skipped("c.gif", "GIF"), skipped("d.GIF", "GIF"), skipped("f.bmp", "BMP")};
  EXPECT_EQ(json_batch()["other_formats"], expected);
  const std::string verbose = good_batch({"--resume", "-v"}).err;
  expect_parts(verbose, {"gpufilter: " + in_ + "/c.gif: GIF is not supported, skipped\n",
                         "gpufilter: " + in_ + "/h.txt: is not a picture, skipped\n"});
  EXPECT_EQ(json_batch({"--resume", "--match", "*.png"})["other_formats"], Json::array());
}

TEST_F(BatchOthers, AreDividedAmongShards) {
  EXPECT_EQ(json_shard(0, 2, {"--recursive"})["other_formats"],
            (Json{skipped("c.gif", "GIF"), skipped("f.bmp", "BMP"), skipped("sub/g.BMP", "BMP")}));
  EXPECT_EQ(json_shard(1, 2, {"--recursive"})["other_formats"],
            (Json{skipped("d.GIF", "GIF"), skipped("sub/e.gif", "GIF")}));
  EXPECT_EQ(filter({"gather", out_}).exit_code, 0);
}

TEST_F(BatchOthers, AreCountedInLists) {
  const std::string list = folder_ / "list";
  write_file(list, "a.png\nh.txt\nsub/e.gif\nc.gif\n");
  EXPECT_EQ(first_line(good_batch({"--list", list}).err),
            in_ + " -> " + out_ + ": 1 picture done; 2 files of other formats skipped (2 GIF)\n");
}

TEST_F(BatchOthers, AreNamedIfThereIsNothingElse) {
  fs::remove(in_ + "/a.png");
  fs::remove(in_ + "/b.jpg");
  EXPECT_EQ(good_batch({"--recursive"}).err,
            "gpufilter: warning: " + in_ + ": contains no " + gpufilter::names_of(codecs()) +
                " picture\n" + in_ + " -> " + out_ +
                ": 0 pictures done; 5 files of other formats skipped (3 GIF, 2 BMP)\n");
}

TEST_F(BatchOthers, FailUnderThePicturesNames) {
  write_file(in_ + "/b.jpg", "GIF89a");
  EXPECT_EQ(batch({"-q"}).err, "gpufilter: " + in_ + "/b.jpg: GIF is not supported\n");
  expect_failure(1, {in_ + "/b.jpg", folder_ / "out.png"},
                 {in_ + "/b.jpg: GIF is not supported\n"});
}

}  // namespace
}  // namespace gpufilter::test
