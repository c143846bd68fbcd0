// ONNX's own test data for the operators of --net, from Debian's package libonnx-testdata: each
// case has inputs and the result.
//
// Most cases are no networks for pictures: they have other numbers of channels, inputs in place of
// weights, steps, windows without padding. Each is turned into a network with the same results
// where that is possible, and named with the reason where it is not.

#include <iostream>

#include "net/net.hpp"
#include "support/instruction_sets.hpp"
#include "support/onnx_case.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

const std::filesystem::path data_folder = "/usr/share/libonnx-testdata/data";

void expect_numbers(const OnnxCase& from, std::vector<NaivePlanes> inputs,
                    const std::vector<NaivePlanes>& expected, const Sampling& at, bool exact) {
  const NetGraph graph = NetBuilder(from.model, "case").read();
  ASSERT_EQ(inputs.size(), expected.size());
  for (size_t n = 0; n < inputs.size(); ++n) {
    with_each_instruction_set([&] {
      NaivePlanes result = run_planes(graph, inputs[n]);
      NaivePlanes wanted = expected[n];
      ASSERT_EQ(result.channels, wanted.channels);
      ASSERT_LT(at.left + (wanted.width - 1) * at.across, result.width);
      ASSERT_LT(at.top + (wanted.height - 1) * at.down, result.height);
      for (int c = 0; c < wanted.channels; ++c) {
        for (const auto [x, y] : each_pixel({wanted.width, wanted.height})) {
          const float right = wanted.at(c, x, y);
          if (std::isnan(right)) continue;  // a root of a negative number: 0 here
          const float ours = result.at(c, at.left + x * at.across, at.top + y * at.down);
          const float tolerance = exact ? 0 : 1e-5F * std::max(1.0F, std::abs(right));
          ASSERT_NEAR(ours, right, tolerance) << c << ", " << x << ", " << y;
        }
      }
    });
  }
}

// The numbers of `tensor` for each element of `shape`, as NumPy broadcasts them.
std::vector<float> spread(const OnnxTensor& tensor, const Wholes& shape) {
  std::vector<float> all;
  const auto count =
      std::accumulate(shape.begin(), shape.end(), std::int64_t{1}, std::multiplies());
  for (std::int64_t i = 0; i < count; ++i) {
    std::int64_t rest = i;
    std::int64_t at = 0;
    std::int64_t pitch = 1;
    for (size_t k = 0; k < shape.size(); ++k) {
      const std::int64_t place = rest % *(shape.rbegin() + static_cast<std::ptrdiff_t>(k));
      rest /= *(shape.rbegin() + static_cast<std::ptrdiff_t>(k));
      if (k >= tensor.dimensions.size()) continue;
      const std::int64_t size = *(tensor.dimensions.rbegin() + static_cast<std::ptrdiff_t>(k));
      at += size == 1 ? 0 : place * pitch;
      pitch *= size;
    }
    all.push_back(tensor.floats.at(static_cast<size_t>(at)));
  }
  return all;
}

NaivePlanes pixel_of(const std::vector<float>& numbers, size_t begin, size_t count) {
  NaivePlanes pixel(static_cast<int>(count), 1, 1);
  std::copy_n(numbers.begin() + static_cast<std::ptrdiff_t>(begin), count, pixel.numbers.begin());
  return pixel;
}

// Checks one pixel with a channel for each element.
void check_elements(OnnxCase from) {
  const OnnxTensor x = from.inputs.front();
  const bool binary = from.node().type != "Clip" && from.has_operand(1);
  if (x.type != OnnxType::float32 || (binary && from.operand(1).type != OnnxType::float32))
    throw DoesNotApply("its numbers are not floats");
  std::vector<float> second;
  if (binary) {
    OnnxTensor operand = from.operand(1);
    // One for each channel, in versions before broadcasting.
    if (from.node().type == "PRelu" && from.model.operator_set < 7)
      operand.dimensions.insert(operand.dimensions.end(), x.dimensions.size() - 2, 1);
    second = spread(operand, x.dimensions);
  }
  const size_t step = net_channels;
  for (size_t begin = 0; begin < x.count(); begin += step) {
    const size_t count = std::min(step, x.count() - begin);
    OnnxCase part = from;
    const auto channels = static_cast<std::int64_t>(count);
    part.keep_first_input({1, channels, 1, 1});
    if (binary) {
      const auto numbers = pixel_of(second, begin, count).numbers;
      part.model.constants[part.node().inputs[1]] = {.dimensions = {channels, 1, 1},
                                                     .floats = numbers};
    }
    expect_numbers(part, {pixel_of(x.floats, begin, count)},
                   {pixel_of(from.expected.floats, begin, count)}, {}, false);
  }
}

void check_two_values(OnnxCase from) {
  if (!from.inputs[0].is_float()) throw DoesNotApply("its numbers are not floats");
  const auto expected = planes_of(from.expected);
  if (from.node().type == "Concat") {
    const OnnxAttribute axis = *from.node().attribute("axis");
    const auto added = static_cast<std::int64_t>(4 - from.inputs[0].dimensions.size());
    from.set({.name = "axis",
              .integer = axis.integer + (axis.integer < 0 ? 0 : added),
              .text = {},
              .numbers = {},
              .tensor = {}});
  }
  std::vector<NaivePlanes> inputs = join_inputs(from);
  expect_numbers(from, std::move(inputs), expected, {}, false);
}

