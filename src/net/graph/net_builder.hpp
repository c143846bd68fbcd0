// An ONNX file as it is written, and how its nodes become a network, one after the other.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/graph/net_graph.hpp"

namespace gpufilter {

// ONNX's numbers for the types of a tensor's elements; others are not read.
enum class OnnxType {
  float32 = 1,
  uint8 = 2,
  int8 = 3,
  int32 = 6,
  int64 = 7,
  boolean = 9,
  float16 = 10,
  float64 = 11,
  bfloat16 = 16
};

struct OnnxTensor {
  std::string name = {};
  OnnxType type = OnnxType::float32;
  std::vector<std::int64_t> dimensions = {};  // none: a single number
  // The type decides which has the numbers: those of floats, in single precision, or others.
  std::vector<float> floats = {};
  std::vector<std::int64_t> integers = {};

  [[nodiscard]] bool is_float() const {
    return type == OnnxType::float32 || type == OnnxType::float64 || type == OnnxType::float16 ||
           type == OnnxType::bfloat16;
  }
  [[nodiscard]] std::size_t count() const { return is_float() ? floats.size() : integers.size(); }
};

struct OnnxAttribute {
  std::string name = {};
  float number = 0;
  std::int64_t integer = 0;
  std::string text;
  std::vector<float> numbers;
  std::vector<std::int64_t> integers = {};
  std::optional<OnnxTensor> tensor;
};

struct OnnxNode {
  std::string name = {};
  std::string domain;               // empty: ONNX's own operators
  std::string type;                 // "Conv"
  std::vector<std::string> inputs;  // an empty name: an optional input that is left out
  std::vector<std::string> outputs;
  std::vector<OnnxAttribute> attributes;

  [[nodiscard]] const OnnxAttribute* attribute(std::string_view wanted) const;
};

struct OnnxInput {
  std::string name = {};
  std::vector<std::int64_t> dimensions;  // -1: any
};

struct OnnxModel {
  std::int64_t operator_set = 0;
  std::vector<OnnxNode> nodes;
  std::map<std::string, OnnxTensor> constants;
  std::vector<OnnxInput> inputs;  // without those that are constants
  std::vector<std::string> outputs;
  std::map<std::string, std::string, std::less<>> metadata = {};
};

// Reads a file, and the files beside it that hold its tensors if it says so. Throws UsageError
// "PATH: reason" if it is not ONNX, damaged or larger than a network may be, or names a file
// outside its own folder.
[[nodiscard]] OnnxModel read_onnx(const InputFile& file);

// Reads a model from memory. `name` replaces the path in messages; external files are in `folder`.
[[nodiscard]] OnnxModel parse_onnx(std::string_view bytes, const std::string& name,
                                   const std::string& folder);

// Quantized integers mean (number - zero point) * scale.
struct NetQuantization {
  std::vector<float> scales;  // one, or one for each channel along the first dimension
  std::vector<int> zero_points;
  int lowest = 0;  // the type's
  int highest = 255;
};

// A factor of a dimension of a tensor: channels that are `stride` apart, or positions.
struct NetAtom {
  // Rows may be split into blocks of rows and the place in a block. `keys`: the positions of a
  // window, of NetScores.
  enum Kind { channels, rows, columns, row_of_block, column_of_block, keys } kind = channels;
  std::int64_t size = 1;
  std::int64_t stride = 1;
  // For rows and columns, after a roll: the position of the value that comes first.
  std::int64_t rolled = 0;
  bool operator==(const NetAtom&) const = default;
};

// How a tensor's dimensions show a value. Each is a product of factors, the outermost first.
using NetView = std::vector<std::vector<NetAtom>>;

// Products of queries and keys within windows, for each head, as far as they are read: the
// operation is added when they meet the values.
struct NetScores {
  int queries = 0;  // values, whose channels are those of the first head, then of the next
  int keys = 0;
  int heads = 1;
  int side = 1;
  std::vector<float> bias = {};  // for each head, key and query; empty: 0
  bool masked = false;           // where windows of a rolled value join its edges
  bool normalized = false;       // by Softmax
};

// How far apart the elements of a tensor are that is combined with scores.
struct NetScorePitches {
  std::int64_t side = 1;
  std::int64_t rows = 0;  // of windows
  std::int64_t columns = 0;
  std::int64_t heads = 0;
  std::int64_t query_rows = 0;
  std::int64_t query_columns = 0;
  std::int64_t keys = 0;

