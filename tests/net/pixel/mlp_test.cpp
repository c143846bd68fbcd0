// The network gives the same bits everywhere: the processor with each instruction set
// against its definition, then every device, format, size, band height and block against the
// processor.
#include "net/pixel/mlp.hpp"

#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

using Widths = std::vector<int>;

// Widths of inputs, of the values between layers, and of outputs.

// Random weights that keep the numbers between layers near 0..1, so that outputs fall below, into
// and above the range of samples; times `scale`.
Network random_network(const Widths& widths, std::uint64_t seed, float scale = 1.0F) {
  std::mt19937_64 engine(seed);
  const auto number = [&](float size) {
    const auto word = static_cast<std::int32_t>(engine() >> 32U);
    return static_cast<float>(word) * 0x1p-31F * size;
  };
  constexpr std::array activations{Activation::relu, Activation::none, Activation::clamp};
  Network network;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    NetworkLayer layer;
    layer.inputs = widths[i];
    const float size = 3.0F / std::sqrt(static_cast<float>(widths[i]));
    for (int row = 0; row < widths[i + 1]; ++row) {
      for (int k = 0; k < widths[i]; ++k)
        layer.weights.push_back(number(size * scale));
      layer.bias.push_back(number(0.5F) + 0.3F);
    }
    layer.activation = activations[(i + seed) % activations.size()];
    network.layers.push_back(layer);
  }
  return network;
}

// Sums overflow to infinity, and infinities meet: some outputs are NaN.
Network overflowing_network() {
  Network network = random_network({3, 8, 8, 3}, 1, 1e38F);
  for (NetworkLayer& layer : network.layers)
    layer.activation = Activation::none;
  return network;
}

Network identity_network(int channels) {
  NetworkLayer layer{channels, {}, {}, Activation::none};
  for (int row = 0; row < channels; ++row) {
    for (int column = 0; column < channels; ++column)
      layer.weights.push_back(row == column ? 1.0F : 0.0F);
    layer.bias.push_back(0.0F);
  }
  return {{layer}};
}

// x = relu(x) - relu(-x), through 2 * channels numbers.
Network folded_identity(int channels) {
  NetworkLayer fold{channels, {}, {}, Activation::relu};
  NetworkLayer unfold{2 * channels, {}, {}, Activation::clamp};
  for (int row = 0; row < 2 * channels; ++row) {
    for (int column = 0; column < channels; ++column)
      fold.weights.push_back(row / 2 == column ? (row % 2 == 0 ? 1.0F : -1.0F) : 0.0F);
    fold.bias.push_back(0.0F);
  }
  for (int row = 0; row < channels; ++row) {
    for (int column = 0; column < 2 * channels; ++column)
      unfold.weights.push_back(column / 2 == row ? (column % 2 == 0 ? 1.0F : -1.0F) : 0.0F);
    unfold.bias.push_back(0.0F);
  }
  return {{fold, unfold}};
}

// One pixel's outputs, from the definition.
std::vector<float> outputs(const Network& network, std::vector<float> x) {
  for (const NetworkLayer& layer : network.layers) {
    std::vector<float> y;
    for (std::size_t row = 0; row < layer.bias.size(); ++row) {
      float sum = layer.bias[row];
      for (std::size_t k = 0; k < x.size(); ++k)
        sum = std::fma(layer.weights[row * x.size() + k], x[k], sum);
      if (layer.activation != Activation::none) sum = sum > 0 ? sum : 0;
      if (layer.activation == Activation::clamp) sum = sum < 1 ? sum : 1;
      y.push_back(sum);
    }
    x = y;
  }
  return x;
}

std::uint32_t sample_of(float output, std::uint32_t max) {
  const float scaled = output * static_cast<float>(max);
  if (std::isnan(scaled) || scaled <= 0) return 0;
  if (scaled >= static_cast<float>(max)) return max;
  return static_cast<std::uint32_t>(std::nearbyint(scaled));
}

