// A convolutional network, checked, as --net runs it: operations on planes of values.
//
// A value has planes of single-precision numbers, one for each channel; with `scale` times the
// picture's width and height. Quantized values are bytes; the numbers below exclude the zero point,
// so that 0 means 0.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace gpufilter {

struct NetValue {
  int channels = 0;
  int scale = 1;
  // Each byte means a number from `low` to low + 255. Four channels share a 32-bit word, the first
  // in its lowest byte; bytes of missing channels are unspecified.
  bool quantized = false;
  int low = 0;

  // Planes of 32-bit words.
  [[nodiscard]] int planes() const { return quantized ? (channels + 3) / 4 : channels; }
};

enum class NetOperator {
  convolution,     // fma chains over a window, below
  activation,      // NetActivation alone
  add,             // of two values
  subtract,        // the second value from the first
  multiply,        // by `numbers`, one for each channel
  offset,          // plus `numbers`
  concat,          // the channels of all inputs, one after the other
  depth_to_space,  // channels become blocks of factor x factor pixels
  nearest,         // each pixel becomes factor x factor equal ones
  quantize,        // to whole numbers: x / numbers[0], rounded half to even, limited
  dequantize,      // times numbers[0]
};

// The activation of a convolution's result, or of a value.
struct NetActivation {
  // For x < 0: x * slopes[channel]; empty: x stays.
  std::vector<float> slopes = {};
  // Then clamps: x > low ? x : low, and then below high.
  bool limits = false;
  float low = 0;
  float high = std::numeric_limits<float>::infinity();

  [[nodiscard]] bool exists() const { return limits || !slopes.empty(); }
};

// A convolution of quantized values, whose sums are exact: they fit 32 bits.
struct NetIntegers {
  std::vector<std::int16_t> weights = {};  // in the order of those below, from -255 to 255
  std::vector<std::int32_t> bias = {};     // for each output
  // The result is float(sum + bias); with scales, that times the output's scale, limited to low and
  // high and rounded half to even.
  std::vector<float> scales = {};
  float low = 0;
  float high = 0;
  // Without scales: for each output, a factor of the result, then a number that is added; or none.
  std::vector<float> factors = {};
  std::vector<float> offsets = {};
};

struct NetOperation {
  NetOperator kind = NetOperator::convolution;
  std::string node = {};         // in the file, for messages
  std::vector<int> inputs = {};  // values
  int output = 0;                // a value

  // convolution: an output o at (x, y) begins as bias[o]; then for ky, kx and i in this order, i
  // from 0 to inputs - 1 of the output's group,
  //   acc = fma(weights[((o * kernel_height + ky) * kernel_width + kx) * inputs + i],
  //             in[i](x + kx - left, y + ky - top), acc)
  int kernel_width = 1;
  int kernel_height = 1;
  int left = 0;
  int top = 0;
  int groups = 1;
  std::vector<float> weights = {};
  std::vector<float> bias = {};
  bool integer = false;  // with `integers` instead of weights, bias and activation
  NetIntegers integers = {};

  NetActivation activation = {};
  std::vector<float> numbers = {};
  int factor = 1;
  // depth_to_space: which input becomes the pixel (dx, dy) of output c's block:
  // c * factor^2 + dy * factor + dx ("CRD", PyTorch's), or (dy * factor + dx) * outputs + c.
  bool channels_first = true;
  // quantize: the limits, without the zero point.
  float low = 0;
  float high = 0;
};

struct NetGraph {
  std::string name;                      // of the file
  std::vector<NetValue> values;          // the first is the input
  std::vector<NetOperation> operations;  // in an order in which they can be run
  int output = 0;                        // a value

  [[nodiscard]] const NetValue& result() const { return values[static_cast<std::size_t>(output)]; }
  [[nodiscard]] int channels() const { return values.front().channels; }
  [[nodiscard]] int scale() const { return result().scale; }
};

// The limits of a network.
inline constexpr int net_channels = 512;
inline constexpr int net_operations = 2048;
inline constexpr int net_scale = 8;
inline constexpr int net_kernel = 9;  // the longest side of a convolution

// Multiplications for a pixel of the network's result.
[[nodiscard]] double net_products(const NetGraph& graph);
// Weights, biases and slopes.
[[nodiscard]] std::size_t net_parameters(const NetGraph& graph);

// Reads an ONNX file. Throws UsageError "PATH: node NAME (TYPE): reason" if it is not a network
// that maps 1 or 3 channels to the same number, at 1 to net_scale times the size.
[[nodiscard]] NetGraph read_net(const std::string& path);

// Reads a network from memory; `name` replaces the path, whose folder is `folder`.
[[nodiscard]] NetGraph parse_net(const std::string& bytes, const std::string& name,
                                 const std::string& folder = {});

}  // namespace gpufilter
