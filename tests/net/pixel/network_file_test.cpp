// Network files: their contents, and that each mistake is reported with its line.
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "net/pixel/mlp.hpp"
#include "support/objection.hpp"
#include "support/pictures.hpp"
#include "support/temporary_folder.hpp"

namespace gpufilter {
namespace {

// Correct; the mistakes below are made in it. Line 5 begins layer 1, line 10 layer 2.
constexpr const char* good = R"({
  "format": "gpufilter-network-1",
  "comment": "says nothing",
  "layers": [
    {
      "weights": [[1, 0.5, -2e-1], [0, 0, 1e-3]],
      "bias": [0, -1],
      "activation": "relu"
    },
    {
      "weights": [[1, 2], [3, 4], [5, 6]],
      "bias": [0.1, 0.2, 18446744073709551615],
      "activation": "clamp"
    }
  ]
}
)";

std::string with(const std::string& from, const std::string& to) {
  std::string text = good;
  const std::size_t at = text.find(from);
  if (at == std::string::npos) throw std::invalid_argument(from);
  return text.replace(at, from.size(), to);
}

std::string network_objection(const std::string& text) {
  return test::objection_to([&] { return parse_network(text, "net.json"); });
}

std::string numbers(int count) {
  std::string text = "1";
  for (int i = 1; i < count; ++i)
    text += ",1";
  return text;
}

TEST(NetworkFile, IsReadAsItStands) {
  const Network network = parse_network(good, "net.json");
  ASSERT_EQ(network.layers.size(), 2U);
  EXPECT_EQ(network.inputs(), 3);
  EXPECT_EQ(network.outputs(), 3);
  EXPECT_EQ(network.widest(), 3);
  EXPECT_EQ(network.layers[0].weights, (std::vector<float>{1, 0.5F, -0.2F, 0, 0, 1e-3F}));
  EXPECT_EQ(network.layers[0].bias, (std::vector<float>{0, -1}));
  EXPECT_EQ(network.layers[0].activation, Activation::relu);
  EXPECT_EQ(network.layers[1].inputs, 2);
  EXPECT_EQ(network.layers[1].bias, (std::vector<float>{0.1F, 0.2F, 0x1p64F}));
  EXPECT_EQ(network.layers[1].activation, Activation::clamp);
}

TEST(NetworkFile, LargestAndSmallestNumbersAreRounded) {
  const Network network =
      parse_network(with("-2e-1], [0, 0,", "3.4028235e38], [1e-50, -1e-45,"), "net.json");
  EXPECT_EQ(network.layers[0].weights[2], std::numeric_limits<float>::max());
  EXPECT_EQ(network.layers[0].weights[3], 0.0F);
  EXPECT_EQ(network.layers[0].weights[4], -std::numeric_limits<float>::denorm_min());
}

struct Mistake {
  std::string text;
  std::string complaint;  // how it begins
};

void expect_complaints(const std::vector<Mistake>& mistakes) {
  for (const Mistake& mistake : mistakes) {
    const std::string found = network_objection(mistake.text);
    EXPECT_EQ(found.substr(0, mistake.complaint.size()), mistake.complaint) << found;
    EXPECT_EQ(found.find_first_of("\n\r\t"), std::string::npos) << found;
  }
}

TEST(NetworkFile, TextThatIsNoJsonIsNamedWithItsLine) {
  expect_complaints({
      {with("0.5,", "0.5;"), "net.json:6: this is not JSON: column "},
      {with("0.5,", "NaN,"), "net.json:6: this is not JSON: column "},
      {with("  \"layers\"", "  layers"), "net.json:4: this is not JSON: column "},
      {with("gpufilter-network-1\"", "gpufilter-network-1\n\""), "net.json:2: this is not JSON: "},
      {"", "net.json:1: this is not JSON: "},
      {std::string(good) + "x", "net.json:17: this is not JSON: "},
      {std::string(good).substr(0, 110), "net.json:6: this is not JSON: "},
  });
}

