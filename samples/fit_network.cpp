// Fits the network of samples/networks to a colour grade: fit_network FILE.
//
// The grade, "golden hour": teal shadows, warm highlights, blues towards teal, greens towards
// olive, skin left nearly as it is. What happens to a colour depends on its brightness and hue, so
// that no matrix can do it; a network with two hidden layers of 16 errs by one level of 255 on
// average.
//
// Everything is computed in double precision, in one order and from one seed, so that the file is
// the same on every machine. It takes about ten seconds.
#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <fstream>
#include <iostream>
#include <ostream>
#include <random>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

namespace {

// ---- The grade ----

using Color = std::array<double, 3>;  // red, green, blue, 0..1 as stored

double ramp(double low, double high, double x) {
  const double t = std::clamp((x - low) / (high - low), 0.0, 1.0);
  return t * t * (3 - 2 * t);
}

// `c` with a little of each of the three added.
Color shifted(const Color& c, double amount, const Color& by) {
  return {c[0] + amount * by[0], c[1] + amount * by[1], c[2] + amount * by[2]};
}

// 1 for skin and wood in any light, 0 for greys and for everything blue, green or purple.
double skin(const Color& c) {
  const auto [r, g, b] = c;
  return ramp(0.04, 0.14, r - g) * ramp(0.02, 0.10, g - b) * (1 - ramp(0.35, 0.60, r - g));
}

Color graded(const Color& c) {
  const auto [r, g, b] = c;
  const double luma = 0.2126 * r + 0.7152 * g + 0.0722 * b;
  Color out = c;
  for (double& v : out)
    v += 0.30 * (ramp(0.0, 1.0, v) - v);
  // Weights of shadows and highlights; both are 0 at black and white, which stay what they are.
  const double shadow = 6.75 * luma * (1 - luma) * (1 - luma);
  const double highlight = 6.75 * luma * luma * (1 - luma);
  out = shifted(out, shadow, {-0.09, 0.014, 0.042});
  out = shifted(out, highlight, {0.08, -0.004, -0.065});
  // What is cyan already stays so.
  const double blueness = std::max(0.0, b - 0.5 * (r + g)) * ramp(0.0, 0.3, b - g);
  out = shifted(out, blueness, {-0.10, 0.22, -0.12});
  const double greenness = std::max(0.0, g - 0.5 * (r + b));
  out = shifted(out, greenness, {0.34, -0.10, -0.08});
  const Color warmed = shifted(c, highlight, {0.03, 0.0, -0.03});
  const double kept = 0.65 * skin(c);
  for (std::size_t i = 0; i < 3; ++i)
    out[i] = std::clamp(out[i] + kept * (warmed[i] - out[i]), 0.0, 1.0);
  return out;
}

// ---- The network ----

constexpr std::size_t batch = 512;
using Lane = std::array<double, batch>;  // one number for each colour of a batch
using Lanes = std::vector<Lane>;

class Random {
 public:
  double unit() { return static_cast<double>(engine_() >> 11U) * 0x1p-53; }

  // A colour; each fourth lies near the greys, black and white included, where the eye sees most.
  Color color() {
    Color c{unit(), unit(), unit()};
    if (unit() >= 0.25) return c;
    const double grey = 1.1 * unit() - 0.05;
    for (double& v : c)
      v = std::clamp(grey + 0.15 * (v - 0.5), 0.0, 1.0);
    return c;
  }

 private:
  std::mt19937_64 engine_{20240321};
};

// How far one step goes. The averages below start from 0, which is divided out again.
struct Pace {
  double rate = 0;
  double mean_bias = 0;    // 1 - 0.9^step
  double square_bias = 0;  // 1 - 0.999^step

  void advance(double new_rate) {
    rate = new_rate;
    mean_bias += 0.1 * (1 - mean_bias);
    square_bias += 0.001 * (1 - square_bias);
  }
};

// A number that is fitted: Adam keeps averages of its gradient and of the gradient's square.
struct Parameter {
  double value = 0;
  double mean = 0;
  double square = 0;

  void learn(double gradient, const Pace& pace) {
    mean += 0.1 * (gradient - mean);
    square += 0.001 * (gradient * gradient - square);
    value -= pace.rate * (mean / pace.mean_bias) / (std::sqrt(square / pace.square_bias) + 1e-9);
  }
};

class Layer {
 public:
  Layer(std::size_t inputs, std::size_t outputs, bool relu, Random& random)
      : inputs_(inputs),
        relu_(relu),
        weights_(inputs * outputs),
        bias_(outputs),
        results_(outputs),
        gradients_(inputs) {
    for (Parameter& weight : weights_) {
      weight.value = (2 * random.unit() - 1) * std::sqrt(6.0 / static_cast<double>(inputs));
    }
    for (Parameter& bias : bias_)
      bias.value = 0.2 * (2 * random.unit() - 1);
  }

  [[nodiscard]] const Lanes& results() const { return results_; }

  const Lanes& forward(const Lanes& x) {
    for (std::size_t row = 0; row < bias_.size(); ++row) {
      Lane& sum = results_[row];
      sum.fill(bias_[row].value);
      for (std::size_t k = 0; k < inputs_; ++k) {
        const double weight = weights_[row * inputs_ + k].value;
        for (std::size_t i = 0; i < batch; ++i)
          sum[i] += weight * x[k][i];
      }
      if (!relu_) continue;
      for (double& v : sum)
        v = v > 0 ? v : 0;
    }
    return results_;
  }