void check_planes(OnnxCase from) {
  const std::string type = from.node().type;
  from.keep_first_input({1, planes_of(from.inputs[0]).front().channels, -1, -1});
  QuantizedEnds quantized(from);
  if (type == "QLinearConv") {
    quantized.before(1, 2);
    quantized.after(6, 7);
  } else if (type == "ConvInteger") {
    quantized.before(0, 2);
    quantized.cast();
  } else if (type == "DequantizeLinear") {
    quantized.before(1, 2);
  } else if (type == "QuantizeLinear") {
    quantized.after(1, 2);
  }
  std::vector<NaivePlanes> inputs = planes_of(from.inputs[0]);
  Sampling at;
  if (type.find("Conv") == std::string::npos) {
    if (type == "Resize" || type == "Upsample") at = same_factors(from);
  } else if (type == "ConvTranspose") {
    enlarge_transposed(from);
  } else {
    at = keep_size(from, from.operand(type == "QLinearConv" ? 3 : 1), inputs);
  }
  const bool exact = type == "QLinearConv" || type == "ConvInteger" || type == "QuantizeLinear";
  const auto expected = planes_of(from.expected);
  quantized.finish();
  expect_numbers(from, std::move(inputs), expected, at, exact);
}

const std::set<std::string> elementwise{
    "Abs", "Add", "Clip",  "Div",        "Erf",  "Exp",     "HardSigmoid", "HardSwish", "LeakyRelu",
    "Mul", "Neg", "PRelu", "Reciprocal", "Relu", "Sigmoid", "Sqrt",        "Sub",       "Tanh"};
const std::set<std::string> others{"BatchNormalization",
                                   "Concat",
                                   "Conv",
                                   "ConvInteger",
                                   "ConvTranspose",
                                   "DepthToSpace",
                                   "DequantizeLinear",
                                   "GlobalAveragePool",
                                   "InstanceNormalization",
                                   "QLinearConv",
                                   "QuantizeLinear",
                                   "Resize",
                                   "SpaceToDepth",
                                   "Upsample"};

// What makes a case no network for pictures.
constexpr std::array<const char*, 15> reasons{
    "dimension",     "not floats",  "several scales",     "its axis is",     "square kernels",
    "differ, which", "no multiple", "only width and",     "coordinates are", "does not repeat",
    "several nodes", "a scale of",  "no simple multiple", "several results", "numbers for"};

bool is_supported(const OnnxNode& node) {
  return elementwise.contains(node.type) || others.contains(node.type) || node.type == "Constant";
}

void check_case(const OnnxCase& read, const std::string& type) {
  if (others.contains(type)) return type == "Concat" ? check_two_values(read) : check_planes(read);
  check_elements(read);
  const auto& inputs = read.inputs;
  if ((type == "Add" || type == "Sub") && inputs.size() == 2 &&
      inputs[0].dimensions == inputs[1].dimensions)
    check_two_values(read);
}

std::vector<std::filesystem::path> case_folders() {
  std::vector<std::filesystem::path> all;
  for (const char* kind : {"node", "pytorch-converted", "pytorch-operator"}) {
    for (const auto& entry : std::filesystem::directory_iterator(data_folder / kind)) {
      // Others are operators that consist of several nodes.
      if (entry.path().filename().string().find("_expanded") == std::string::npos)
        all.push_back(entry.path());
    }
  }
  std::sort(all.begin(), all.end());
  return all;
}

TEST(OnnxCases, HaveTheirResults) {
  if (!std::filesystem::exists(data_folder))
    GTEST_SKIP() << "skipped: " << data_folder << " is missing; install libonnx-testdata";
  std::map<std::string, int> applied;
  for (const std::filesystem::path& folder : case_folders()) {
    const std::string name = folder.filename().string();
    SCOPED_TRACE(name);
    try {
      const OnnxModel model = read_onnx(folder / "model.onnx");
      if (!std::all_of(model.nodes.begin(), model.nodes.end(), is_supported)) continue;
      if (model.nodes.size() != 1) throw DoesNotApply("several nodes");
      const std::string& type = model.nodes.front().type;
      if (type == "Constant") continue;
      if (model.outputs.size() != 1) throw DoesNotApply("several results");
      ASSERT_NO_FATAL_FAILURE(check_case(read_onnx_case(folder), type));
      ++applied[type];
    } catch (const std::exception& error) {
      const std::string reason = error.what();
      const bool known = std::any_of(reasons.begin(), reasons.end(), [&](const char* part) {
        return reason.find(part) != std::string::npos;
      });
      EXPECT_TRUE(known) << reason;
      std::cout << name << ": " << reason << "\n";
    }
  }
  for (const auto& types : {elementwise, others}) {
    for (const std::string& type : types) {
      EXPECT_GT(applied[type], 0) << type;
      std::cout << type << ": " << applied[type] << " cases\n";
    }
  }
}

}  // namespace
}  // namespace gpufilter::test
