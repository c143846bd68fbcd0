// The report of a run over a folder.
#include <algorithm>
#include <string>

#include "cli/batch_fixture.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;
using Names = std::vector<std::string>;

class BatchReport : public BatchTest {};

TEST_F(BatchReport, JsonHasAnObjectForEachPicture) {
  put("b.jpg", {40, 30});
  put("a.png");
  const Json document = json_batch({"--jobs", "2"});
  EXPECT_EQ(document["schema"], "gpufilter-batch-1");
  EXPECT_EQ(document["input"], in_);
  EXPECT_EQ(document["output"], out_);
  EXPECT_EQ(document["dry_run"], false);
  ASSERT_EQ(document["pictures"].size(), 2U);
  EXPECT_EQ(document["pictures"][0]["input"], in_ + "/a.png");
  const Json& picture = document["pictures"][1];
  EXPECT_EQ(picture["input"], in_ + "/b.jpg");
  EXPECT_EQ(picture["output"], out_ + "/b.jpg");
  EXPECT_EQ(picture["status"], "done");
  EXPECT_EQ(picture["input_format"], "JPEG");
  EXPECT_EQ(picture["output_format"], "JPEG");
  EXPECT_EQ(picture["input_pixels"], (Json{{"color", "RGB"}, {"channels", 3}, {"depth", 8}}));
  EXPECT_EQ(picture["output_pixels"], picture["input_pixels"]);
  EXPECT_EQ(picture["width"], 40);
  EXPECT_EQ(picture["height"], 30);
  EXPECT_EQ(picture["device"], "processor");
  EXPECT_EQ(picture["input_bytes"], fs::file_size(in_ + "/b.jpg"));
  EXPECT_EQ(picture["output_bytes"], fs::file_size(out_ + "/b.jpg"));
  EXPECT_EQ(picture["jpeg"]["quality"], 90);
  EXPECT_EQ(picture["jpeg"]["subsampling_reason"], "kept from the input");
  EXPECT_TRUE(document["pictures"][0]["jpeg"].is_null());
  const Json& summary = document["summary"];
  EXPECT_EQ(summary["done"], 2);
  EXPECT_EQ(summary["failed"], 0);
  EXPECT_EQ(summary["pixels"], 40 * 30 + 37 * 29);
  EXPECT_EQ(summary["devices"][0]["name"], "processor");
  EXPECT_EQ(summary["devices"][0]["pictures"], 2);
  Names activities;
  for (const Json& line : summary["activities"])
    activities.push_back(line["activity"]);
  EXPECT_EQ(activities, (Names{"decode", "kernel", "encode"}));
}

// Messages on standard error come between lines of standard output, not into them.
TEST_F(BatchReport, JsonHasALineForEachPicture) {
  put("a.png");
  write_file(in_ + "/b.png", "text");
  put("c.png");
  const ProcessResult result = batch({"--json", "--jobs", "1"});
  const Names lines = lines_of(result.out);
  ASSERT_EQ(lines.size(), 5U) << result.out;
  EXPECT_EQ(Json::parse(lines[1])["status"], "done");
  for (const std::size_t i : {2U, 3U}) {
    ASSERT_EQ(lines[i].front(), ',') << lines[i];
    EXPECT_EQ(Json::parse(lines[i].substr(1))["status"], i == 2 ? "failed" : "done");
  }
  EXPECT_TRUE(lines[4].starts_with("],\"summary\":{")) << lines[4];
}

TEST_F(BatchReport, AlphaThatIsLostIsReportedOnce) {
  for (const char* name : {"a.png", "b.png"})
    write_png(random_image({20, 10}, {4, 8}, 1), in_ + "/" + name);
  put("c.png");
  const ProcessResult result = good_batch({"--to", "jpeg", "--timing", "off"});
  EXPECT_TRUE(contains(result.err,
                       "gpufilter: warning: 2 pictures: alpha is flattened onto #ffffff, "
                       "because JPEG has none; --background sets another colour\n"));
  EXPECT_EQ(result.err.find("alpha"), result.err.rfind("alpha")) << result.err;
  const ProcessResult asked = good_batch(
      {"--to", "jpeg", "--timing", "off", "--background", "#ff0000", "--on-exists", "overwrite"});
  EXPECT_FALSE(contains(asked.err, "alpha"));
}

