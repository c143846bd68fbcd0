#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <iterator>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/words.hpp"
#include "net/pixel/mlp.hpp"
#include "stage/options/stage_text.hpp"

namespace gpufilter {
namespace {

bool all_finite(const std::vector<float>& numbers) {
  return std::all_of(numbers.begin(), numbers.end(), [](float x) { return std::isfinite(x); });
}

}  // namespace

int Network::widest() const {
  int widest = inputs();
  for (const NetworkLayer& layer : layers)
    widest = std::max(widest, layer.outputs());
  return widest;
}

std::string objection_to_layer(const Network& network, std::size_t index) {
  const NetworkLayer& layer = network.layers.at(index);
  const std::size_t number = index + 1;
  const auto inputs = static_cast<std::size_t>(layer.inputs);
  const std::size_t outputs = layer.bias.size();
  if (layer.inputs < 1 || layer.inputs > network_width || outputs < 1 || outputs > network_width) {
    return formatted("layer {} has {} inputs and {} outputs; 1 to {} are possible", number,
                     layer.inputs, outputs, network_width);
  }
  if (layer.weights.size() != inputs * outputs) {
    return formatted("layer {} has {} weights and {} outputs; it takes {} for each output", number,
                     layer.weights.size(), outputs, inputs);
  }
  if (!all_finite(layer.weights) || !all_finite(layer.bias)) {
    return formatted("layer {} has a weight or bias that is not finite", number);
  }
  if (index == 0 && inputs != 3 && inputs != 4) {
    return formatted("layer 1 takes {}; the first takes 3 (RGB) or 4 (RGBA)",
                     counted(layer.inputs, "input"));
  }
  if (index > 0 && network.layers[index - 1].bias.size() != inputs) {
    return formatted("layer {} takes {}, layer {} gives {}", number, counted(layer.inputs, "input"),
                     index, network.layers[index - 1].outputs());
  }
  return {};
}

std::string objection_to_ends(const Network& network) {
  if (network.layers.empty()) return "there are no layers";
  const std::size_t outputs = network.layers.back().bias.size();
  if (outputs == 3 || outputs == 4) return {};
  return formatted("layer {} gives {}; the last gives 3 (RGB) or 4 (RGBA)", network.layers.size(),
                   counted(network.outputs(), "output"));
}

Network read_network(const InputFile& file) {
  return parse_network(read_stage_bytes(file), file.name);
}

namespace {

// The line of the last character that the parser has taken.
struct TextPosition {
  int line = 1;
  char taken = '\0';
};

// Hands the text to the parser, a character at a time, and keeps the position up to date.
class TrackedIterator {
 public:
  using iterator_category = std::input_iterator_tag;
  using value_type = char;
  using difference_type = std::ptrdiff_t;
  using pointer = const char*;
  using reference = const char&;

  TrackedIterator(TextPosition& position, const char* at) : position_(&position), at_(at) {}
  reference operator*() const { return *at_; }
  TrackedIterator& operator++() {
    if (position_->taken == '\n') ++position_->line;
    position_->taken = *at_++;
    return *this;
  }
  bool operator==(const TrackedIterator& other) const { return at_ == other.at_; }
  bool operator!=(const TrackedIterator& other) const { return at_ != other.at_; }

 private:
  TextPosition* position_;
  const char* at_;
};

using Parser = nlohmann::json;

constexpr std::string_view known_format = "gpufilter-network-1";

// The element expected next in the file.
enum class Next {
  network,
  key_of_network,
  format,
  comment,
  layers,
  layer,
  key_of_layer,
  weights,
  row,
  weight,
  bias,
  bias_number,
  activation,
  nothing
};

const char* to_string(Next next) {
  static constexpr std::array names{"an object with format and layers",
                                    "a key",
                                    "a text",
                                    "a text",
                                    "an array of layers",
                                    "an object with weights, bias and activation",
                                    "a key",
                                    "an array of rows",
                                    "an array of numbers",
                                    "a number",
                                    "an array of numbers",
                                    "a number",
                                    "none, relu or clamp",
                                    "the end"};
  return names.at(static_cast<std::size_t>(next));
}

// Takes the file piece by piece as the parser recognises it, so that every message names its line
// and only the network is held in memory.
class NetworkHandler final : public nlohmann::json_sax<Parser> {
 public:
  NetworkHandler(const std::string& name, const TextPosition& position)
      : name_(name), position_(position) {}