  // From the error's gradient by the results of forward(x): learns, and returns that by x.
  const Lanes& backward(const Lanes& x, Lanes gradient, const Pace& pace) {
    for (Lane& lane : gradients_)
      lane.fill(0);
    for (std::size_t row = 0; row < bias_.size(); ++row) {
      Lane& by_result = gradient[row];
      double by_bias = 0;
      for (std::size_t i = 0; i < batch; ++i) {
        if (relu_ && results_[row][i] <= 0) by_result[i] = 0;
        by_bias += by_result[i];
      }
      for (std::size_t k = 0; k < inputs_; ++k) {
        Parameter& weight = weights_[row * inputs_ + k];
        double by_weight = 0;
        for (std::size_t i = 0; i < batch; ++i) {
          gradients_[k][i] += weight.value * by_result[i];
          by_weight += by_result[i] * x[k][i];
        }
        weight.learn(by_weight / batch, pace);
      }
      bias_[row].learn(by_bias / batch, pace);
    }
    return gradients_;
  }

  // Numbers of few digits, as the file has them.
  void round() {
    const auto shorten = [](Parameter& p) { p.value = std::round(p.value * 1e4) / 1e4 + 0.0; };
    std::for_each(weights_.begin(), weights_.end(), shorten);
    std::for_each(bias_.begin(), bias_.end(), shorten);
  }

  void write(std::ostream& out, const char* activation) const {
    out << "    {\n      \"weights\": [\n";
    for (std::size_t row = 0; row < bias_.size(); ++row) {
      out << "        [";
      for (std::size_t k = 0; k < inputs_; ++k)
        out << (k == 0 ? "" : ", ") << weights_[row * inputs_ + k].value;
      out << (row + 1 < bias_.size() ? "],\n" : "]\n");
    }
    out << "      ],\n      \"bias\": [";
    for (std::size_t row = 0; row < bias_.size(); ++row)
      out << (row == 0 ? "" : ", ") << bias_[row].value;
    out << "],\n      \"activation\": \"" << activation << "\"\n    }";
  }

 private:
  std::size_t inputs_;
  bool relu_;
  std::vector<Parameter> weights_;
  std::vector<Parameter> bias_;
  Lanes results_;
  Lanes gradients_;
};

class Fit {
 public:
  void run(int steps) {
    for (int step = 1; step <= steps; ++step) {
      const double left = 1 - static_cast<double>(step) / steps;
      pace_.advance(0.004 * left * left + 2e-6);
      learn();
    }
    for (Layer& layer : layers_)
      layer.round();
  }

  // The mean and the largest error over fresh colours, in levels of 255.
  std::pair<double, double> errors() {
    double sum = 0;
    double largest = 0;
    constexpr int batches = 100;
    for (int i = 0; i < batches; ++i) {
      draw();
      const Lanes& y = forward();
      for (std::size_t c = 0; c < 3; ++c) {
        for (std::size_t k = 0; k < batch; ++k) {
          const double error = 255 * std::abs(std::clamp(y[c][k], 0.0, 1.0) - targets_[c][k]);
          sum += error;
          largest = std::max(largest, error);
        }
      }
    }
    return {sum / (batches * 3.0 * batch), largest};
  }

  void write(const std::string& path) const {
    std::ofstream out(path);
    out << "{\n  \"format\": \"gpufilter-network-1\",\n"
           "  \"comment\": \"golden hour: warm highlights, teal shadows; from fit_network.cpp\",\n"
           "  \"layers\": [\n";
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      // What the last gives beyond 0..1 is cut off in any case.
      layers_[i].write(out, i + 1 < layers_.size() ? "relu" : "clamp");
      out << (i + 1 < layers_.size() ? ",\n" : "\n");
    }
    out << "  ]\n}\n";
    if (!out.flush()) throw std::runtime_error(path + ": cannot be written");
  }

 private:
  void draw() {
    for (std::size_t i = 0; i < batch; ++i) {
      const Color c = random_.color();
      const Color target = graded(c);
      for (std::size_t k = 0; k < 3; ++k) {
        inputs_[k][i] = c[k];
        targets_[k][i] = target[k];
      }
    }
  }

  const Lanes& forward() {
    const Lanes* x = &inputs_;
    for (Layer& layer : layers_)
      x = &layer.forward(*x);
    return *x;
  }

  void learn() {
    draw();
    Lanes gradient = forward();
    for (std::size_t c = 0; c < 3; ++c) {
      for (std::size_t i = 0; i < batch; ++i)
        gradient[c][i] -= targets_[c][i];
    }
    gradient = layers_[2].backward(layers_[1].results(), gradient, pace_);
    gradient = layers_[1].backward(layers_[0].results(), gradient, pace_);
    layers_[0].backward(inputs_, gradient, pace_);
  }

  Random random_;
  Pace pace_;
  std::array<Layer, 3> layers_{Layer{3, 16, true, random_}, Layer{16, 16, true, random_},
                               Layer{16, 3, false, random_}};
  Lanes inputs_ = Lanes(3);
  Lanes targets_ = Lanes(3);
};

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: fit_network FILE\n";
    return 2;
  }
  try {
    Fit fit;
    fit.run(40000);
    const auto [mean, largest] = fit.errors();
    std::cerr << "error in levels of 255: " << mean << " on average, " << largest << " at most\n";
    fit.write(argv[1]);
  } catch (const std::exception& failure) {
    std::cerr << "fit_network: " << failure.what() << '\n';
    return 1;
  }
  return 0;
}
