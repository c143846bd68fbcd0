#include "support/naive_net.hpp"

namespace gpufilter::test {
namespace {

using PlanesByName = std::map<std::string, NaivePlanes>;

template <typename Value>
Value attribute(const SketchNode& node, const std::string& name, Value otherwise) {
  const auto found = node.attributes.find(name);
  return found == node.attributes.end() ? otherwise : std::get<Value>(found->second);
}

double number(const SketchTensor& tensor, std::size_t i) {
  return tensor.numbers.at(tensor.numbers.size() == 1 ? 0 : i);
}

// What one node computes.
class Node {
 public:
  Node(const OnnxSketch& sketch, const SketchNode& node, const PlanesByName& values, Border border)
      : sketch_(sketch), node_(node), values_(values), border_(border) {}

  NaivePlanes result() {
    const std::string& type = node_.type;
    if (type == "Conv") return convolution();
    if (type == "ConvTranspose") return transposed();
    if (type == "QLinearConv") return linear_convolution();
    if (type == "ConvInteger") return integer_convolution();
    if (type == "Cast") return value(0);
    if (type == "Concat") return concatenation();
    if (type == "DepthToSpace" || type == "Resize") return enlarged();
    return points();
  }

 private:
  const NaivePlanes& value(std::size_t i) const { return values_.at(node_.inputs.at(i)); }
  const SketchTensor& constant(std::size_t i) const { return sketch_.at(node_.inputs.at(i)); }
  float single(std::size_t i) const { return static_cast<float>(constant(i).numbers.at(0)); }

  NaivePlanes convolution() const {
    const NaivePlanes& x = value(0);
    const SketchTensor& w = constant(1);
    const int outputs = static_cast<int>(w.dimensions[0]);
    const int inputs = static_cast<int>(w.dimensions[1]);
    const int height = static_cast<int>(w.dimensions[2]);
    const int width = static_cast<int>(w.dimensions[3]);
    const auto pads = attribute(node_, "pads", std::vector<std::int64_t>{});
    const int top = static_cast<int>(pads.at(0));
    const int left = static_cast<int>(pads.at(1));
    const int groups = static_cast<int>(attribute(node_, "group", std::int64_t{1}));
    NaivePlanes y(outputs, x.width, x.height);
    each(y, [&](int o, int px, int py) {
      const int first = o / (outputs / groups) * inputs;
      auto sum = static_cast<float>(node_.inputs.size() > 2 ? number(constant(2), index(o)) : 0);
      for (int ky = 0; ky < height; ++ky) {
        for (int kx = 0; kx < width; ++kx) {
          for (int i = 0; i < inputs; ++i) {
            const int row = (o * inputs + i) * height + ky;
            const auto weight = static_cast<float>(w.numbers.at(index(row * width + kx)));
            sum =
                std::fma(weight, x.padded(first + i, px + kx - left, py + ky - top, border_), sum);
          }
        }
      }
      return sum;
    });
    return y;
  }

  // Each input in turn from the top left, if the transposed kernel brings it here.
  NaivePlanes transposed() const {
    const NaivePlanes& x = value(0);
    const SketchTensor& w = constant(1);
    const int inputs = static_cast<int>(w.dimensions[0]);
    const int outputs = static_cast<int>(w.dimensions[1]);
    const int side = static_cast<int>(w.dimensions[2]);
    const int pad = side == 4 ? 1 : 0;
    NaivePlanes y(outputs, 2 * x.width, 2 * x.height);
    each(y, [&](int o, int px, int py) {
      auto sum = static_cast<float>(number(constant(2), index(o)));
      for (int sy = -2; sy < x.height + 2; ++sy) {
        for (int sx = -2; sx < x.width + 2; ++sx) {
          const int ky = py + pad - 2 * sy;
          const int kx = px + pad - 2 * sx;
          if (ky < 0 || ky >= side || kx < 0 || kx >= side) continue;
          for (int i = 0; i < inputs; ++i) {
            const auto weight = static_cast<float>(
                w.numbers.at(index(((i * outputs + o) * side + ky) * side + kx)));
            sum = std::fma(weight, x.padded(i, sx, sy, border_), sum);
          }
        }
      }
      return sum;
    });
    return y;
  }

