// Reports of a run on one picture.
#include <regex>

#include "cli/program_fixture.hpp"
#include "codec/codec_table.hpp"
#include "support/document_checks.hpp"
#include "support/jpeg.hpp"
#include "support/png_oracle.hpp"

namespace gpufilter::test {
namespace {

// The report of a run: --timing and --trace.

struct FilterTiming : ProgramTest {
  [[nodiscard]] Words command(const Words& more) const {
    const Words arguments =
        Words{in_, out_, "--blur", "naive", "--blur", "tiled", "--tile", "8", "--band-rows", "50"} +
        more;
    return arguments;
  }

  [[nodiscard]] Json report(const Words& more, const ProcessOptions& options = {}) const {
    const Words arguments = command(more);
    const ProcessResult result = ended(0, filter(arguments + Words{"--timing", "json"}, options));
    EXPECT_EQ(result.err, "");
    return Json::parse(result.out);
  }

  static bool works_in_host_memory(const Json& name) {
    const Json all = Json::parse(filter({"devices", "--json"}).out);
    for (const Json& device : all["devices"]) {
      if (device["name"] == name) return device["kind"] == "cpu" && device["unified_memory"];
    }
    ADD_FAILURE() << name << " is not in the list";
    return false;
  }

  // The activities by name; those of a pass are followed by its index.
  static std::map<std::string, Json> activities_of(const Json& report) {
    std::map<std::string, Json> found;
    for (const Json& activity : report["activities"]) {
      std::string name = activity["activity"];
      if (activity.contains("pass")) name.append(" ").append(activity["pass"].dump());
      EXPECT_TRUE(found.emplace(name, activity).second) << name << " twice";
    }
    return found;
  }

