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

// The functions of docs/engineering/numbers.md.

float limited(float x, float low, float high) {
  return std::min(std::max(x, low), high);
}

float reciprocal(float x) {
  const float size = limited(std::abs(x), 0x1p-100F, 0x1p100F);
  float r = std::bit_cast<float>(0x7ef311c7 - std::bit_cast<std::int32_t>(size));
  for (int step = 0; step < 4; ++step)
    r = std::fma(r, std::fma(-size, r, 1.0F), r);
  return std::copysign(r, x);
}

float quotient(float a, float b) {
  const float r = reciprocal(b);
  return std::fma(std::fma(-b, a * r, a), r, a * r);
}

float root(float x) {
  if (!(x > 0x1p-100F)) return 0;
  float r = std::bit_cast<float>(0x5f3759df - (std::bit_cast<std::int32_t>(x) >> 1));
  for (int step = 0; step < 3; ++step)
    r *= std::fma(-(x / 2 * r), r, 1.5F);
  const float s = x * r;
  return std::fma(std::fma(-s, s, x), r / 2, s);
}

float exponential(float x) {
  const float number = limited(x, -87, 88);
  const float n = std::nearbyint(number * 0x1.715476p+0F);
  const float r = std::fma(n, -0x1.7f7d1cp-20F, std::fma(n, -0x1.62e4p-1F, number));
  float sum = static_cast<float>(1.0 / 5040);
  for (const int factorial : {720, 120, 24, 6, 2, 1, 1})
    sum = std::fma(sum, r, static_cast<float>(1.0 / factorial));
  return std::ldexp(sum, static_cast<int>(n));
}

