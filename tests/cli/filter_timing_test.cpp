// The report of a run: --timing and --trace.
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "cli/filter_fixture.hpp"
#include "support/trace_checks.hpp"

namespace gpufilter::test {
namespace {

class FilterTiming : public FilterTest {
 protected:
  [[nodiscard]] std::vector<std::string> command(const std::vector<std::string>& more) const {
    std::vector<std::string> arguments{in_,     out_,     "--blur", "naive",       "--blur",
                                       "tiled", "--tile", "8",      "--band-rows", "50"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  }

  [[nodiscard]] Json report(const std::vector<std::string>& more,
                            const ProcessOptions& options = {}) const {
    std::vector<std::string> arguments = command(more);
    arguments.insert(arguments.end(), {"--timing", "json"});
    const ProcessResult result = ended(0, filter(arguments, options));
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
  const std::string out_ = folder_ / "out.png";
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
  EXPECT_EQ(json["output_bytes"], std::filesystem::file_size(out_));
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
  std::filesystem::create_directory(many);
  std::filesystem::copy(in_, many + "/a.png");
  std::set<std::string> fields;
  for (const auto& words : {std::vector<std::string>{in_, folder_ / "out.jpg", "--levels", "auto"},
                            {many, folder_ / "results", "--blur", "auto"}}) {
    std::vector<std::string> arguments = words;
    arguments.insert(arguments.end(), {"--timing", "json", "--log-level", "error", "--trace",
                                       folder_ / "trace.json"});
    add_fields(Json::parse(filter(arguments).out), fields);
    add_fields(Json::parse(read_file(folder_ / "trace.json")), fields);
    arguments[arguments.size() - 5] = "csv";
    arguments.insert(arguments.end(), {"--on-exists", "overwrite"});
    std::istringstream columns(filter(arguments).out);
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

TEST_F(FilterTiming, CsvHasTheSameColumnsAlways) {
  const std::string columns =
      "device,walk,activity,pass,stage,variant,program,reason,milliseconds,bytes,"
      "megapixels_per_second,gigabytes_per_second,input_format,input_pixels,output_format,"
      "output_pixels,verified_blocks";
  for (const char* device : {"opencl", "cpu"}) {
    const ProcessResult result =
        ended(0, filter(command({"--timing", "csv", "--device", device, "--log-level", "error"})));
    EXPECT_EQ(result.err, "");
    std::istringstream lines(result.out);
    std::string line;
    std::getline(lines, line);
    EXPECT_EQ(line, columns);
    std::string last;
    while (std::getline(lines, line)) {
      std::size_t commas = 0;
      bool quoted = false;
      for (const char c : line) {
        quoted = quoted != (c == '"');
        if (c == ',' && !quoted) ++commas;
      }
      EXPECT_EQ(commas, 16) << line;
      last = line;
    }
    EXPECT_TRUE(contains(last, ",,total,,,,,"));
  }
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
                             number + " \\| blur [a-z0-9]+ " + number + " \\| encode " + number +
                             " ms\n"
                             "total " +
                             number + " ms( \\(" + number + " ms outside these steps\\))?, " +
                             number + " Mpx/s; PNG, " + number + " kB\n")))
      << result.err;
}

TEST_F(FilterTiming, OffAndQuietSayNothing) {
  for (const char* word : {"--timing=off", "-q", "--quiet"}) {
    const ProcessResult result = ended(0, filter(command({word})));
    EXPECT_EQ(result.out + result.err, "") << word;
  }
}

TEST_F(FilterTiming, QuietKeepsWhatTimingAsksFor) {
  for (const auto& more : {std::vector<std::string>{"-q", "--timing", "json"},
                           std::vector<std::string>{"--timing", "json", "-q"}}) {
    EXPECT_TRUE(Json::accept(filter(command(more)).out));
  }
  EXPECT_TRUE(contains(filter(command({"-q", "--timing", "line"})).err, "\ntotal "));
}

TEST_F(FilterTiming, ProgressGoesToStandardErrorAlone) {
  const ProcessResult shown = filter(command({"--progress", "on", "--timing", "off"}));
  EXPECT_EQ(shown.out, "");
  EXPECT_TRUE(contains(shown.err, "gpufilter: " + in_ + ", 25 %, "));
  EXPECT_EQ(filter(command({"--progress", "off", "--timing", "off"})).err, "");
  EXPECT_EQ(filter(command({"--timing", "off"})).err, "") << "standard error is not a terminal";
}

class FilterTrace : public FilterTiming {
 protected:
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

TEST_F(FilterTrace, NamesTheProgramAndItsCommandLine) {
  const Json trace =
      Json::parse(filter(command({"--trace", "-", "--timing", "off", "--device", "cpu"})).out);
  const std::string version = filter({"--version"}).out;
  EXPECT_EQ(trace["otherData"]["program"], version.substr(0, version.find('\n')));
  const std::string line = trace["otherData"]["command_line"];
  EXPECT_TRUE(line.ends_with(" --band-rows 50 --trace - --timing off --device cpu")) << line;
}

TEST_F(FilterTrace, OfAFolderKeepsTheRulesToo) {
  std::filesystem::create_directory(folder_ / "many");
  for (const char* name : {"a.png", "b.png", "c.png", "d.png"})
    std::filesystem::copy(in_, folder_.path() / "many" / name);
  const ProcessResult result =
      ended(0, filter({folder_ / "many", folder_ / "results", "--blur", "auto", "--device", "cpu",
                       "--jobs", "2", "--band-rows", "20", "--trace", folder_ / "trace.json"}));
  auto count = spans_by_category(read_file(folder_ / "trace.json"), 1e9);
  EXPECT_EQ(count["picture"], 4);
  EXPECT_EQ(count["kernel"], 40);
}

TEST_F(FilterTrace, MayGoToStandardOutput) {
  const ProcessResult result =
      ended(0, filter(command({"--trace", "-", "--timing", "off", "--device", "cpu"})));
  EXPECT_EQ(result.err, "");
  auto count = spans_by_category(result.out, 1e9);
  EXPECT_EQ(count["kernel"], 8);
}

TEST_F(FilterTrace, ThatCannotBeWrittenFailsBeforeTheWork) {
  expect_failure(1, command({"--trace", folder_ / "nowhere/trace.json"}),
                 {"nowhere/trace.json: ", "create it first"});
}

TEST_F(FilterTrace, OfAFailedRunIsNotWritten) {
  write_file(folder_ / "trace.json", "before");
  expect_failure(1, {folder_ / "missing.png", out_, "--trace", folder_ / "trace.json"},
                 {"missing.png: "});
}

}  // namespace
}  // namespace gpufilter::test
