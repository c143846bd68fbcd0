// The schema of networks and the drawing of traces, which docs/ describes.
#include <regex>

#include "net/pixel/mlp.hpp"
#include "support/document_checks.hpp"
#include "support/documents.hpp"
#include "support/process.hpp"

namespace gpufilter::test {
namespace {

namespace fs = std::filesystem;

const std::string rows_of_3 = "[[1, 0, 0], [0, 1, 0], [0, 0, 1]]";

std::string layer(const std::string& weights, const std::string& bias,
                  const std::string& activation = "\"none\"") {
  return formatted(R"({{"weights": {}, "bias": {}, "activation": {}}})", weights, bias, activation);
}

std::string network(const std::string& layers) {
  return formatted(R"({{"format": "gpufilter-network-1", "layers": [{}]}})", layers);
}

std::string network_of(const std::string& weights, const std::string& bias,
                       const std::string& activation = "\"none\"") {
  return network(layer(weights, bias, activation));
}

std::string numbers(int count) {
  std::string text = "1";
  for (int i = 1; i < count; ++i)
    text += ",1";
  return text;
}

// A network of 3 inputs, `width` numbers between its two layers, and 3 outputs.
std::string network_of_width(int width) {
  std::string rows;
  for (int i = 0; i < width; ++i)
    rows += i == 0 ? "[1,1,1]" : ",[1,1,1]";
  const std::string row = formatted("[{}]", numbers(width));
  return network(layer(formatted("[{}]", rows), row, "\"relu\"") + "," +
                 layer(formatted("[{0},{0},{0}]", row), "[0, 0, 0]"));
}

bool parser_accepts(const std::string& text) {
  try {
    static_cast<void>(parse_network(text, "net.json"));
    return true;
  } catch (const UsageError&) {
    return false;
  }
}

void expect_verdicts(const std::vector<std::string>& texts, bool parser, bool schema) {
  const std::vector<bool> accepted = accepted_by_schema("network.schema.json", texts);
  ASSERT_EQ(accepted.size(), texts.size());
  for (std::size_t i = 0; i < texts.size(); ++i) {
    EXPECT_EQ(parser_accepts(texts[i]), parser) << texts[i];
    EXPECT_EQ(accepted[i], schema) << texts[i];
  }
}

TEST(NetworkSchema, AcceptsNetworks) {
  GPUFILTER_REQUIRE_VALIDATOR();
  std::vector<std::string> texts{
      network_of(rows_of_3, "[0, 0, 0]"),
      network_of("[[1, 0, 0, 0], [0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 1]]", "[0, 0, 0, -0.5]"),
      network_of(rows_of_3, "[3.4028235e38, 1e-400, -1e-45]", "\"clamp\""),
      network_of_width(1),
      network_of_width(256),
      R"({"comment": "", "layers": [)" + layer(rows_of_3, "[0, 0, 0]", "\"relu\"") +
          R"(], "format": "gpufilter-network-1"})"};
  for (const auto& file : fs::directory_iterator(GPUFILTER_SOURCE "/samples/networks")) {
    if (file.path().extension() == ".json") texts.push_back(read_file(file.path()));
  }
  EXPECT_GT(texts.size(), 6U);
  for (const std::string& example : fenced_blocks(page_text("docs/network.md"), "json"))
    texts.push_back(example);
  EXPECT_GT(texts.size(), 7U) << "docs/network.md shows no network";
  expect_verdicts(texts, true, true);
}

TEST(NetworkSchema, RefusesWhatTheParserRefuses) {
  GPUFILTER_REQUIRE_VALIDATOR();
  const std::string good = layer(rows_of_3, "[0, 0, 0]");
  expect_verdicts({"[]",
                   "null",
                   R"({"layers": [)" + good + "]}",
                   R"({"format": "gpufilter-network-1"})",
                   R"({"format": "gpufilter-network-2", "layers": [)" + good + "]}",
                   R"({"format": 1, "layers": [)" + good + "]}",
                   R"({"format": "gpufilter-network-1", "layers": {}})",
                   R"({"format": "gpufilter-network-1", "comment": 1, "layers": [)" + good + "]}",
                   R"({"format": "gpufilter-network-1", "Comment": "", "layers": [)" + good + "]}",
                   network(""),
                   network("[]"),
                   network(R"({"weights": [[1, 1, 1]], "bias": [1]})"),
                   network(R"({"weights": [[1, 1, 1]], "activation": "none"})"),
                   network(R"({"bias": [1], "activation": "none"})"),
                   network(good.substr(0, good.size() - 1) + R"(, "name": "a"})"),
                   network_of(rows_of_3, "[0, 0, 0]", "\"tanh\""),
                   network_of(rows_of_3, "[0, 0, 0]", "\"ReLU\""),
                   network_of(rows_of_3, "[0, 0, 0]", "null"),
                   network_of(rows_of_3, "[0, \"0\", 0]"),
                   network_of(rows_of_3, "[0, null, 0]"),
                   network_of(rows_of_3, "0"),
                   network_of("[]", "[]"),
                   network_of("[[], [], []]", "[0, 0, 0]"),
                   network_of("[1, 0, 0]", "[0]"),
                   network_of(rows_of_3, "[0, 1e39, 0]"),
                   network_of(rows_of_3, "[0, -3.4028236e38, 0]"),
                   network_of("[[1, 1], [1, 1], [1, 1]]", "[0, 0, 0]"),
                   network_of("[[1, 1, 1, 1, 1], [1, 1, 1, 1, 1], [1, 1, 1, 1, 1]]", "[0, 0, 0]"),
                   network_of_width(257)},
                  false, false);
}

// The checks that docs/network.md says are left to the program.
TEST(NetworkSchema, CannotSeeThatNumbersDoNotFitTogether) {
  GPUFILTER_REQUIRE_VALIDATOR();
  expect_verdicts(
      {network_of("[[1, 0, 0], [0, 1, 0], [0, 0, 1, 0]]", "[0, 0, 0]"),
       network_of(rows_of_3, "[0, 0]"), network_of("[[1, 0, 0], [0, 1, 0]]", "[0, 0]"),
       network(layer(rows_of_3, "[0, 0, 0]") + "," +
               layer("[[1, 0], [0, 1], [1, 1]]", "[0, 0, 0]")),
       R"({"format": "gpufilter-network-1", "format": "gpufilter-network-1", "layers": [)" +
           layer(rows_of_3, "[0, 0, 0]") + "]}"},
      false, true);
}

// scripts/draw_trace.py draws what --trace writes, and says in words what it cannot draw.

using Words = std::vector<std::string>;

bool has_python() {
  try {
    return run_process({"python3", "--version"}).exit_code == 0;
  } catch (const std::system_error&) {
    return false;
  }
}

struct DrawTrace : ::testing::Test {
  void SetUp() override {
    if (!has_python()) GTEST_SKIP() << "skipped: python3 is not installed";
  }