Image by_definition(const Image& image, const Network& network) {
  const PixelFormat format = image.format();
  const std::uint32_t max = format.max_sample();
  const float inverse_max = 1.0F / static_cast<float>(max);
  const bool has_alpha = network.outputs() == 4 || format.has_alpha();
  Image result = poisoned_image(image.size(), {has_alpha ? 4 : 3, format.depth});
  for (const auto [x, y] : each_pixel(image.size())) {
    const std::uint32_t alpha =
        format.has_alpha() ? sample_at(image, x, y, format.channels - 1) : max;
    std::vector<float> inputs;
    for (int c = 0; c < network.inputs(); ++c) {
      const std::uint32_t sample =
          c == 3 ? alpha : sample_at(image, x, y, format.color_channels() == 1 ? 0 : c);
      inputs.push_back(static_cast<float>(sample) * inverse_max);
    }
    const std::vector<float> results = outputs(network, inputs);
    for (int c = 0; c < result.format().channels; ++c) {
      const auto i = static_cast<std::size_t>(c);
      set_sample(result, x, y, c, i < results.size() ? sample_of(results[i], max) : alpha);
    }
  }
  return result;
}

struct NetworkCase {
  const char* name;
  Network network;
  std::vector<PixelFormat> formats;
};

// Every format goes through a network, every number of inputs and outputs through a few formats.
std::vector<NetworkCase> network_cases() {
  return {{"3 to 3", random_network({3, 3}, 2), {{3, 8}, {4, 8}}},
          {"3 to 16 to 16 to 3", random_network({3, 16, 16, 3}, 3), all_formats()},
          {"3 to 256 to 3", random_network({3, 256, 3}, 4), {{3, 8}, {4, 16}}},
          {"overflowing", overflowing_network(), {{1, 8}, {3, 16}}},
          {"4 to 17 to 4", random_network({4, 17, 4}, 5), all_formats()},
          {"3 to 5 to 33 to 4", random_network({3, 5, 33, 4}, 6), {{1, 8}, {3, 16}, {4, 8}}},
          {"4 to 64 to 3", random_network({4, 64, 3}, 7), {{2, 8}, {3, 8}, {4, 16}}}};
}

std::vector<Image> random_and_extreme(ImageSize size, PixelFormat format) {
  std::vector<Image> made;
  made.push_back(random_image(size, format, 1));
  made.push_back(extreme_image(size, format, 2));
  return made;
}

TEST(MlpOnProcessor, EqualsTheDefinition) {
  for (const NetworkCase& each : network_cases()) {
    for (const auto& [format, size] :
         each_of(each.formats,
                 Sizes{{1, 1}, {2, 1}, {3, 2}, {31, 7}, {63, 1}, {64, 2}, {65, 1}, {1100, 2}})) {
      for (const Image& image : random_and_extreme(size, format)) {
        const Image expected = by_definition(image, each.network);
        SCOPED_TRACE(each.name);
        ASSERT_NO_FATAL_FAILURE(
            check_on_host(image, {make_mlp(each.network)}, expected, {1000}, RowEnds::hold));
      }
    }
  }
}

TEST(MlpOnProcessor, OverflowingNetworksGiveNanWhichBecomesZero) {
  const std::vector<float> results = outputs(overflowing_network(), {0.5F, 0.25F, 1.0F});
  EXPECT_TRUE(std::isnan(results[0]) || std::isnan(results[1]) || std::isnan(results[2]));
}

// Exact at 16 bits as well: v * (1 / 65535) * 65535 is off by less than 0.01.
TEST(MlpOnProcessor, IdentityKeepsEverySample) {
  for (const PixelFormat format : {PixelFormat{3, 8}, {4, 8}, {3, 16}, {4, 16}}) {
    const int values = static_cast<int>(format.max_sample()) + 1;
    Image image({values, 1}, format);
    for (int x = 0; x < values; ++x) {
      for (int c = 0; c < format.channels; ++c)
        set_sample(image, x, 0, c, static_cast<std::uint32_t>((x + c * 77) % values));
    }
    for (const Network& network : {identity_network(3), identity_network(format.channels),
                                   folded_identity(format.channels)}) {
      EXPECT_TRUE(same_pixels(filter_on_host(image, {make_mlp(network)}, {}), image))
          << to_string(format);
    }
  }
}