  [[nodiscard]] std::int64_t& of(NetAtom::Kind kind) {
    switch (kind) {
      case NetAtom::rows:
        return rows;
      case NetAtom::columns:
        return columns;
      case NetAtom::channels:
        return heads;
      case NetAtom::row_of_block:
        return query_rows;
      case NetAtom::column_of_block:
        return query_columns;
      default:
        return keys;
    }
  }
  [[nodiscard]] bool differ_in_windows() const {
    return rows + columns + query_rows + query_columns + keys != 0;
  }
  [[nodiscard]] bool differ_everywhere() const {
    return heads == 0 && rows * columns * query_rows * query_columns * keys != 0;
  }
  // In the first window.
  [[nodiscard]] std::size_t place(std::int64_t head, std::int64_t key, std::int64_t query) const {
    return static_cast<std::size_t>(head * heads + key * keys + query / side * query_rows +
                                    query % side * query_columns);
  }
};

// A run of the positions along a dimension, which a Concat joins with the others.
struct NetPart {
  std::size_t axis = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;
};

// What a name of the file stands for.
struct NetName {
  std::optional<int> value = std::nullopt;     // a plane value
  std::optional<NetView> view = std::nullopt;  // of the value; none: N, channels, rows, columns
  std::optional<OnnxTensor> constant = std::nullopt;  // numbers of the file
  std::optional<NetPart> part = std::nullopt;         // of the value as it is seen
  std::optional<NetScores> scores = std::nullopt;     // the view is theirs
  std::vector<NetName> sequence = {};                 // of SplitToSequence
  // Where the name is the result of DequantizeLinear: what is quantized, and how.
  std::optional<int> quantized_value = std::nullopt;
  std::optional<OnnxTensor> quantized_constant = std::nullopt;
  // How it is quantized, or was before DequantizeLinear.
  std::optional<NetQuantization> quantization = std::nullopt;
  // The operation that makes it; -1: none.
  int operation = -1;
};

class NetBuilder {
 public:
  NetBuilder(const OnnxModel& model, const std::string& file);

  // A network that maps 1 or 3 channels to the same number.
  [[nodiscard]] NetGraph build();
  // The network for any numbers of channels, also one that is not for pictures.
  [[nodiscard]] NetGraph read();

 private:
  using Read = void (NetBuilder::*)();
  static const std::map<std::string, Read, std::less<>>& readers();
  using Operands = std::vector<const OnnxTensor*>;
  using Fold = OnnxTensor (NetBuilder::*)(const Operands&) const;
  static const std::map<std::string, Fold, std::less<>>& folders();
  static constexpr std::size_t net_rank = 8;  // dimensions of a shape

  // About the node being read. `fail` names the file and the node.
  [[noreturn]] void fail(const std::string& reason) const;
  [[noreturn]] void fail_file(const std::string& reason) const;
  [[noreturn]] void fail_input(const std::string& channels) const;
  [[nodiscard]] std::string node_name() const;
  [[nodiscard]] bool has_input(std::size_t index) const;
  [[nodiscard]] const NetName& input(std::size_t index) const;
  // A float value as planes; its channels are put into the order that the file sees.
  [[nodiscard]] int value(std::size_t index);
  // The same as it is, with the view of its name.
  [[nodiscard]] int seen_value(std::size_t index) const;
  [[nodiscard]] const OnnxTensor& constant(std::size_t index, const char* what) const;
  [[nodiscard]] float number(std::size_t index, const char* what) const;
  [[nodiscard]] std::vector<std::int64_t> whole_numbers(std::size_t index, const char* what) const;
  // A number for each channel of input `index`, as NumPy broadcasts.
  [[nodiscard]] std::vector<float> for_each_channel(const OnnxTensor& tensor,
                                                    std::size_t index) const;
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view attribute,
                                                   std::vector<std::int64_t> otherwise) const;
  [[nodiscard]] std::int64_t integer(std::string_view attribute, std::int64_t otherwise) const;
  [[nodiscard]] std::string text(std::string_view attribute, const char* otherwise) const;
  [[nodiscard]] const NetValue& shape(int value) const;
  [[nodiscard]] int uses(const std::string& name) const;