// `auto` gives a picture's estimate as its reason, which differs from picture to picture.
TEST_F(BatchReport, JsonListsTheProcessorOnce) {
  put("small.png", {10, 10});
  put("medium.png", {300, 200});
  put("large.png", {900, 700});
  const ProcessResult result =
      ended(0, filter({in_, out_, "--blur", "auto", "--device", "auto", "--json"},
                      {.environment = {{"OCL_ICD_VENDORS", folder_ / "none"}}}));
  const Json devices = Json::parse(result.out)["summary"]["devices"];
  ASSERT_EQ(devices.size(), 1U) << devices;
  EXPECT_EQ(devices[0]["name"], "processor");
  EXPECT_EQ(devices[0]["pictures"], 3);
}

TEST_F(BatchReport, VerifiedBlocksAreInEveryForm) {
  put("a.png");
  put("b.png");
  const Json document = json_batch({"--verify=3"});
  EXPECT_EQ(document["pictures"][0]["verified_blocks"], 3);
  EXPECT_EQ(document["summary"]["verified_blocks"], 6);
  const ProcessResult table =
      good_batch({"--verify=3", "--on-exists", "overwrite", "--timing", "table"});
  EXPECT_TRUE(contains(table.err, "  6 blocks equal to the processor's baseline\n"));
  EXPECT_FALSE(json_batch({"--on-exists", "overwrite"})["summary"].contains("verified_blocks"));
}

TEST_F(BatchReport, TheTimingIsThatOfAllPictures) {
  put_many(3);
  const ProcessResult table = good_batch({"--timing", "table"});
  expect_parts(table.err, {": 3 pictures done\n", "device: processor, 3 pictures", "decode ",
                           "blur ", "total "});
  const ProcessResult json = good_batch({"--on-exists", "overwrite", "--timing", "json"});
  EXPECT_EQ(Json::parse(json.out)["schema"], "gpufilter-batch-timing-1");
  EXPECT_EQ(Json::parse(json.out)["done"], 3);
  const ProcessResult csv = good_batch({"--on-exists", "overwrite", "--timing", "csv"});
  EXPECT_TRUE(csv.out.starts_with("walk,activity,pass,stage,variant,")) << csv.out;
  EXPECT_TRUE(contains(csv.out, "\n0,kernel,0,blur,"));
  const ProcessResult quiet = good_batch({"--on-exists", "overwrite", "-q"});
  EXPECT_EQ(quiet.out + quiet.err, "");
  const ProcessResult off = good_batch({"--on-exists", "overwrite", "--timing", "off"});
  EXPECT_EQ(std::count(off.err.begin(), off.err.end(), '\n'), 2) << off.err;
  EXPECT_TRUE(contains(off.err, " Mpx/s; device: processor"));
}

TEST_F(BatchReport, TheTraceHasEveryPicture) {
  put_many(5);
  const std::string trace = folder_ / "trace.json";
  static_cast<void>(good_batch({"--jobs", "2", "--trace", trace}));
  const Json events = Json::parse(read_file(trace))["traceEvents"];
  Names pictures;
  std::map<std::string, int> counts;
  for (const Json& event : events) {
    if (event["ph"] != "X") continue;
    EXPECT_GE(event["ts"].get<double>(), 0.0);
    EXPECT_TRUE(event["pid"] == 1 || event["pid"] == 2);
    ++counts[event["cat"].get<std::string>()];
    if (event["cat"] == "picture") pictures.push_back(event["name"]);
  }
  std::sort(pictures.begin(), pictures.end());
  ASSERT_EQ(pictures.size(), 5U);
  EXPECT_EQ(pictures[0], in_ + "/p100.png");
  EXPECT_GE(counts["decode"], 5);
  EXPECT_GE(counts["encode"], 5);
  fs::remove_all(in_);
  fs::create_directory(in_);
  static_cast<void>(good_batch({"--trace", trace}));
  EXPECT_TRUE(Json::parse(read_file(trace))["traceEvents"].empty());
}

TEST_F(BatchReport, VerboseNamesEachPicture) {
  put_many(2);
  const ProcessResult result = good_batch({"-v", "--timing", "off"});
  EXPECT_TRUE(
      contains(result.err, "gpufilter: " + in_ + "/p100.png -> " + out_ + "/p100.png: 37x29, "));
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 4) << result.err;
}

// progress_terminal_test.cpp tests what a terminal shows.
TEST_F(BatchReport, ProgressIsLinesWhereThereIsNoTerminal) {
  put_many(3);
  const ProcessResult lines = good_batch({"--progress", "on", "--timing", "off"});
  // The progress moves with the rows of a picture, before one is finished.
  EXPECT_TRUE(lines.err.starts_with("gpufilter: 0/3 pictures, ")) << lines.err;
  EXPECT_FALSE(contains(lines.err, "pictures, 0 %"));
  EXPECT_EQ(lines.err.find('\r'), std::string::npos);
}

}  // namespace
}  // namespace gpufilter::test
