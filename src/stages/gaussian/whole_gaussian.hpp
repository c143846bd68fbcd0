// A Gaussian whose two directions are one step.
#pragma once

#include <string>
#include <utility>

#include "stage/step.hpp"
#include "stages/gaussian/gaussian_rows.hpp"

namespace gpufilter {

class WholeGaussian : public Step {
 public:
  // `stage` is the name in reports.
  WholeGaussian(std::string stage, GaussianWindow window, std::string label)
      : stage_(std::move(stage)), window_(std::move(window)), label_(std::move(label)) {}

  [[nodiscard]] StepTitle title() const final { return {stage_, label_}; }
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const final {
    return border_rows(window_.border, target, window_.radius(), source.height);
  }

 protected:
  [[nodiscard]] const GaussianWindow& window() const { return window_; }

 private:
  std::string stage_;
  GaussianWindow window_;
  std::string label_;
};

}  // namespace gpufilter