  const ImageSize picture_{320, 200};
  const std::string in_ = stored(random_image(picture_, {4, 8}, 1), "in.png");
  const double bytes_ = 320.0 * 200 * 4;
};

TEST_F(FilterTiming, JsonSaysWhatWasDone) {
  GPUFILTER_REQUIRE_DEVICE();
  const Json json = report({"--require-device"});
  EXPECT_EQ(json["schema"], "gpufilter-timing-1");
  EXPECT_EQ(json["input"], in_);
  EXPECT_EQ(json["output"], out_);
  EXPECT_EQ(json["input_format"], "PNG");
  EXPECT_EQ(json["output_format"], "PNG");
  EXPECT_EQ(json["width"], 320);
  EXPECT_EQ(json["height"], 200);
  EXPECT_EQ(json["input_pixels"], (Json{{"color", "RGBA"}, {"channels", 4}, {"depth", 8}}));
  EXPECT_EQ(json["output_pixels"], json["input_pixels"]);
  EXPECT_EQ(json["bands"], 4);
  EXPECT_EQ(json["band_rows"], 50);
  EXPECT_EQ(json["output_bytes"], fs::file_size(out_));
  ASSERT_EQ(json["passes"].size(), 2);
  EXPECT_EQ(json["passes"][0]["stage"], "blur");
  EXPECT_TRUE(json["passes"][0]["variant"].get<std::string>().starts_with("naive"));
  EXPECT_EQ(json["passes"][1]["variant"], "tiled 8x8");
  for (const Json& pass : json["passes"]) {
    EXPECT_EQ(pass["reason"], "requested");
    EXPECT_TRUE(pass["program"] == "compiled" || pass["program"] == "cache") << pass;
  }
}

// Every field of `json`, at any depth.
void add_fields(const Json& json, std::set<std::string>& fields) {
  for (const auto& [key, value] : json.items()) {
    if (json.is_object()) fields.insert(key);
    if (value.is_structured()) add_fields(value, fields);
  }
}

// The properties that a schema describes, at any depth.
void add_described(const Json& schema, std::set<std::string>& names) {
  if (schema.is_object() && schema.contains("properties")) {
    for (const auto& [name, property] : schema["properties"].items())
      if (property.contains("description")) names.insert(name);
  }
  for (const Json& part : schema)
    if (part.is_structured()) add_described(part, names);
}

TEST_F(FilterTiming, EveryFieldIsDocumented) {
  const std::string docs = GPUFILTER_SOURCE "/docs/";
  const std::string page = read_file(docs + "engineering/timing.md");
  std::set<std::string> described;
  for (const char* name : {"timing", "batch-timing"})
    add_described(Json::parse(read_file(docs + "schemas/" + name + ".schema.json")), described);
  const std::string many = folder_ / "many";
  fs::create_directory(many);
  fs::copy(in_, many + "/a.png");
  std::set<std::string> fields;
  for (const auto& words : {Words{in_, folder_ / "out.jpg", "--levels", "auto"},
                            {many, folder_ / "results", "--blur", "auto"}}) {
    Words arguments = words;
    arguments.insert(arguments.end(), {"--timing", "json", "--log-level", "error", "--trace",
                                       folder_ / "trace.json"});
    add_fields(Json::parse(filter(arguments).out), fields);
    add_fields(Json::parse(read_file(folder_ / "trace.json")), fields);
    arguments[arguments.size() - 5] = "csv";
    std::istringstream columns(filter(arguments + Words{"--on-exists", "overwrite"}).out);
    std::string line;
    std::getline(columns, line);
    std::istringstream names(line);
    for (std::string name; std::getline(names, name, ',');)
      fields.insert(name);
  }
  EXPECT_GT(fields.size(), 50U);
  fields.erase("sort_index");  // of the trace format itself
  for (const std::string& field : fields) {
    const bool is_on_page = page.find('`' + field + '`') != std::string::npos;
    EXPECT_TRUE(is_on_page || described.contains(field)) << field;
  }
}

TEST_F(FilterTiming, JsonSaysHowLongItTook) {
  GPUFILTER_REQUIRE_DEVICE();
  const Json json = report({"--require-device"});
  const double total = json["total_milliseconds"];
  EXPECT_GT(total, 0);
  EXPECT_GT(json["total_megapixels_per_second"], 0);
  auto activities = activities_of(json);
  for (const char* name : {"find devices", "start device", "build program 0", "build program 1"}) {
    ASSERT_TRUE(activities.contains(name)) << json;
    EXPECT_GT(activities[name]["milliseconds"], 0) << name;
    EXPECT_LT(activities[name]["milliseconds"], total) << name;
  }
  // The minimum number of bytes for each: every pixel once, or in and out, without the halos.
  // Devices that work in the host's memory transfer nothing.
  const bool in_place = works_in_host_memory(json["device"]["name"]);
  for (const auto& [name, least] : {std::pair{"decode", bytes_},
                                    {"upload", in_place ? 0 : bytes_},
                                    {"kernel 0", 2 * bytes_},
                                    {"kernel 1", 2 * bytes_},
                                    {"download", in_place ? 0 : bytes_},
                                    {"encode", bytes_}}) {
    ASSERT_TRUE(activities.contains(name)) << json;
    const Json& activity = activities[name];
    EXPECT_GE(activity.value("bytes", 0.0), least) << name;
    EXPECT_LE(activity.value("bytes", 0.0), least * 1.1) << name;
    EXPECT_GE(activity["commands"], 4) << name << ": there are four bands";
    if (least == 0) continue;
    EXPECT_GT(activity["milliseconds"], 0) << name;
    EXPECT_GT(activity["megapixels_per_second"], 0) << name;
    EXPECT_GT(activity["gigabytes_per_second"], 0) << name;
  }
  activities.erase("launch");  // a driver may be too fast for it to show
  EXPECT_EQ(activities.size(), 10);
  EXPECT_GE(json["other_milliseconds"], 0);
  EXPECT_LT(json["other_milliseconds"], total);
}

TEST_F(FilterTiming, TheProcessorIsTimedToo) {
  const Json json = report({"--device", "cpu"});
  auto activities = activities_of(json);
  for (const char* name : {"decode", "kernel 0", "kernel 1", "encode"})
    EXPECT_GT(activities[name]["milliseconds"], 0) << name;
  EXPECT_EQ(activities.size(), 4);
  EXPECT_EQ(json["device"]["kind"], "processor");
}

TEST_F(FilterTiming, TheTableNamesDeviceVariantsAndProgram) {
  GPUFILTER_REQUIRE_DEVICE();
  const Json json = report({});
  const ProcessResult result = ended(0, filter(command({"--timing", "table"})));
  EXPECT_EQ(result.out, "");
  expect_parts(result.err,
               {in_ + " -> " + out_ + " (replaced): 320x200, RGBA, 8-bit; 4 bands of 50 rows\n",
                "device: " + json["device"]["name"].get<std::string>(),
                json["device"]["reason"].get<std::string>(), std::string("naive "),
                std::string("tiled 8x8 (requested)"), std::string("from the cache"),
                std::string("\ndecode "), std::string("\nupload "), std::string("\ndownload "),
                std::string("\nencode "), std::string("\ntotal ")});
}

TEST_F(FilterTiming, ThreeLinesAreTheDefault) {
  const ProcessResult result = ended(0, filter({in_, out_, "--blur", "auto", "--device", "cpu"}));
  EXPECT_EQ(result.out, "");
  const std::string number = "[0-9]+(\\.[0-9]+)?";
  EXPECT_TRUE(std::regex_match(
      result.err, std::regex("[^\n]*in\\.png -> [^\n]*out\\.png: 320x200, RGBA, 8-bit; processor "
                             "\\(requested\\)\n"
                             "decode " +
                             number + " \\| blur [a-z0-9_]+ " + number + " \\| encode " + number +
                             " ms\n"
                             "total " +
                             number + " ms( \\(" + number + " ms outside these steps\\))?, " +
                             number + " Mpx/s; PNG, " + number + " kB\n")))
      << result.err;
}

TEST_F(FilterTiming, OffAndQuietSayNothingElse) {
  for (const char* word : {"--timing=off", "-q", "--quiet"}) {
    const ProcessResult result = ended(0, filter(command({word})));
    EXPECT_EQ(result.out + result.err, "") << word;
  }
  for (const auto& more : {Words{"-q", "--timing", "json"}, Words{"--timing", "json", "-q"}})
    EXPECT_TRUE(Json::accept(filter(command(more)).out));
  EXPECT_TRUE(contains(filter(command({"-q", "--timing", "line"})).err, "\ntotal "));
  const ProcessResult shown = filter(command({"--progress", "on", "--timing", "off"}));
  EXPECT_EQ(shown.out, "");
  EXPECT_TRUE(contains(shown.err, "gpufilter: " + in_ + ", 25 %, "));
  EXPECT_EQ(filter(command({"--progress", "off", "--timing", "off"})).err, "");
  EXPECT_EQ(filter(command({"--timing", "off"})).err, "") << "standard error is not a terminal";
}

struct FilterTrace : FilterTiming {
  // Checks the rules of the format and that every span lies within the run.
  static std::map<std::string, int> spans_by_category(const std::string& text, double total_ms) {
    std::map<std::string, int> count;
    const Json trace = Json::parse(text);
    EXPECT_EQ(fault_of_trace(trace), "");
    for (const Json& event : trace["traceEvents"]) {
      EXPECT_TRUE(event["name"].is_string()) << event;
      EXPECT_TRUE(event["pid"].is_number_integer()) << event;
      EXPECT_TRUE(event["tid"].is_number_integer()) << event;
      if (event["ph"] == "M") continue;
      EXPECT_EQ(event["ph"], "X");
      const double start = event["ts"];
      const double duration = event["dur"];
      EXPECT_GE(start, 0) << event;
      EXPECT_GE(duration, 0) << event;
      EXPECT_LE(start + duration, total_ms * 1000 + 0.001) << event;
      ++count[event["cat"].get<std::string>()];
    }
    return count;
  }
};

TEST_F(FilterTrace, HasEverySpanOfTheRun) {
  GPUFILTER_REQUIRE_DEVICE();
  const std::string trace = folder_ / "trace.json";
  const double total = report({"--trace", trace, "--require-device"})["total_milliseconds"];
  auto count = spans_by_category(read_file(trace), total);
  EXPECT_EQ(count["find devices"], 1);
  EXPECT_EQ(count["start device"], 1);
  EXPECT_GE(count["build program"], 2) << "for each band that is in work at the same time";
  EXPECT_EQ(count["upload"], 4);
  EXPECT_EQ(count["kernel"], 8);
  EXPECT_EQ(count["download"], 4);
  EXPECT_GE(count["decode"], 4);
  EXPECT_GE(count["encode"], 4);
}

TEST_F(FilterTrace, MayGoToStandardOutputAndNamesTheCommandLine) {
  const ProcessResult result =
      ended(0, filter(command({"--trace", "-", "--timing", "off", "--device", "cpu"})));
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(spans_by_category(result.out, 1e9)["kernel"], 8);
  const Json other = Json::parse(result.out)["otherData"];
  const std::string version = filter({"--version"}).out;
  EXPECT_EQ(other["program"], version.substr(0, version.find('\n')));
  EXPECT_TRUE(ends(other["command_line"].get<std::string>(),
                   " --band-rows 50 --trace - --timing off --device cpu"));
}

TEST_F(FilterTrace, OfAFolderKeepsTheRulesToo) {
  fs::create_directory(folder_ / "many");
  for (const char* name : {"a.png", "b.png", "c.png", "d.png"})
    fs::copy(in_, folder_.path() / "many" / name);
  ended(0, filter({folder_ / "many", folder_ / "results", "--blur", "auto", "--device", "cpu",
                   "--jobs", "2", "--band-rows", "20", "--trace", folder_ / "trace.json"}));
  auto count = spans_by_category(read_file(folder_ / "trace.json"), 1e9);
  EXPECT_EQ(count["picture"], 4);
  EXPECT_EQ(count["kernel"], 40);
}

TEST_F(FilterTrace, ThatCannotBeWrittenFailsBeforeTheWork) {
  expect_failure(1, command({"--trace", folder_ / "nowhere/trace.json"}),
                 {"nowhere/trace.json: ", "create it first"});
  write_file(folder_ / "trace.json", "before");
  expect_failure(1, {folder_ / "missing.png", out_, "--trace", folder_ / "trace.json"},
                 {"missing.png: "});
}

// What the program says about one picture: formats, --json, --dry-run, doubtful options.

struct SingleReport : ProgramTest {
  [[nodiscard]] std::string stored_bytes(const Bytes& bytes, const std::string& name) const {
    write_file(folder_ / name, {bytes.begin(), bytes.end()});
    return folder_ / name;
  }