  [[nodiscard]] ProcessResult draw(const Words& arguments) const {
    Words command{"python3", GPUFILTER_SOURCE "/scripts/draw_trace.py"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return run_process(command, {.folder = folder_.path()});
  }

  void expect_refusal(const std::string& name, const std::string& reason) const {
    const ProcessResult result = ended(1, draw({name}));
    EXPECT_EQ(result.out, "");
    EXPECT_EQ(result.err, formatted("draw_trace.py: {}: {}\n", name, reason));
  }

  [[nodiscard]] std::string drawing_of(const std::string& trace) const {
    write_file(folder_ / "trace.json", trace);
    const ProcessResult result = ended(0, draw({"trace.json"}));
    EXPECT_EQ(result.err, "");
    EXPECT_EQ(objection_to_svg(result.out), "");
    return result.out;
  }

  const TemporaryFolder folder_;
};

// The texts that are aligned like `anchor`, in the order of the drawing.
Words texts_of(const std::string& svg, const std::string& anchor) {
  const std::regex text("text-anchor=\"" + anchor + "\">([^<]*)<");
  Words found;
  for (std::sregex_iterator at(svg.begin(), svg.end(), text), end; at != end; ++at)
    found.push_back((*at)[1]);
  return found;
}

std::string trace_until(double microseconds) {
  return formatted(R"({{"traceEvents": [{{"name": "decode", "cat": "decode", "ph": "X", )"
                   R"("pid": 1, "tid": 1, "ts": 0, "dur": {}}}]}})",
                   microseconds);
}

TEST_F(DrawTrace, SaysHowItIsUsed) {
  const ProcessResult none = ended(2, draw({}));
  EXPECT_EQ(none.out, "");
  EXPECT_TRUE(none.err.starts_with("usage: draw_trace.py [-h] TRACE.json\n")) << none.err;
  EXPECT_EQ(draw({"a", "b"}).exit_code, 2);
  const ProcessResult help = ended(0, draw({"--help"}));
  EXPECT_TRUE(help.out.starts_with("usage: draw_trace.py [-h] TRACE.json\n"));
  EXPECT_TRUE(contains(help.out, "draw_trace.py trace.json > trace.svg"));
}

TEST_F(DrawTrace, NamesWhatItCannotDraw) {
  expect_refusal("missing.json", "No such file or directory");
  expect_refusal(".", "Is a directory");
  const auto expect_content_refused = [this](const std::string& content, const std::string& why) {
    write_file(folder_ / "trace.json", content);
    expect_refusal("trace.json", why);
  };
  const std::string not_a_trace =
      "not a trace: it has no list of traceEvents; write one with --trace FILE";
  expect_content_refused("", "not JSON: Expecting value in line 1");
  expect_content_refused("{\n\"traceEvents\": oops}", "not JSON: Expecting value in line 2");
  expect_content_refused("\x89PNG\r\n", "not JSON: the text is not UTF-8");
  expect_content_refused("{\"pictures\": []}", not_a_trace);
  expect_content_refused("17", not_a_trace);
  expect_content_refused("{\"traceEvents\": [1, 2]}", not_a_trace);
  expect_content_refused("{\"traceEvents\": []}",
                         "an empty trace: it has no event with a duration");
  expect_content_refused("{\"traceEvents\": [{\"ph\": \"M\"}]}",
                         "an empty trace: it has no event with a duration");
  for (const char* event :
       {R"({"ph": "X", "ts": 1})", R"({"ph": "X", "ts": "1", "dur": 1})",
        R"({"ph": "X", "ts": NaN, "dur": 1})", R"({"ph": "X", "ts": 1e300, "dur": 1})"}) {
    expect_content_refused(formatted("[{}]", event),
                           "not a trace: event 1 has no time ('ts') or duration ('dur')");
  }
  for (const char* event :
       {R"({"ph": "X", "ts": 1, "dur": 1, "tid": []})", R"({"ph": "M", "args": [1]})",
        R"({"ph": "X", "ts": 1, "dur": 1, "cat": {}})", R"({"ph": ["X"]})"}) {
    expect_content_refused(formatted(R"([{{"ph": "M"}}, {}])", event),
                           "not a trace: event 2 has a field of the wrong type");
  }
}

TEST_F(DrawTrace, ReadsStandardInputAndNamesAFullDisk) {
  write_file(folder_ / "trace.json", trace_until(1000));
  const std::string script = GPUFILTER_SOURCE "/scripts/draw_trace.py";
  const auto in_shell = [&](const std::string& command) {
    return run_process({"bash", "-c", command, script}, {.folder = folder_.path()});
  };
  const ProcessResult piped = in_shell("python3 \"$0\" - < trace.json");
  EXPECT_EQ(piped.out, draw({"trace.json"}).out);
  EXPECT_EQ(piped.exit_code, 0);
  const ProcessResult full = ended(1, in_shell("python3 \"$0\" trace.json > /dev/full"));
  EXPECT_EQ(full.err, "draw_trace.py: standard output: No space left on device\n");
  // The reader is gone before anything is written.
  const ProcessResult left = in_shell(
      "{ until [ -e gone ]; do sleep 0.01; done; python3 \"$0\" trace.json; echo $? > code; } | "
      "{ exec <&-; touch gone; }; cat code");
  EXPECT_EQ(left.out, "141\n");
  EXPECT_EQ(left.err, "");
}

TEST_F(DrawTrace, HasTicksAtRoundNumbers) {
  const auto ticks = [this](double microseconds) {
    return formatted("{}",
                     fmt::join(texts_of(drawing_of(trace_until(microseconds)), "middle"), " "));
  };
  EXPECT_EQ(ticks(148'828.6), "0 20 40 60 80 100 120 140");
  EXPECT_EQ(ticks(99'000), "0 10 20 30 40 50 60 70 80 90");
  EXPECT_EQ(ticks(100'000), "0 10 20 30 40 50 60 70 80 90 100");
  EXPECT_EQ(ticks(37'000), "0 5 10 15 20 25 30 35");
  EXPECT_EQ(ticks(370), "0.00 0.05 0.10 0.15 0.20 0.25 0.30 0.35");
  EXPECT_EQ(ticks(2'300'000), "0 500 1000 1500 2000");
  EXPECT_EQ(ticks(0), "0.0 0.1 0.2 0.3 0.4 0.5 0.6 0.7 0.8 0.9 1.0");
}

TEST_F(DrawTrace, HasARowForEachPictureOrKindOfWork) {
  const std::string photos = folder_ / "photos";
  std::filesystem::create_directory(photos);
  const std::string long_name = std::string(60, 'x') + "-<&>.png";
  for (const std::string& name : {std::string("b.png"), long_name})
    write_png(random_image({40, 30}, {3, 8}, 1), photos + "/" + name);
  const auto trace_of = [this](Words arguments) {
    arguments.insert(arguments.begin(), GPUFILTER_PROGRAM);
    for (const char* word :
         {"--blur", "auto", "--device", "cpu", "-q", "--trace", "run.json", "--jobs", "1"})
      arguments.emplace_back(word);
    if (arguments[1] != "photos") arguments.resize(arguments.size() - 2);
    const ProcessResult result = ended(0, run_process(arguments, {.folder = folder_.path()}));
    return read_file(folder_ / "run.json");
  };
  Words rows = texts_of(drawing_of(trace_of({"photos", "results"})), "end");
  std::sort(rows.begin(), rows.end());
  EXPECT_EQ(rows,
            (Words{"..." + std::string(23, 'x') + "-&lt;&amp;&gt;.png", "b.png", "milliseconds"}));
  rows = texts_of(drawing_of(trace_of({"photos/b.png", "one.png"})), "end");
  std::sort(rows.begin(), rows.end());
  EXPECT_EQ(rows, (Words{"decode", "encode", "kernel", "milliseconds"}));
}

}  // namespace
}  // namespace gpufilter::test
