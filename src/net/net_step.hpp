// --net for pictures of one shape.
#pragma once

#include <memory>

#include "net/graph/net_graph.hpp"
#include "net/net_pixels.hpp"
#include "stage/step.hpp"
#include "stages/resize/resize_taps.hpp"

namespace gpufilter {

// What the result needs of the picture besides the network: its colours or its alpha, at the
// result's size.
struct NetBase {
  bool needed = false;
  bool weighted = false;  // colours by alpha, while it is enlarged
  ResizeTaps columns = {};
  ResizeTaps rows = {};
  ResizeTables column_tables = {};
  ResizeTables row_tables = {};
};

class NetStep final : public Step {
 public:
  // `scratch`: bytes for its values on a device; 0: what suits.
  NetStep(std::shared_ptr<const NetGraph> graph, const NetUse& use, const PictureShape& input,
          std::uint64_t scratch);

  [[nodiscard]] StepTitle title() const override { return {"net", graph_->name}; }
  [[nodiscard]] PictureShape output(const PictureShape& input) const override;
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override;
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override;
  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override;
  [[nodiscard]] StepProperties properties(const StepPlace& at) const override;
  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override;

 private:
  [[nodiscard]] std::shared_ptr<const Step> with_scratch(std::uint64_t bytes) const;

  std::shared_ptr<const NetGraph> graph_;
  NetUse use_;
  PictureShape input_;
  std::uint64_t scratch_;
  NetBase base_;
};

// The cost of a network for a pixel of its result.
[[nodiscard]] StageCost net_cost(const NetGraph& graph);

}  // namespace gpufilter
