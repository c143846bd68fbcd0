// docs/network.schema.json refuses what the program's parser refuses, as far as a schema can.
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "base/error.hpp"
#include "base/format.hpp"
#include "net/pixel/mlp.hpp"
#include "support/documents.hpp"
#include "support/json_schema.hpp"
#include "support/pictures.hpp"
#include "support/process.hpp"
#include "support/temporary_folder.hpp"

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
          R"(], "format": "gpufilter-network-1"})",
  };
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
  expect_verdicts(
      {
          "[]",
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
          network_of_width(257),
      },
      false, false);
}

// The checks that docs/network.md says are left to the program.
TEST(NetworkSchema, CannotSeeThatNumbersDoNotFitTogether) {
  GPUFILTER_REQUIRE_VALIDATOR();
  expect_verdicts(
      {
          network_of("[[1, 0, 0], [0, 1, 0], [0, 0, 1, 0]]", "[0, 0, 0]"),
          network_of(rows_of_3, "[0, 0]"),
          network_of("[[1, 0, 0], [0, 1, 0]]", "[0, 0]"),
          network(layer(rows_of_3, "[0, 0, 0]") + "," +
                  layer("[[1, 0], [0, 1], [1, 1]]", "[0, 0, 0]")),
          R"({"format": "gpufilter-network-1", "format": "gpufilter-network-1", "layers": [)" +
              layer(rows_of_3, "[0, 0, 0]") + "]}",
      },
      false, true);
}

}  // namespace
}  // namespace gpufilter::test
