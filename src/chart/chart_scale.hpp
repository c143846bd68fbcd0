// Values along an axis of a chart.
#pragma once

#include <string>
#include <vector>

namespace gpufilter::lab {

enum class Scaling { linear, logarithmic };

// The positions of values between the ends of an axis.
class Scale {
 public:
  // From `low` to `high`, which are above 0 if the scaling is logarithmic. Equal ends are moved
  // apart.
  Scale(double low, double high, Scaling scaling);

  // 0 at the low end, 1 at the high end.
  [[nodiscard]] double place(double value) const;

  struct Tick {
    double value;
    std::string label;
  };
  // Round values between the ends: about five if linear; powers of ten if logarithmic, with 2 and 5
  // between them if there are fewer than three.
  [[nodiscard]] std::vector<Tick> ticks() const;

 private:
  [[nodiscard]] std::vector<Tick> linear_ticks() const;
  [[nodiscard]] std::vector<Tick> logarithmic_ticks(const std::vector<double>& factors) const;

  double low_;
  double high_;
  Scaling scaling_;
};

// A number for people: "1200", "12.5", "0.0041".
[[nodiscard]] std::string short_number(double value);

}  // namespace gpufilter::lab