TEST(NetworkFile, NumbersThatAreTooLargeAreRefused) {
  expect_complaints({
      {with("0.5,", "1e39,"), "net.json:6: layer 1, row 1 of weights: '1e39' is too large: "},
      {with(", -1]", ", \n-3.4028236e38\n]"),
       "net.json:8: layer 1, bias: '-3.4028236e38' is too large"},
      {with("\"relu\"", "1e400"),
       "net.json:8: layer 1: 1e400 stands where none, relu or clamp should be"},
      {with("0.5,", "1e400,"), "net.json:6: layer 1, row 1 of weights: '1e400' is too large: "},
  });
}

TEST(NetworkFile, WrongTypesAreNamedWithTheirLine) {
  expect_complaints({
      {"[]", "net.json:1: an array stands where an object with format and layers should be"},
      {with("0.5,", "\"a\","),
       "net.json:6: layer 1, row 1 of weights: \"a\" stands where a number should be"},
      {with("0.5,", "null,"), "net.json:6: layer 1, row 1 of weights: null stands where a number"},
      {with("0.5,", "[1],"), "net.json:6: layer 1, row 1 of weights: an array stands where a num"},
      {with("[[1, 0.5", "[1, [0.5"),
       "net.json:6: layer 1: 1 stands where an array of numbers should be"},
      {with("[0, -1]", "true"),
       "net.json:7: layer 1: true stands where an array of numbers should be"},
      {with("\"relu\"", "1"), "net.json:8: layer 1: 1 stands where none, relu or clamp should be"},
      {with("\"gpufilter-network-1\"", "1"), "net.json:2: 1 stands where a text should be"},
      {with("\"says nothing\"", "{}"), "net.json:3: an object stands where a text should be"},
      {R"({"format": "gpufilter-network-1", "layers": {}})",
       "net.json:1: an object stands where an array of layers should be"},
      {R"({"format": "gpufilter-network-1", "layers": [[]]})",
       "net.json:1: an array stands where an object with weights, bias and activation should be"},
  });
}

TEST(NetworkFile, KeysAndWordsAreChecked) {
  expect_complaints({
      {with("gpufilter-network-1", "gpufilter-network-2"),
       R"(net.json:2: the format "gpufilter-network-2" is not known; "gpufilter-network-1" is)"},
      {with("\"format\"", "\"formats\""),
       "net.json:2: the key \"formats\" is not known; format, comment and layers are"},
      {with(R"("format": "gpufilter-network-1",)", ""),
       "net.json:16: the key \"format\" is missing"},
      {with("\"bias\"", "\"bia\ts\""), "net.json:7: this is not JSON: "},
      {with("\"bias\"", "\"biases\""),
       "net.json:7: layer 1: the key \"biases\" is not known; weights, bias and activation are"},
      {with("\"comment\"", "\"format\""), "net.json:3: the key \"format\" occurs twice"},
      {with("\"bias\"", "\"weights\""), "net.json:7: layer 1: the key \"weights\" occurs twice"},
      {with(R"("bias": [0, -1],)", ""), "net.json:9: layer 1: the key \"bias\" is missing"},
      {with("\"relu\"", "\"tanh\""),
       "net.json:8: layer 1: the activation \"tanh\" is not known; none, relu and clamp are"},
      {R"({"format": "gpufilter-network-1"})", "net.json:1: the key \"layers\" is missing"},
  });
}