float error(float x) {
  const float t = reciprocal(std::fma(0.3275911F, std::abs(x), 1.0F));
  float sum = 1.061405429F;
  for (const float next : {-1.453152027F, 1.421413741F, -0.284496736F, 0.254829592F})
    sum = std::fma(sum, t, next);
  return std::copysign(std::fma(-(sum * t), exponential(-(x * x)), 1.0F), x);
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
    if (type == "Resize" && attribute(node_, "mode", std::string("nearest")) != "nearest")
      return resized();
    if (type == "DepthToSpace" || type == "Resize") return enlarged();
    if (type == "MaxPool") return largest();
    if (type == "Pad") return padded();
    if (type == "Slice") return sliced();
    if (type == "GlobalAveragePool") return mean_of_picture();
    if (type == "ReduceMean") return mean_of_channels();
    return points();
  }

 private:
  const NaivePlanes& value(std::size_t i) const { return values_.at(node_.inputs.at(i)); }
  const SketchTensor& constant(std::size_t i) const { return sketch_.at(node_.inputs.at(i)); }
  float single(std::size_t i) const { return static_cast<float>(constant(i).numbers.at(0)); }

  std::vector<int> wholes(const std::string& name, std::vector<std::int64_t> otherwise) const {
    const auto given = attribute(node_, name, std::move(otherwise));
    return {given.begin(), given.end()};
  }

  // Positions of a result along an axis: 0 rows, 1 columns.
  int results(int length, std::size_t axis, int side) const {
    const auto pads = wholes("pads", {0, 0, 0, 0});
    const int reach = (side - 1) * wholes("dilations", {1, 1})[axis] + 1;
    return (length + pads[axis] + pads[axis + 2] - reach) / wholes("strides", {1, 1})[axis] + 1;
  }

  // The input's position for a tap of a window.
  int tap(int place, std::size_t axis, int k) const {
    return place * wholes("strides", {1, 1})[axis] + k * wholes("dilations", {1, 1})[axis] -
           wholes("pads", {0, 0, 0, 0})[axis];
  }

  NaivePlanes convolution() const {
    const NaivePlanes& x = value(0);
    const SketchTensor& w = constant(1);
    const int outputs = static_cast<int>(w.dimensions[0]);
    const int inputs = static_cast<int>(w.dimensions[1]);
    const int height = static_cast<int>(w.dimensions[2]);
    const int width = static_cast<int>(w.dimensions[3]);
    const int groups = static_cast<int>(attribute(node_, "group", std::int64_t{1}));
    NaivePlanes y(outputs, results(x.width, 1, width), results(x.height, 0, height));
    const auto steps_x = taps_of(y.width, 1, width);
    const auto steps_y = taps_of(y.height, 0, height);
    each(y, [&](int o, int px, int py) {
      const int first = o / (outputs / groups) * inputs;
      auto sum = static_cast<float>(node_.inputs.size() > 2 ? number(constant(2), index(o)) : 0);
      for (int ky = 0; ky < height; ++ky) {
        for (int kx = 0; kx < width; ++kx) {
          for (int i = 0; i < inputs; ++i) {
            const int row = (o * inputs + i) * height + ky;
            const auto weight = static_cast<float>(w.numbers.at(index(row * width + kx)));
            sum = std::fma(weight,
                           x.padded(first + i, steps_x[index(px * width + kx)],
                                    steps_y[index(py * height + ky)], border_),
                           sum);
          }
        }
      }
      return sum;
    });
    return y;
  }

  std::vector<int> taps_of(int length, std::size_t axis, int side) const {
    std::vector<int> all;
    for (int place = 0; place < length; ++place) {
      for (int k = 0; k < side; ++k)
        all.push_back(tap(place, axis, k));
    }
    return all;
  }

  // Each input in turn from the top left, if the transposed kernel brings it here.
  NaivePlanes transposed() const {
    const NaivePlanes& x = value(0);
    const SketchTensor& w = constant(1);
    const int groups = static_cast<int>(attribute(node_, "group", std::int64_t{1}));
    const int inputs = static_cast<int>(w.dimensions[0]) / groups;
    const int each_group = static_cast<int>(w.dimensions[1]);
    const int side = static_cast<int>(w.dimensions[2]);
    const int pad = wholes("pads", {0, 0, 0, 0})[0];
    const int stride = wholes("strides", {1, 1})[0];
    const int more = side - 2 * pad + wholes("output_padding", {0, 0})[0];
    NaivePlanes y(each_group * groups, stride * (x.width - 1) + more,
                  stride * (x.height - 1) + more);
    each(y, [&](int o, int px, int py) {
      auto sum = static_cast<float>(number(constant(2), index(o)));
      for (int sy = -side; sy < x.height + side; ++sy) {
        for (int sx = -side; sx < x.width + side; ++sx) {
          const int ky = py + pad - stride * sy;
          const int kx = px + pad - stride * sx;
          if (ky < 0 || ky >= side || kx < 0 || kx >= side) continue;
          for (int i = 0; i < inputs; ++i) {
            const int input = o / each_group * inputs + i;
            const auto weight = static_cast<float>(w.numbers.at(
                index(((input * each_group + o % each_group) * side + ky) * side + kx)));
            sum = std::fma(weight, x.padded(input, sx, sy, border_), sum);
          }
        }
      }
      return sum;
    });
    return y;
  }

  NaivePlanes largest() const {
    const NaivePlanes& x = value(0);
    const auto sides = wholes("kernel_shape", {});
    NaivePlanes y(x.channels, results(x.width, 1, sides[1]), results(x.height, 0, sides[0]));
    each(y, [&](int c, int px, int py) {
      float most = -std::numeric_limits<float>::infinity();
      for (int ky = 0; ky < sides[0]; ++ky) {
        for (int kx = 0; kx < sides[1]; ++kx) {
          const int sx = tap(px, 1, kx);
          const int sy = tap(py, 0, ky);
          const bool inside = sx >= 0 && sy >= 0 && sx < x.width && sy < x.height;
          if (inside || border_ != Border::constant)
            most = std::max(most, x.padded(c, sx, sy, border_));
        }
      }
      return most;
    });
    return y;
  }

  NaivePlanes padded() const {
    const NaivePlanes& x = value(0);
    const auto pad = [&](std::size_t i) { return static_cast<int>(constant(1).numbers.at(i)); };
    const std::string mode = attribute(node_, "mode", std::string("constant"));
    NaivePlanes y(x.channels, x.width + pad(3) + pad(7), x.height + pad(2) + pad(6));
    const Border border = mode == "reflect" ? Border::mirror
                          : mode == "edge"  ? Border::replicate
                                            : Border::constant;
    each(y, [&](int c, int px, int py) {
      const int sx = px - pad(3);
      const int sy = py - pad(2);
      const bool inside = sx >= 0 && sy >= 0 && sx < x.width && sy < x.height;
      return inside || border != Border::constant ? x.padded(c, sx, sy, border) : single(2);
    });
    return y;
  }

  // Of axis 1 or 3, from the beginning on.
  NaivePlanes sliced() const {
    const NaivePlanes& x = value(0);
    const int begin = static_cast<int>(constant(1).numbers.at(0));
    const int end = static_cast<int>(constant(2).numbers.at(0));
    const bool channels = constant(3).numbers.at(0) == 1;
    const int length = (channels ? x.channels : x.width) +
                       (end < 0 ? end : end - (channels ? x.channels : x.width));
    NaivePlanes y(channels ? length - begin : x.channels, channels ? x.width : length - begin,
                  x.height);
    each(y, [&](int c, int px, int py) {
      return x.padded(channels ? c + begin : c, channels ? px : px + begin, py, border_);
    });
    return y;
  }

  // 64 sums of numbers that are as far apart; then the upper half is added to the lower one.
  static float mean_of(const std::vector<float>& numbers) {
    std::vector<float> sums(64, 0.0F);
    for (std::size_t i = 0; i < numbers.size(); ++i)
      sums[i % 64] += numbers[i];
    while (sums.size() > 1) {
      const std::size_t half = sums.size() / 2;
      for (std::size_t i = 0; i < half; ++i)
        sums[i] += sums[half + i];
      sums.resize(half);
    }
    return sums[0] * static_cast<float>(1.0 / static_cast<double>(numbers.size()));
  }

  NaivePlanes mean_of_picture() const {
    NaivePlanes x = value(0);
    NaivePlanes y(x.channels, 1, 1);
    for (int c = 0; c < x.channels; ++c) {
      std::vector<float> rows;
      for (int py = 0; py < x.height; ++py) {
        std::vector<float> row;
        for (int px = 0; px < x.width; ++px)
          row.push_back(x.at(c, px, py));
        rows.push_back(mean_of(row));
      }
      y.at(c, 0, 0) = mean_of(rows);
    }
    return y;
  }

  NaivePlanes mean_of_channels() const {
    const NaivePlanes& x = value(0);
    NaivePlanes y(1, x.width, x.height);
    each(y, [&](int, int px, int py) {
      float sum = 0;
      for (int c = 0; c < x.channels; ++c)
        sum = std::fma(1.0F / static_cast<float>(x.channels), x.padded(c, px, py, border_), sum);
      return sum;
    });
    return y;
  }

  // Linear or cubic, by weights in double precision that are rounded.
  NaivePlanes resized() const {
    const NaivePlanes& x = value(0);
    const double factor = constant(2).numbers.at(3);
    const bool cubic = attribute(node_, "mode", std::string()) == "cubic";
    const bool corners =
        attribute(node_, "coordinate_transformation_mode", std::string()) == "align_corners";
    NaivePlanes y(x.channels, static_cast<int>(x.width * factor),
                  static_cast<int>(x.height * factor));
    const auto weights = [&](int i, int from, int to) {
      const double at = corners ? (to > 1 ? static_cast<double>(i) * (from - 1) / (to - 1) : 0)
                                : (i + 0.5) * (1 / factor) - 0.5;
      const double whole = std::floor(at);
      const double t = at - whole;
      std::map<int, float> result;
      const int first = static_cast<int>(whole);
      if (!cubic)
        return std::map<int, float>{{first, static_cast<float>(1 - t)},
                                    {first + 1, static_cast<float>(t)}};
      for (int k = -1; k <= 2; ++k) {
        const double d = std::abs(t - k);
        const double a = -0.75;
        const double w = d <= 1 ? ((a + 2) * d - (a + 3)) * d * d + 1
                                : ((a * d - 5 * a) * d + 8 * a) * d - 4 * a;
        result[first + k] = static_cast<float>(w);
      }
      return result;
    };
    each(y, [&](int c, int px, int py) {
      float sum = 0;
      for (const auto& [sy, wy] : weights(py, x.height, y.height)) {
        float row = 0;
        for (const auto& [sx, wx] : weights(px, x.width, y.width)) {
          const Border border = border_ == Border::wrap ? border_ : Border::replicate;
          row = std::fma(wx, x.padded(c, sx, sy, border), row);
        }
        sum = std::fma(wy, row, sum);
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
        if (fixed != nullptr) return static_cast<float>(number(*fixed, index(c)));
        const NaivePlanes& b = values_.at(name);
        const bool one = b.width == 1 && b.height == 1;
        return b.padded(b.channels == 1 ? 0 : c, one ? 0 : px, one ? 0 : py, border_);
      };
      if (type == "Relu") return std::max(a, 0.0F);
      if (type == "PRelu") return a < 0 ? a * other() : a;
      if (type == "LeakyRelu") return a < 0 ? a * attribute(node_, "alpha", 0.01F) : a;
      if (type == "Clip") return std::min(std::max(a, single(1)), single(2));
      if (type == "Add") return a + other();
      if (type == "Sub") return a - other();
      if (type == "Mul") return a * other();
      if (type == "Div") return quotient(a, other());
      if (type == "Sigmoid") return reciprocal(1 + exponential(-a));
      if (type == "Tanh") return std::fma(-2.0F, reciprocal(1 + exponential(2 * a)), 1.0F);
      if (type == "Exp") return exponential(a);
      if (type == "Sqrt") return root(a);
      if (type == "Erf") return error(a);
      if (type == "Abs") return a < 0 ? -a : a;
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

Image naive_net(const Image& image, const OnnxSketch& net, const NetUse& use, const NetFrame& frame,
                int scale) {
  const PixelFormat format = image.format();
  const auto max = static_cast<float>(format.max_sample());
  const float factor =
      use.input == NetInput::rgb255 ? (format.depth == 8 ? 1.0F : 1 / 257.0F) : 1 / max;
  const float back = use.input == NetInput::rgb255 ? (format.depth == 8 ? 1.0F : 257.0F) : max;
  NaivePlanes x(net.channels, frame.length(image.size().width), frame.length(image.size().height));
  const Border around = use.border == Border::constant ? Border::mirror : use.border;
  const auto place = [&](int i, int length) {
    return border_position(around, i - frame.margin, length);
  };
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
        x.at(c, px, py) =
            (net.channels == 1
                 ? luma(place(px, image.size().width), place(py, image.size().height))
                 : sample(place(px, image.size().width), place(py, image.size().height), c)) *
            factor;
    }
  }
  const NaivePlanes all = evaluate(net, x, use.border);
  NaivePlanes y(all.channels, scale > 0 ? image.size().width * scale : all.width,
                scale > 0 ? image.size().height * scale : all.height);
  for (int c = 0; c < y.channels; ++c) {
    for (const auto [px, py] : each_pixel({y.width, y.height}))
      y.at(c, px, py) = all.padded(c, px + frame.begin, py + frame.begin, Border::constant);
  }
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