  [[nodiscard]] Network take() { return std::move(network_); }

  bool null() override { refuse("null"); }
  bool boolean(bool value) override { refuse(value ? "true" : "false"); }
  bool number_integer(number_integer_t value) override { return number(std::to_string(value)); }
  bool number_unsigned(number_unsigned_t value) override { return number(std::to_string(value)); }
  // nlohmann's value is a double; the weight is rounded once, from the digits.
  bool number_float(number_float_t /*value*/, const string_t& token) override {
    return number(token);
  }
  bool binary(binary_t& /*value*/) override { refuse("binary data"); }

  bool string(string_t& value) override {
    if (next_ == Next::activation) {
      layer().activation = activation(value);
      next_ = Next::key_of_layer;
      return true;
    }
    if (next_ != Next::format && next_ != Next::comment) refuse(quoted(value));
    if (next_ == Next::format && value != known_format) {
      fail(formatted("the format {} is not known; {} is", quoted(value), quoted(known_format)));
    }
    next_ = Next::key_of_network;
    return true;
  }

  bool start_object(std::size_t /*elements*/) override {
    if (next_ == Next::network) {
      next_ = Next::key_of_network;
    } else if (next_ == Next::layer) {
      network_.layers.emplace_back();
      layer_line_ = position_.line;
      row_ = 0;
      next_ = Next::key_of_layer;
    } else {
      refuse("an object");
    }
    keys_.clear();
    return true;
  }

  bool key(string_t& key) override {
    static const std::map<std::string, Next, std::less<>> of_network{
        {"format", Next::format}, {"comment", Next::comment}, {"layers", Next::layers}};
    static const std::map<std::string, Next, std::less<>> of_layer{
        {"weights", Next::weights}, {"bias", Next::bias}, {"activation", Next::activation}};
    const bool in_layer = next_ == Next::key_of_layer;
    const auto& known = in_layer ? of_layer : of_network;
    const auto found = known.find(key);
    if (found == known.end()) {
      fail(formatted("the key {} is not known; {} are", quoted(key),
                     in_layer ? "weights, bias and activation" : "format, comment and layers"));
    }
    std::set<std::string>& keys = in_layer ? keys_ : network_keys_;
    if (!keys.insert(key).second) fail(formatted("the key {} occurs twice", quoted(key)));
    next_ = found->second;
    return true;
  }

  bool end_object() override {
    if (next_ == Next::key_of_layer) {
      end_layer();
      next_ = Next::layer;
    } else {
      require(network_keys_, {"format", "layers"});
      next_ = Next::nothing;
    }
    return true;
  }

  bool start_array(std::size_t /*elements*/) override {
    switch (next_) {
      case Next::layers:
        next_ = Next::layer;
        return true;
      case Next::weights:
        next_ = Next::row;
        return true;
      case Next::row:
        ++row_;
        row_begin_ = layer().weights.size();
        next_ = Next::weight;
        return true;
      case Next::bias:
        next_ = Next::bias_number;
        return true;
      default:
        refuse("an array");
    }
  }

  bool end_array() override {
    if (next_ == Next::weight) {
      end_row();
      next_ = Next::row;
    } else if (next_ == Next::layer) {
      const std::string objection = objection_to_ends(network_);
      if (!objection.empty()) fail_at(position_.line, objection);
      next_ = Next::key_of_network;
    } else {
      next_ = Next::key_of_layer;
    }
    return true;
  }

  bool parse_error(std::size_t /*position*/, const std::string& token,
                   const Parser::exception& error) override {
    constexpr int number_overflow = 406;
    if (error.id == number_overflow) return number(token);
    const std::string text = error.what();
    const std::size_t column = text.find("column ");
    fail_at(position_.line,
            "this is not JSON: " + shown(column == std::string::npos ? text : text.substr(column)));
  }