TEST(NetworkFile, ShapesThatMakeNoNetworkAreNamed) {
  const std::string wide_row = "[" + numbers(257) + "]";
  expect_complaints({
      {R"({"format": "gpufilter-network-1", "layers": []})", "net.json:1: there are no layers"},
      {with("0.5,", ""), "net.json:6: layer 1, row 2 of weights: 3 numbers, row 1 has 2"},
      {with("[0, 0, 1e-3]", "[]"), "net.json:6: layer 1, row 2 of weights: 0 numbers, row 1 has 3"},
      {with("[0, -1]", "[0]"),
       "net.json:5: layer 1: 2 rows in weights, 1 number in bias; both are the outputs"},
      {with("[[1, 0.5, -2e-1], [0, 0, 1e-3]]", "[]"),
       "net.json:5: layer 1: 0 rows in weights, 2 numbers in bias; both are the outputs"},
      {with("[[1, 2], [3, 4], [5, 6]]", "[[1], [3], [5]]"),
       "net.json:10: layer 2 takes 1 input, layer 1 gives 2"},
      {with("[1, 0.5, -2e-1], [0, 0, 1e-3]", "[1, 0.5], [0, 0]"),
       "net.json:5: layer 1 takes 2 inputs; the first takes 3 (RGB) or 4 (RGBA)"},
      {with("[[1, 2], [3, 4], [5, 6]],\n      \"bias\": [0.1, 0.2, 18446744073709551615]",
            "[[1, 2]],\n      \"bias\": [1]"),
       "net.json:15: layer 2 gives 1 output; the last gives 3 (RGB) or 4 (RGBA)"},
      {with("[1, 0.5, -2e-1]", wide_row),
       "net.json:6: layer 1, row 1 of weights: more than 256 numbers"},
      {with("[0, -1]", wide_row), "net.json:7: layer 1, bias: more than 256 numbers"},
  });
}

TEST(NetworkFile, TooManyRowsAreRefused) {
  std::string rows = "[1, 1, 1]";
  for (int i = 1; i < 257; ++i)
    rows += ", [1, 1, 1]";
  EXPECT_EQ(network_objection(with("[1, 0.5, -2e-1], [0, 0, 1e-3]", rows)),
            "net.json:6: layer 1, row 257 of weights: more than 256 rows");
}

TEST(NetworkFile, EveryTruncationIsRefused) {
  const std::string text = good;
  for (std::size_t size = 0; size < text.find_last_of('}'); ++size) {
    EXPECT_TRUE(network_objection(text.substr(0, size)).starts_with("net.json:")) << size;
  }
}

// Any content is either a network or refused in one line of sensible length.
TEST(NetworkFile, DamageNeverGoesUnnoticedOrUnnamed) {
  const std::string text = good;
  for (std::size_t at = 0; at < text.size(); ++at) {
    for (const char byte : {'\0', '\n', '"', '[', '}', '9', '\xff'}) {
      std::string damaged = text;
      damaged[at] = byte;
      const std::string found = network_objection(damaged);
      EXPECT_TRUE(found == "none" || found.rfind("net.json:", 0) == 0) << found;
      EXPECT_EQ(found.find('\n'), std::string::npos) << found;
      EXPECT_LT(found.size(), 250U) << found;
    }
  }
}

TEST(NetworkFile, IsReadWhenTheStageIsMade) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "good.json", good);
  test::write_file(folder / "bad.json", with("relu", "tanh"));
  EXPECT_EQ(test::objection_to_value(mlp_stage_kind(), folder / "good.json"), "none");
  EXPECT_EQ(test::objection_to_value(mlp_stage_kind(), folder / "bad.json")
                .find(folder / "bad.json:8: layer 1: "),
            0U);
  EXPECT_EQ(test::objection_to_value(mlp_stage_kind(), folder / "none.json"),
            (folder / "none.json") + ": no such file");
  EXPECT_EQ(test::objection_to_value(mlp_stage_kind(), folder.path()),
            folder.path().string() + ": is a folder");
}

TEST(NetworkFile, SamplesAreNetworks) {
  int networks = 0;
  for (const auto& file :
       std::filesystem::directory_iterator(GPUFILTER_SOURCE "/samples/networks")) {
    if (file.path().extension() != ".json") continue;
    EXPECT_NO_THROW(static_cast<void>(read_network(file.path()))) << file.path();
    ++networks;
  }
  EXPECT_GE(networks, 1);
}

}  // namespace
}  // namespace gpufilter