  // The part of the first line from the size to the device.
  static std::string pixels_of(const std::string& in, const std::string& out,
                               const Words& more = {}) {
    const ProcessResult result =
        ended(0, filter(Words{in, out, "--on-exists", "overwrite"} + more));
    const std::string line = result.err.substr(0, result.err.find('\n'));
    const std::size_t begin = line.find(": ") + 2;
    return line.substr(begin, line.find(';') - begin);
  }

  static Json json_of(const Words& words, int exit_code = 0) {
    const ProcessResult result = ended(exit_code, filter(words + Words{"--json", "-q"}));
    EXPECT_EQ(result.err.empty(), exit_code == 0) << result.err;
    return Json::parse(result.out);
  }

  const std::string rgb_ = stored(random_image({30, 20}, {3, 8}, 1), "rgb.png");
  const std::string rgba16_ = stored(random_image({30, 20}, {4, 16}, 1), "rgba16.png");
  const std::string jpeg_ = folder_ / "out.jpg";
  const std::string png_ = folder_ / "out.png";
};

TEST_F(SingleReport, TheFirstLineNamesWhatTheFilesHold) {
  EXPECT_EQ(pixels_of(rgb_, png_), "30x20, RGB, 8-bit");
  EXPECT_EQ(pixels_of(rgb_, jpeg_), "30x20, RGB, 8-bit");
  EXPECT_EQ(pixels_of(rgba16_, png_), "30x20, RGBA, 16-bit");
  EXPECT_EQ(pixels_of(stored(random_image({8, 9}, {1, 16}, 1), "grey16.png"), jpeg_),
            "8x9, grey, 16-bit -> grey, 8-bit");
  EXPECT_EQ(pixels_of(stored(random_image({8, 9}, {2, 8}, 1), "alpha.png"), jpeg_,
                      {"--background", "#102030"}),
            "8x9, grey+alpha, 8-bit -> grey, 8-bit (alpha flattened onto #102030)");
  EXPECT_EQ(
      pixels_of(stored(random_image({8, 9}, {1, 8}, 1), "grey.png"), jpeg_, {"--color", "sepia"}),
      "8x9, grey, 8-bit -> RGB, 8-bit");
}

TEST_F(SingleReport, PalettesTransparencyAndInkAreNamed) {
  const PngPart palette{"PLTE", {1, 2, 3, 40, 50, 60, 70, 80, 90}};
  const std::string plain =
      stored_bytes(file_of_rows(png_header(4, 1, 2, 3), {palette}, {0, 0b00011000}), "palette.png");
  EXPECT_EQ(pixels_of(plain, png_), "4x1, palette, 2-bit");
  const std::string clear = stored_bytes(
      file_of_rows(png_header(3, 1, 8, 3), {palette, {"tRNS", {5, 128}}}, {0, 0, 1, 2}),
      "clear.png");
  EXPECT_EQ(pixels_of(clear, png_), "3x1, palette with transparency, 8-bit");
  const std::string bits =
      stored_bytes(file_of_rows(png_header(8, 1, 1, 0), {}, {0, 0b01010101}), "bits.png");
  EXPECT_EQ(pixels_of(bits, png_), "8x1, grey, 1-bit");
  JpegRecipe ink;
  ink.raster_colors = JCS_CMYK;
  ink.stored_colors = JCS_YCCK;
  const std::string cmyk =
      stored_bytes(encode_with_libjpeg(textured_raster(16, 8, 4), ink), "ink.jpg");
  EXPECT_EQ(pixels_of(cmyk, jpeg_), "16x8, CMYK, 8-bit") << "copied without decoding";
  EXPECT_EQ(pixels_of(cmyk, jpeg_, {"--lossless", "never"}), "16x8, CMYK, 8-bit -> RGB, 8-bit");
  const Json json = json_of({cmyk, png_});
  EXPECT_EQ(json["input_pixels"], (Json{{"color", "CMYK"}, {"channels", 4}, {"depth", 8}}));
  EXPECT_EQ(json["output_pixels"], (Json{{"color", "RGB"}, {"channels", 3}, {"depth", 8}}));
}

TEST_F(SingleReport, JsonIsTheObjectOfAFolder) {
  const Json json = json_of({rgba16_, jpeg_, "--blur", "auto", "--device", "cpu", "--verify=2"});
  EXPECT_EQ(json["schema"], "gpufilter-picture-1");
  EXPECT_EQ(json["output"], jpeg_);
  EXPECT_EQ(json["alpha_laid_over"], "#ffffff");
  EXPECT_EQ(json["verified_blocks"], 2);
  EXPECT_EQ(json["device"], "processor");
  fs::create_directories(folder_ / "in");
  fs::copy(rgba16_, folder_ / "in/a.png");
  const Json picture =
      Json::parse(filter({folder_ / "in", folder_ / "results", "--to", "jpg", "--blur", "auto",
                          "--device", "cpu", "--verify=2", "--json", "-q"})
                      .out)["pictures"][0];
  for (const auto& [key, value] : picture.items()) {
    EXPECT_TRUE(json.contains(key)) << key;
    if (key == "input" || key == "output" || key.starts_with("m")) continue;
    EXPECT_EQ(json[key], value) << key;
  }
  EXPECT_EQ(json.size(), picture.size() + 1) << "the schema's name is the only difference";
}

TEST_F(SingleReport, JsonOfAPictureThatIsNotDone) {
  write_file(folder_ / "note.png", "text");
  const Json failed = json_of({folder_ / "note.png", png_}, 1);
  EXPECT_EQ(failed["status"], "failed");
  EXPECT_EQ(failed["error"], folder_ / "note.png: not a " + names_of(codecs()) + " picture");
  write_file(png_, "before");
  EXPECT_EQ(json_of({rgb_, png_, "--on-exists", "skip"})["status"], "exists");
  EXPECT_EQ(read_file(png_), "before");
  const ProcessResult piped = filter({rgb_, "-", "--json", "-q"});
  EXPECT_EQ(piped.out.substr(1, 3), "PNG");
  EXPECT_EQ(Json::parse(piped.err)["output"], "-");
  for (const Words& more : {Words{"--timing", "json"}, Words{"--trace", "-"}})
    expect_failure(2, {rgb_, jpeg_, "--json", more[0], more[1]},
                   {"--json: standard output has room for one document"});
  write_file(png_, "before");
  EXPECT_EQ(ended(0, filter({rgb_, png_, "--on-exists", "skip"})).err,
            rgb_ + " -> " + png_ + ": already exists, skipped\n");
}

TEST_F(SingleReport, DryRunSaysWhatWouldBeDone) {
  const ProcessResult result =
      ended(0, filter({rgba16_, jpeg_, "--blur", "auto", "--device", "cpu", "--quality", "80",
                       "--background", "red", "--dry-run"}));
  EXPECT_EQ(result.err, "");
  EXPECT_EQ(result.out, rgba16_ + " -> " + jpeg_ +
                            ": would be done\n"
                            "30x20, RGBA, 16-bit -> RGB, 8-bit (alpha flattened onto #ff0000); "
                            "JPEG, quality 80 (requested), 4:2:0 (the default below quality 90)\n"
                            "device: processor (requested)\n");
  EXPECT_FALSE(fs::exists(jpeg_));
  write_file(png_, "before");
  EXPECT_EQ(filter({rgb_, png_, "--dry-run"}).out,
            rgb_ + " -> " + png_ +
                ": would be copied unchanged; replaces the existing file\n"
                "30x20, RGB, 8-bit; PNG\n"
                "device: processor (nothing to change)\n");
  EXPECT_EQ(filter({rgb_, png_, "--dry-run", "--on-exists", "skip"}).out,
            rgb_ + " -> " + png_ + ": already exists, skipped\n");
  EXPECT_EQ(read_file(png_), "before");
  const Json json = json_of({rgba16_, jpeg_, "--dry-run"});
  EXPECT_EQ(json["status"], "planned");
  EXPECT_EQ(json["output_pixels"]["color"], "RGB");
  EXPECT_EQ(json["jpeg"]["quality"], 90);
  EXPECT_FALSE(json.contains("device"));
  EXPECT_FALSE(fs::exists(jpeg_));
}

// With the exit codes and the messages of the run itself.
TEST_F(SingleReport, DryRunRefusesWhatTheRunRefuses) {
  write_file(folder_ / "note.png", "text");
  write_file(folder_ / "old.png", "before");
  const std::string wide = stored(random_image({65536, 1}, {1, 8}, 1), "wide.png");
  for (const Words& words :
       {Words{folder_ / "missing.png", png_},
        {folder_ / "note.png", png_},
        {rgb_, folder_ / "nowhere/out.png"},
        {rgb_, png_, "--quality", "90"},
        {rgb_, folder_ / "old.png", "--on-exists", "fail"},
        {wide, jpeg_},
        {rgb_, rgb_},
        {rgb_, png_, "--blur", "auto", "--device", "no such device", "--require-device"}}) {
    const ProcessResult real = filter(words);
    EXPECT_NE(real.exit_code, 0) << words.front();
    expect_failure(real.exit_code, words + Words{"--dry-run"}, {real.err});
  }
}

TEST_F(SingleReport, LevelsOfTheOtherDepthAreDoubted) {
  const auto warning_of = [](const Words& words) {
    return ended(0, filter(words + Words{"--timing", "off"})).err;
  };
  const std::string grey16 = stored(random_image({8, 9}, {1, 16}, 1), "grey16.png");
  EXPECT_EQ(warning_of({grey16, png_, "--levels", "16,235"}),
            "gpufilter: warning: " + grey16 +
                ": --levels 16,235 looks like values of 8 bits, but the picture has 16 bits, from "
                "0 to 65535; in 16 bits these values are 4112,60395\n");
  EXPECT_EQ(warning_of({rgb_, png_, "--levels", "0,65535"}),
            "gpufilter: warning: " + rgb_ +
                ": --levels 0,65535 looks like values of 16 bits, but the picture has 8 bits, from "
                "0 to 255; in 8 bits these values are 0,255\n");
  for (const char* levels : {"16,235", "0,300", "10%,90%", "auto"})
    EXPECT_EQ(warning_of({rgb_, png_, "--levels", levels}), "") << levels;
  for (const char* levels : {"0,256", "4112,60395", "1%,2%"})
    EXPECT_EQ(warning_of({grey16, png_, "--levels", levels}), "") << levels;
  fs::create_directories(folder_ / "in");
  fs::copy(grey16, folder_ / "in/a.png");
  fs::copy(grey16, folder_ / "in/b.png");
  fs::copy(rgb_, folder_ / "in/c.png");
  EXPECT_TRUE(
      contains(warning_of({folder_ / "in", folder_ / "results", "--levels", "16,235"}),
               "gpufilter: warning: 2 pictures: --levels 16,235 looks like values of 8 bits"));
}

}  // namespace
}  // namespace gpufilter::test
