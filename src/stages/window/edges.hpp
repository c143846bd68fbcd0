// --edges: how much neighbours differ, by Sobel, Scharr or Laplace.
#pragma once

#include "stage/border.hpp"
#include "stage/options/catalogue.hpp"

namespace gpufilter {

// The numbers are those of kernels/window/edges.cl.
enum class EdgeOperator { sobel = 0, scharr = 1, laplacian = 2 };

struct EdgesParameters {
  EdgeOperator by = EdgeOperator::sobel;
  Border border = Border::replicate;
  AlphaMode alpha = AlphaMode::weighted;
};

[[nodiscard]] std::shared_ptr<const Stage> make_edges(const EdgesParameters& parameters);

}  // namespace gpufilter