TEST(Mlp, MakesTheFormatThatItsOutputsNeed) {
  const auto output = [](int inputs, int outputs, const PixelFormat& format) {
    const auto stage = make_mlp(random_network({inputs, outputs}, 1));
    return result_of(stage, {{9, 9}, format}).format;
  };
  EXPECT_EQ(output(3, 3, {1, 8}), (PixelFormat{3, 8}));
  EXPECT_EQ(output(3, 3, {2, 16}), (PixelFormat{4, 16}));
  EXPECT_EQ(output(4, 3, {3, 8}), (PixelFormat{3, 8}));
  EXPECT_EQ(output(4, 3, {4, 8}), (PixelFormat{4, 8}));
  EXPECT_EQ(output(3, 4, {1, 16}), (PixelFormat{4, 16}));
}

TEST(Mlp, ThreeOutputsLeaveAlphaAsItIs) {
  const Image image = mixed_alpha_image({31, 33}, {2, 8}, 3);
  const Image result = filter_on_host(image, {make_mlp(random_network({4, 8, 3}, 9))}, {});
  for (const auto [x, y] : each_pixel({31, 33}))
    ASSERT_EQ(sample_at(result, x, y, 3), sample_at(image, x, y, 1));
}

TEST(MlpKernel, EqualsTheProcessor) {
  for (const NetworkCase& each : network_cases()) {
    SCOPED_TRACE(each.name);
    for (const int block : {0, 100}) {
      const auto chain = [&](Border, AlphaMode) {
        return StageChain{make_mlp(each.network, MlpBlock{block})};
      };
      ASSERT_NO_FATAL_FAILURE(expect_the_processors_bits(
          {chain}, {.formats = each.formats,
                    .sizes = {{1, 1}, {1, 40}, {40, 1}, {31, 33}, {257, 19}},
                    .pictures = random_and_extreme,
                    .bands = block == 0 ? std::vector{1, 7, 1000} : std::vector{7}}));
    }
  }
}

// A picture that does not fit in one block of the size that suits the device.
TEST(MlpKernel, EqualsTheProcessorOnALargePicture) {
  if (all_sessions().empty()) GTEST_SKIP() << "skipped: no OpenCL device here";
  const Image image = random_image({1501, 403}, {3, 8}, 5);
  const StageChain chain{make_mlp(random_network({3, 4, 3}, 8))};
  const Image expected = filter_on_host(image, chain, {});
  for (const auto& session : all_sessions()) {
    EXPECT_TRUE(same_pixels(filter_on_device(*session, image, chain, {}), expected))
        << session->device().name;
  }
}

void expect_refusal(const Network& network, const std::string& text) {
  EXPECT_EQ(objection_to([&] { return make_mlp(network); }), "network: " + text);
}

TEST(Mlp, RefusesLayersThatAreNoNetwork) {
  expect_refusal({}, "there are no layers");
  expect_refusal(random_network({2, 3}, 1),
                 "layer 1 takes 2 inputs; the first takes 3 (RGB) or 4 (RGBA)");
  expect_refusal(random_network({3, 8, 5}, 1),
                 "layer 2 gives 5 outputs; the last gives 3 (RGB) or 4 (RGBA)");
  expect_refusal(random_network({3, 257, 3}, 1),
                 "layer 1 has 3 inputs and 257 outputs; 1 to 256 are possible");
  Network network = random_network({3, 8, 3}, 1);
  network.layers[1].inputs = 6;
  network.layers[1].weights.resize(18);
  expect_refusal(network, "layer 2 takes 6 inputs, layer 1 gives 8");
  network.layers[1].inputs = 0;
  expect_refusal(network, "layer 2 has 0 inputs and 3 outputs; 1 to 256 are possible");
  network = random_network({3, 3}, 1);
  network.layers[0].weights.pop_back();
  expect_refusal(network, "layer 1 has 8 weights and 3 outputs; it takes 3 for each output");
  network = random_network({3, 3}, 1);
  network.layers[0].bias[1] = std::numeric_limits<float>::infinity();
  expect_refusal(network, "layer 1 has a weight or bias that is not finite");
}