  // The exact sum for an output of a convolution of whole numbers, whose inputs are in this order
  // in the node: x and its zero point, weights and theirs.
  std::int64_t exact_sum(int o, int px, int py, const std::array<std::size_t, 4>& places) const {
    const NaivePlanes& x = value(places[0]);
    const auto zero_of_x = static_cast<std::int64_t>(constant(places[1]).numbers.at(0));
    const SketchTensor& w = constant(places[2]);
    const auto zero_of_w = static_cast<std::int64_t>(number(constant(places[3]), index(o)));
    const int outputs = static_cast<int>(w.dimensions[0]);
    const int inputs = static_cast<int>(w.dimensions[1]);
    const int side = static_cast<int>(w.dimensions[2]);
    const int groups = static_cast<int>(attribute(node_, "group", std::int64_t{1}));
    const int first = o / (outputs / groups) * inputs;
    std::int64_t sum = 0;
    for (int i = 0; i < inputs; ++i) {
      for (int ky = 0; ky < side; ++ky) {
        for (int kx = 0; kx < side; ++kx) {
          const auto weight = static_cast<std::int64_t>(
              w.numbers.at(index(((o * inputs + i) * side + ky) * side + kx)));
          const auto sample = static_cast<std::int64_t>(
              x.padded(first + i, px + kx - side / 2, py + ky - side / 2, border_));
          sum += (weight - zero_of_w) * (sample - zero_of_x);
        }
      }
    }
    return sum;
  }

  NaivePlanes linear_convolution() const {
    const NaivePlanes& x = value(0);
    NaivePlanes y(static_cast<int>(constant(3).dimensions[0]), x.width, x.height);
    y.outside = single(7);
    each(y, [&](int o, int px, int py) {
      const double bias = node_.inputs.size() > 8 ? number(constant(8), index(o)) : 0;
      const std::int64_t sum = exact_sum(o, px, py, {0, 2, 3, 5}) + static_cast<std::int64_t>(bias);
      const float scale = single(1) * static_cast<float>(number(constant(4), index(o))) / single(6);
      return quantized(static_cast<float>(sum) * scale, constant(7));
    });
    return y;
  }

  NaivePlanes integer_convolution() const {
    const NaivePlanes& x = value(0);
    NaivePlanes y(static_cast<int>(constant(1).dimensions[0]), x.width, x.height);
    each(y, [&](int o, int px, int py) {
      return static_cast<float>(exact_sum(o, px, py, {0, 2, 1, 3}));
    });
    return y;
  }

  // Rounded before the zero point is added, as onnxruntime does.
  static float quantized(float number, const SketchTensor& zero) {
    const double zero_point = zero.numbers.at(0);
    const double low = zero.type == 3 ? -128 : 0;
    const double rounded = std::nearbyint(static_cast<double>(number));
    return static_cast<float>(std::clamp(rounded + zero_point, low, low + 255));
  }

  NaivePlanes concatenation() const {
    NaivePlanes y = value(0);
    for (std::size_t i = 1; i < node_.inputs.size(); ++i) {
      const NaivePlanes& more = value(i);
      y.channels += more.channels;
      y.numbers.insert(y.numbers.end(), more.numbers.begin(), more.numbers.end());
    }
    return y;
  }

  NaivePlanes enlarged() const {
    const NaivePlanes& x = value(0);
    const bool shuffle = node_.type == "DepthToSpace";
    const int factor = shuffle ? static_cast<int>(attribute(node_, "blocksize", std::int64_t{1}))
                               : static_cast<int>(constant(2).numbers.at(3));
    const bool crd = attribute(node_, "mode", std::string("DCR")) == "CRD";
    const int channels = shuffle ? x.channels / (factor * factor) : x.channels;
    NaivePlanes y(channels, x.width * factor, x.height * factor);
    each(y, [&](int c, int px, int py) {
      const int place = py % factor * factor + px % factor;
      const int from = !shuffle ? c : (crd ? c * factor * factor + place : place * channels + c);
      return x.padded(from, px / factor, py / factor, border_);
    });
    return y;
  }