  [[nodiscard]] NetView view_of(const NetName& name) const;
  [[nodiscard]] std::vector<std::int64_t> dimensions_of(const NetName& name) const;
  // The dimension that has all channels in order; -1: none.
  [[nodiscard]] int channel_dimension(const NetName& name) const;
  [[nodiscard]] std::size_t axis_of(std::int64_t axis, std::size_t rank) const;
  [[nodiscard]] int arranged(const NetName& name);
  // Reads the node if all its inputs are constants and it is an operator on these.
  [[nodiscard]] bool fold_constants();
  struct Broadcast {
    std::vector<std::int64_t> sizes = {};
    std::vector<std::vector<std::size_t>> places = {};  // of each tensor
  };
  [[nodiscard]] Broadcast broadcast(const Operands& tensors, std::vector<std::int64_t> sizes) const;
  [[nodiscard]] std::vector<std::int64_t> foldable(std::vector<std::int64_t> sizes) const;
  [[nodiscard]] std::size_t place_in(std::int64_t index, std::int64_t size) const;
  [[nodiscard]] std::pair<std::vector<std::size_t>, std::size_t> runs_at(
      const OnnxTensor& indices, const std::vector<std::int64_t>& sizes) const;
  [[nodiscard]] OnnxTensor fold_same(const Operands& operands) const;
  [[nodiscard]] OnnxTensor fold_each(const Operands& operands) const;
  [[nodiscard]] OnnxTensor fold_cast(const Operands& operands) const;
  [[nodiscard]] OnnxTensor fold_pair(const Operands& operands) const;
  [[nodiscard]] OnnxTensor combined(const OnnxTensor& a, const OnnxTensor& b) const;
  [[nodiscard]] OnnxTensor fold_where(const Operands& operands) const;
  [[nodiscard]] OnnxTensor fold_expanded(const Operands& operands) const;
  [[nodiscard]] OnnxTensor fold_filled(const Operands& operands) const;
  [[nodiscard]] OnnxTensor fold_range(const Operands& operands) const;
  [[nodiscard]] OnnxTensor fold_concat(const Operands& operands) const;
  [[nodiscard]] OnnxTensor fold_gathered(const Operands& operands) const;
  [[nodiscard]] OnnxTensor fold_gathered_places(const Operands& operands) const;
  [[nodiscard]] OnnxTensor fold_scattered(const Operands& operands) const;
  [[nodiscard]] OnnxTensor fold_slice(const Operands& operands) const;
  [[nodiscard]] OnnxTensor fold_transposed(const Operands& operands) const;
  [[nodiscard]] std::vector<std::int64_t> new_sizes(const std::vector<std::int64_t>& sizes) const;
  [[nodiscard]] std::vector<std::size_t> new_order(std::size_t rank) const;
  [[nodiscard]] NetView reshaped(const NetView& view, const std::vector<std::int64_t>& sizes) const;
  // Blocks of pixels that are apart become channels.
  void separate_blocks(int& value, NetView& view);
  // The value with its channels in the order in which the view shows them.
  [[nodiscard]] int in_order(int value, NetView& view);
  void take(int& value, NetView& view, std::size_t axis, const std::vector<std::int64_t>& indices);
  void take_part(int& value, NetView& view, std::size_t axis,
                 const std::vector<std::int64_t>& indices);
  [[nodiscard]] bool is_rolled_part(std::size_t axis, std::size_t rank) const;
  void define_view(int source, NetView view);
  // Blocks of factor x factor pixels become channels, and back.
  int reduced_size(int source, std::int64_t factor);
  int enlarged_size(int source, std::int64_t factor, bool channels_first);
  struct SliceRange {
    std::int64_t axis = 0;
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::int64_t step = 1;
  };
  [[nodiscard]] std::vector<SliceRange> slices_of(const std::vector<std::int64_t>& sizes) const;
  int padded(int source, NetAxis axis, std::int64_t before, std::int64_t after, NetPadding padding,
             float number);
  void define_like(std::size_t like, int value);

  int add_value(NetValue value);
  // Adds an operation whose result is no node's.
  int add_between(NetOperation operation, NetValue shape);
  // Adds the operation; its result is seen as input `like`.
  void add_like(std::size_t like, NetOperation operation, NetValue shape);
  int add_point(NetOperator kind, int a, int b);
  int add_scaled(NetOperator kind, int a, std::vector<float> numbers);
  int add_function(NetFunction function, int a);
  int pick_channels(int source, const std::vector<std::int64_t>& channels);
  int mean_of_picture(int source);
  int mean_of_channels(int source);
  // The same for all channels of a group.
  int mean_of_groups(int source, int groups);
  using Mean = std::function<int(int)>;
  // (x - mean) / sqrt(mean of squares of that + epsilon)
  int normalized(int source, const Mean& mean, float epsilon);
  [[nodiscard]] int groups_of(const NetView& view, int channels) const;
  // Adds the operation, whose output becomes a value of this shape and the node's result.
  NetName& add(NetOperation operation, NetValue shape);
  NetName& define(std::size_t output, NetName name);
  void require_finite(const OnnxTensor& tensor) const;
  [[nodiscard]] std::vector<bool> needed_nodes() const;
  void refuse_unknown(const std::vector<bool>& needed);
  void open_input();
  void forget(const std::string& name);
  void read_metadata();
  [[nodiscard]] std::vector<float> metadata_numbers(const char* key, float otherwise) const;