// Network files: their contents, and that each mistake is reported with its line.

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
  return objection_to([&] { return parse_network(text, "net.json"); });
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

TEST(NetworkFile, TextThatIsNoJsonIsNamedWithItsLineAndNumbersThatAreTooLargeAreRefused) {
  expect_complaints(
      {{with("0.5,", "0.5;"), "net.json:6: this is not JSON: column "},
       {with("0.5,", "NaN,"), "net.json:6: this is not JSON: column "},
       {with("  \"layers\"", "  layers"), "net.json:4: this is not JSON: column "},
       {with("gpufilter-network-1\"", "gpufilter-network-1\n\""), "net.json:2: this is not JSON: "},
       {"", "net.json:1: this is not JSON: "},
       {std::string(good) + "x", "net.json:17: this is not JSON: "},
       {std::string(good).substr(0, 110), "net.json:6: this is not JSON: "}});
  expect_complaints(
      {{with("0.5,", "1e39,"), "net.json:6: layer 1, row 1 of weights: '1e39' is too large: "},
       {with(", -1]", ", \n-3.4028236e38\n]"),
        "net.json:8: layer 1, bias: '-3.4028236e38' is too large"},
       {with("\"relu\"", "1e400"),
        "net.json:8: layer 1: 1e400 stands where none, relu or clamp should be"},
       {with("0.5,", "1e400,"), "net.json:6: layer 1, row 1 of weights: '1e400' is too large: "}});
}

TEST(NetworkFile, WrongTypesAreNamedWithTheirLine) {
  expect_complaints(
      {{"[]", "net.json:1: an array stands where an object with format and layers should be"},
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
        "net.json:1: an array stands where an object with weights, bias and activation should "
        "be"}});
}

TEST(NetworkFile, KeysAndWordsAreChecked) {
  expect_complaints(
      {{with("gpufilter-network-1", "gpufilter-network-2"),
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
       {R"({"format": "gpufilter-network-1"})", "net.json:1: the key \"layers\" is missing"}});
}

TEST(NetworkFile, ShapesThatMakeNoNetworkAreNamed) {
  const std::string wide_row = "[" + numbers(257) + "]";
  expect_complaints(
      {{R"({"format": "gpufilter-network-1", "layers": []})", "net.json:1: there are no layers"},
       {with("0.5,", ""), "net.json:6: layer 1, row 2 of weights: 3 numbers, row 1 has 2"},
       {with("[0, 0, 1e-3]", "[]"),
        "net.json:6: layer 1, row 2 of weights: 0 numbers, row 1 has 3"},
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
       {with("[0, -1]", wide_row), "net.json:7: layer 1, bias: more than 256 numbers"}});
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
  for (std::size_t size = 0; size < text.find_last_of('}'); ++size)
    EXPECT_TRUE(network_objection(text.substr(0, size)).starts_with("net.json:")) << size;
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

TEST(NetworkFile, IsReadWhenTheStageIsMadeAndSamplesAreNetworks) {
  const TemporaryFolder folder;
  write_file(folder / "good.json", good);
  write_file(folder / "bad.json", with("relu", "tanh"));
  EXPECT_EQ(objection_to_value(mlp_stage_kind(), folder / "good.json"), "none");
  EXPECT_EQ(objection_to_value(mlp_stage_kind(), folder / "bad.json")
                .find(folder / "bad.json:8: layer 1: "),
            0U);
  EXPECT_EQ(objection_to_value(mlp_stage_kind(), folder / "none.json"),
            (folder / "none.json") + ": no such file");
  EXPECT_EQ(objection_to_value(mlp_stage_kind(), folder.path()),
            folder.path().string() + ": is a folder");
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
}  // namespace gpufilter::test