  // A number from the numbers at the same place.
  NaivePlanes points() const {
    const std::string& type = node_.type;
    const bool first_constant = sketch_.tensor(node_.inputs[0]) != nullptr;
    const NaivePlanes& x = value(first_constant ? 1 : 0);
    NaivePlanes y(x.channels, x.width, x.height);
    if (type == "QuantizeLinear") y.outside = single(2);
    each(y, [&](int c, int px, int py) {
      const float a = x.padded(c, px, py, border_);
      const auto other = [&] {
        const std::string& name = node_.inputs[first_constant ? 0 : 1];
        const SketchTensor* fixed = sketch_.tensor(name);
        return fixed != nullptr ? static_cast<float>(number(*fixed, index(c)))
                                : values_.at(name).padded(c, px, py, border_);
      };
      if (type == "Relu") return std::max(a, 0.0F);
      if (type == "PRelu") return a < 0 ? a * other() : a;
      if (type == "LeakyRelu") return a < 0 ? a * attribute(node_, "alpha", 0.01F) : a;
      if (type == "Clip") return std::min(std::max(a, single(1)), single(2));
      if (type == "Add") return a + other();
      if (type == "Sub") return a - other();
      if (type == "Mul") return a * other();
      if (type == "QuantizeLinear") return quantized(a / single(1), constant(2));
      if (type == "DequantizeLinear") return (a - single(2)) * single(1);
      throw std::invalid_argument(type);
    });
    return y;
  }

  static std::size_t index(int i) { return static_cast<std::size_t>(i); }

  template <typename Compute>
  static void each(NaivePlanes& planes, const Compute& compute) {
    for (int c = 0; c < planes.channels; ++c) {
      for (const auto [x, y] : each_pixel({planes.width, planes.height}))
        planes.at(c, x, y) = compute(c, x, y);
    }
  }

  const OnnxSketch& sketch_;
  const SketchNode& node_;
  const PlanesByName& values_;
  Border border_;
};

}  // namespace

float NaivePlanes::padded(int c, int x, int y, Border border) const {
  const int px = border_position(border, x, width);
  const int py = border_position(border, y, height);
  if (px < 0 || py < 0) return outside;
  return const_cast<NaivePlanes*>(this)->at(c, px, py);
}

NaivePlanes evaluate(const OnnxSketch& sketch, const NaivePlanes& x, Border border) {
  PlanesByName values{{"x", x}};
  for (const SketchNode& node : sketch.nodes)
    values[node.output] = Node(sketch, node, values, border).result();
  return values.at("y");
}

Image naive_net(const Image& image, const OnnxSketch& net, const NetUse& use) {
  const PixelFormat format = image.format();
  const auto max = static_cast<float>(format.max_sample());
  const float factor =
      use.input == NetInput::rgb255 ? (format.depth == 8 ? 1.0F : 1 / 257.0F) : 1 / max;
  const float back = use.input == NetInput::rgb255 ? (format.depth == 8 ? 1.0F : 257.0F) : max;
  NaivePlanes x(net.channels, image.size().width, image.size().height);
  const auto sample = [&](int px, int py, int c) {
    return static_cast<float>(sample_at(image, px, py, format.color_channels() == 1 ? 0 : c));
  };
  const auto luma = [&](int px, int py) {
    if (format.color_channels() == 1) return sample(px, py, 0);
    return std::fma(0.114F, sample(px, py, 2),
                    std::fma(0.587F, sample(px, py, 1), 0.299F * sample(px, py, 0)));
  };
  for (int c = 0; c < net.channels; ++c) {
    for (int py = 0; py < x.height; ++py) {
      for (int px = 0; px < x.width; ++px)
        x.at(c, px, py) = (net.channels == 1 ? luma(px, py) : sample(px, py, c)) * factor;
    }
  }
  NaivePlanes y = evaluate(net, x, use.border);
  const bool follows = net.channels == 1;
  const int colors = follows ? format.color_channels() : 3;
  Image result = poisoned_image(ImageSize{y.width, y.height},
                                {colors + (format.has_alpha() ? 1 : 0), format.depth});
  for (int py = 0; py < y.height; ++py) {
    for (int px = 0; px < y.width; ++px) {
      for (int c = 0; c < colors; ++c) {
        float number = y.at(follows ? 0 : c, px, py) * back;
        if (follows && colors == 3) {
          number = std::fma(use.strength, std::fma(y.at(0, px, py), back, -luma(px, py)),
                            sample(px, py, c));
        } else if (use.strength != 1) {
          number = std::fma(use.strength, number - sample(px, py, c), sample(px, py, c));
        }
        const float limited = number > 0 ? std::min(number, max) : 0;
        set_sample(result, px, py, c, static_cast<std::uint32_t>(std::nearbyint(limited)));
      }
      if (format.has_alpha()) {
        set_sample(result, px, py, colors, sample_at(image, px, py, format.channels - 1));
      }
    }
  }
  return result;
}

}  // namespace gpufilter::test