  // The operators.
  void refuse_values();
  void read_constant();
  void read_identity();
  void read_function();
  void read_gelu();
  void read_power();
  void read_pair();
  void read_batch_normalization();
  void read_normalization();
  void read_shape();
  void read_reshape();
  void read_transpose();
  void read_slice();
  void read_split();
  void read_gather();
  void read_space_to_depth();
  void read_pad();
  void read_pool();
  void read_mean();
  void read_matrix_product();
  void read_activation();
  void read_clip();
  void read_limit();
  void read_concat();
  void read_softmax();
  void read_element();
  [[nodiscard]] bool join_rolled();
  // Window attention: a node that reads its scores.
  [[nodiscard]] bool read_scores();
  void read_window_product();
  void read_window_sum(const NetName& name);
  void combine_scores(NetName& name, const OnnxTensor& numbers);
  [[nodiscard]] NetScorePitches score_pitches(const NetView& view, const OnnxTensor& numbers,
                                              int side) const;
  void scale_scores(NetScores& scores, const OnnxTensor& numbers, const NetScorePitches& pitch);
  void bias_scores(NetScores& scores, const OnnxTensor& numbers,
                   const NetScorePitches& pitch) const;
  void mask_scores(const NetName& name, const OnnxTensor& numbers,
                   const NetScorePitches& pitch) const;
  void read_depth_to_space();
  void read_resize();
  void read_convolution();
  void read_transposed();
  void read_cast();
  void read_quantize();
  void read_dequantize();
  void read_linear_convolution();
  void read_integer_convolution();

  [[nodiscard]] const NetName& quantized_input() const;
  void add_with_constant();
  // The window of a ConvTranspose: input q brings tap k to the pixel stride * q + k - pad.
  struct TransposedWindow {
    int side;
    int stride;
    int pad;
    int added;  // positions at the end

    // From the block of a pixel, the first and the last block that reach it.
    [[nodiscard]] int first() const { return -((side - 1 - pad) / stride); }
    [[nodiscard]] int last() const { return (stride - 1 + pad) / stride; }
    // The tap that brings the block at `distance` from the first one to the pixel `place`.
    [[nodiscard]] int tap(int place, int distance) const {
      return place + pad - stride * (first() + distance);
    }
  };
  void add_transposed(int source, const OnnxTensor& weights, const TransposedWindow& window);
  [[nodiscard]] NetResize resize_factor(std::size_t axis);
  [[nodiscard]] NetSize resized(NetSize size, const NetResize& by) const;
  void resize_smoothly(int source, const NetResize& resize);
  // Sets kernel, padding and steps; returns the result's size.
  NetSize set_steps(NetOperation& operation, const NetSize& from) const;
  NetSize set_window(NetOperation& operation, const OnnxTensor& weights,
                     const NetValue& from) const;
  void set_frame(NetAxis axis);
  [[nodiscard]] NetQuantization quantization(std::size_t scale, std::size_t zero_point) const;
  [[nodiscard]] std::vector<int> zero_points(std::size_t index, int& lowest, int& highest) const;
  // The convolution of quantized values behind a Conv between DequantizeLinear and QuantizeLinear.
  [[nodiscard]] std::optional<NetOperation> quantized_convolution(const NetName& source,
                                                                  const NetQuantization& to);
  // Returns the result's size.
  NetSize set_integer_weights(NetOperation& operation, const OnnxTensor& weights,
                              const std::vector<int>& zero_points) const;
  void set_scales(NetOperation& operation, const NetQuantization& from,
                  const std::vector<float>& weight_scales, const NetQuantization& to) const;
  [[nodiscard]] std::vector<std::int32_t> integer_bias(const OnnxTensor* bias, int outputs) const;

  const OnnxModel& model_;
  const std::string& file_;
  const OnnxNode* node_ = nullptr;
  std::map<std::string, NetName, std::less<>> names_;
  std::map<std::string, int, std::less<>> uses_;
  std::map<std::string, const OnnxNode*, std::less<>> readers_of_;  // the last one
  NetGraph graph_;
  // The picture's size in shapes that the file computes: its own, or one with many divisors.
  std::int64_t rows_ = 6720;
  std::int64_t columns_ = 13440;
};

}  // namespace gpufilter
