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

#include "image/rows.hpp"
#include "stage/options/stage_file.hpp"

namespace gpufilter {

// How many positions a value has along an axis, for a picture of any length that is a multiple of
// `by`: length / by * times + more.
struct NetLength {
  int times = 1;
  int by = 1;
  int more = 0;

  [[nodiscard]] int of(int length) const { return length / by * times + more; }
  bool operator==(const NetLength&) const = default;
};

enum class NetAxis { columns, rows };

struct NetSize {
  NetLength columns;
  NetLength rows;

  NetSize(int times = 1) : columns{times}, rows{times} {}  // of the picture
  [[nodiscard]] NetLength& along(NetAxis axis) { return axis == NetAxis::rows ? rows : columns; }
  [[nodiscard]] const NetLength& along(NetAxis axis) const {
    return axis == NetAxis::rows ? rows : columns;
  }
  // Whether it is one position, however large the picture is.
  [[nodiscard]] bool is_one() const { return columns == NetLength{0, 1, 1} && rows == columns; }
  bool operator==(const NetSize&) const = default;
};

struct NetValue {
  int channels = 0;
  NetSize size = {};
  // Each byte stands for a number from `low` to low + 255. Four channels share a word of 32 bits,
  // the first in its lowest byte; those that do not exist have any bytes.
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
  concat,          // the channels of `picks`, one after the other
  depth_to_space,  // channels become blocks of factor x factor pixels
  nearest,         // each pixel becomes factor x factor equal ones
  quantize,        // to whole numbers: x / numbers[0], rounded half to even, limited
  dequantize,      // times numbers[0]
  product,         // of two values
  quotient,        // of two values
  function,        // NetFunction of each number
  space_to_depth,  // the opposite of depth_to_space
  maximum,         // of a window, as that of convolutions, without what lies outside
  pad,             // `left` and `top` more positions before, which `padding` fills
  sum_columns,     // of each row, times numbers[0] and its length's reciprocal
  sum_rows,        // of each column
  resize,          // `resize`
  attention,       // of queries, keys and values within windows, below
};

// Functions of one number: kernels/net/net_functions.cl.
enum class NetFunction { exponential, root, reciprocal, sigmoid, hyperbolic_tangent, error };

// What Pad puts around a value.
enum class NetPadding { constant, reflect, edge };

// Runs of an input's channels.
struct NetPick {
  int input = 0;  // an index of `inputs`
  int first = 0;
  int count = 0;
};

// Resize to `times / by` of the size.
struct NetResize {
  int times = 1;
  int by = 1;
  bool cubic = false;
  enum Positions { half_pixel, asymmetric, align_corners } positions = half_pixel;
  float coefficient = -0.75F;  // of a cubic
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
  //             in[i](x * stride_x + kx * dilation_x - left, y * stride_y + ky * dilation_y - top),
  //             acc)
  int kernel_width = 1;
  int kernel_height = 1;
  int left = 0;
  int top = 0;
  // Of the input: from an output to the next, and from a tap to the next.
  int stride_x = 1;
  int stride_y = 1;
  int dilation_x = 1;
  int dilation_y = 1;
  int groups = 1;
  std::vector<float> weights = {};
  std::vector<float> bias = {};
  bool integer = false;  // with `integers` instead of weights, bias and activation
  NetIntegers integers = {};

  NetActivation activation = {};
  std::vector<float> numbers = {};
  int factor = 1;
  NetFunction function = NetFunction::exponential;
  NetPadding padding = NetPadding::constant;
  std::vector<NetPick> picks = {};
  NetResize resize = {};
  // attention: each position and each of `groups` heads, whose channels follow each other. Windows
  // have factor x factor positions, the first begins at (-left, -top); what is outside of the value
  // does not count. For keys j of the window in order, and channels i of the head:
  //   score[j] = fma(query[i], key[i](j), ...) from 0, plus numbers[(head, j, place in the window)]
  //   weight[j] = e^(score[j] - the largest score)
  //   out[i] = (fma(weight[j], value[i](j), ...) from 0) / (weight[0] + weight[1] + ...)
  // depth_to_space: which input becomes the pixel (dx, dy) of output c's block:
  // c * factor^2 + dy * factor + dx ("CRD", PyTorch's), or (dy * factor + dx) * outputs + c.
  bool channels_first = true;
  // quantize: the limits, without the zero point.
  float low = 0;
  float high = 0;
};

// i / n, rounded down, for positions before 0 too.
[[nodiscard]] constexpr int floor_divide(int i, int n) {
  return i >= 0 ? i / n : -((-i + n - 1) / n);
}

// The picture is enlarged to a multiple of this by its border (a constant one mirrors it), after
// `margin` positions were put before and behind it: what windows without padding take away. The
// picture's result begins at `begin` of the network's.
struct NetFrame {
  int multiple = 1;
  int margin = 0;
  int begin = 0;

  [[nodiscard]] int length(int picture) const {
    return (picture + 2 * margin + multiple - 1) / multiple * multiple;
  }
};

// What pixels are for a network: x = (sample - mean) / deviation, of samples from 0 to 1.
struct NetConvention {
  bool blue_first = false;
  bool bytes = false;             // samples are from 0 to 255
  std::vector<float> means = {};  // one for each channel, in the network's order; none: 0
  std::vector<float> deviations = {};
};

struct NetGraph {
  std::string name;                      // of the file
  std::vector<NetValue> values;          // the first is the input
  std::vector<NetOperation> operations;  // in an order in which they can be run
  int output = 0;                        // a value
  NetFrame columns = {};
  NetFrame rows = {};
  NetConvention pixels = {};  // as the file's metadata says; not applied yet

  [[nodiscard]] const NetFrame& frame(NetAxis axis) const {
    return axis == NetAxis::rows ? rows : columns;
  }
  // Whether a number of the result depends on the whole picture.
  [[nodiscard]] bool is_whole() const;
  // The name of the first such node.
  [[nodiscard]] std::string whole_node() const;
  [[nodiscard]] const NetValue& result() const { return values[static_cast<std::size_t>(output)]; }
  [[nodiscard]] int channels() const { return values.front().channels; }
  [[nodiscard]] int scale() const { return result().size.columns.times; }
};

// The limits of a network.
inline constexpr int net_channels = 2048;
inline constexpr int net_nodes = 65536;  // of a file
inline constexpr int net_operations = 8192;
inline constexpr std::uint64_t net_file_bytes = std::uint64_t{1} << 30U;
inline constexpr int net_multiple = 256;  // what the sides of pictures are made multiples of
inline constexpr int net_scale = 8;
inline constexpr int net_kernel = 9;  // the longest side of a convolution
inline constexpr int net_side = 16;   // of the windows of attention

// A network that takes and makes plain pixels; `bytes` is left to its use.
[[nodiscard]] NetGraph with_convention(NetGraph graph, const NetConvention& convention);

// Multiplications for a pixel of the network's result.
[[nodiscard]] double net_products(const NetGraph& graph);
// Weights, biases and slopes.
[[nodiscard]] std::size_t net_parameters(const NetGraph& graph);

// Reads an ONNX file. Throws UsageError "PATH: node NAME (TYPE): reason" if it is not a network
// that maps 1 or 3 channels to the same number, at 1 to net_scale times the size.
[[nodiscard]] NetGraph read_net(const InputFile& file);

// Reads a network from memory; `name` replaces the path, whose folder is `folder`.
[[nodiscard]] NetGraph parse_net(const std::string& bytes, const std::string& name,
                                 const std::string& folder = {});

}  // namespace gpufilter
