// Stages that compute each pixel by an expression (docs/stages/pixel.md).
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "stage/stage.hpp"

namespace gpufilter {

struct PixelExpression {
  // As in Stage.
  std::string name;
  std::string label;
  std::string key;
  std::string text;
  std::function<StageCost(const PixelFormat&)> cost = nullptr;  // nullptr: by its operations
  bool as_stored = false;                                       // as in PixelContext
  // PixelContext::factors for pictures of a depth; called at most twice for each.
  std::function<std::vector<float>(const PixelFormat&)> factors = nullptr;
};

// The text has to be valid.
[[nodiscard]] std::shared_ptr<const OneStepStage> make_expression(PixelExpression expression);

}  // namespace gpufilter