 private:
  NetworkLayer& layer() { return network_.layers.back(); }

  static std::string quoted(std::string_view text) { return formatted("\"{}\"", shown(text)); }

  bool number(const std::string& token) {
    const bool weight = next_ == Next::weight;
    if (!weight && next_ != Next::bias_number) refuse(shown(token));
    std::vector<float>& numbers = weight ? layer().weights : layer().bias;
    numbers.push_back(parse_float(here(), token));
    if (numbers.size() - (weight ? row_begin_ : 0) > network_width) {
      fail(formatted("more than {} numbers", network_width));
    }
    return true;
  }

  [[nodiscard]] Activation activation(const std::string& name) const {
    static const std::map<std::string, Activation, std::less<>> known{
        {"none", Activation::none}, {"relu", Activation::relu}, {"clamp", Activation::clamp}};
    const auto found = known.find(name);
    if (found == known.end()) {
      fail(formatted("the activation {} is not known; none, relu and clamp are", quoted(name)));
    }
    return found->second;
  }

  void end_row() {
    const auto size = static_cast<int>(layer().weights.size() - row_begin_);
    if (row_ == 1) layer().inputs = size;
    if (size != layer().inputs) {
      fail(formatted("{}, row 1 has {}", counted(size, "number"), layer().inputs));
    }
    if (row_ > network_width) fail(formatted("more than {} rows", network_width));
  }

  void end_layer() {
    require(keys_, {"weights", "bias", "activation"});
    if (row_ != layer().outputs()) {
      fail_at(layer_line_, formatted("layer {}: {} in weights, {} in bias; both are the outputs",
                                     network_.layers.size(), counted(row_, "row"),
                                     counted(layer().outputs(), "number")));
    }
    const std::string objection = objection_to_layer(network_, network_.layers.size() - 1);
    if (!objection.empty()) fail_at(layer_line_, objection);
  }

  void require(const std::set<std::string>& keys, std::initializer_list<const char*> wanted) const {
    for (const char* key : wanted) {
      if (keys.count(key) == 0) fail(formatted("the key {} is missing", quoted(key)));
    }
  }

  // The line, and the part of the network that is being read, for messages.
  [[nodiscard]] std::string here() const {
    const std::string line = formatted("{}:{}", name_, position_.line);
    switch (next_) {
      case Next::weight:
        return formatted("{}: layer {}, row {} of weights", line, network_.layers.size(), row_);
      case Next::bias_number:
        return formatted("{}: layer {}, bias", line, network_.layers.size());
      case Next::key_of_layer:
      case Next::weights:
      case Next::row:
      case Next::bias:
      case Next::activation:
        return formatted("{}: layer {}", line, network_.layers.size());
      default:
        return line;
    }
  }

  [[noreturn]] void fail_at(int line, const std::string& reason) const {
    throw UsageError(formatted("{}:{}: {}", name_, line, reason));
  }
  [[noreturn]] void fail(const std::string& reason) const {
    throw UsageError(formatted("{}: {}", here(), reason));
  }
  [[noreturn]] void refuse(const std::string& what) const {
    fail(formatted("{} stands where {} should be", what, to_string(next_)));
  }

  const std::string& name_;
  const TextPosition& position_;
  Network network_;
  Next next_ = Next::network;
  std::set<std::string> network_keys_;
  std::set<std::string> keys_;  // of the layer being read
  int layer_line_ = 1;
  int row_ = 0;  // of the layer's weights, from 1
  std::size_t row_begin_ = 0;
};

}  // namespace

Network parse_network(std::string_view text, const std::string& name) {
  TextPosition position;
  NetworkHandler handler(name, position);
  const char* begin = text.data();
  Parser::sax_parse(TrackedIterator(position, begin),
                    TrackedIterator(position, begin + text.size()), &handler);
  return handler.take();
}

}  // namespace gpufilter
