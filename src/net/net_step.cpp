#include "net/net_step.hpp"

#include <algorithm>
#include <utility>

#include "image/image.hpp"
#include "net/net_pass.hpp"
#include "net/net_regions.hpp"
#include "net/net_rows.hpp"
#include "stages/resize/resize_rows.hpp"

namespace gpufilter {
namespace {

// Rows of the source around a row of the result that enlarging may read.
constexpr int resize_reach = 9;

}  // namespace

NetStep::NetStep(std::shared_ptr<const NetGraph> graph, const NetUse& use,
                 const PictureShape& input, std::uint64_t scratch)
    : graph_(std::move(graph)), use_(use), input_(input), scratch_(scratch) {
  const bool follows_luma = graph_->channels() == 1 && input.format.color_channels() == 3;
  base_.needed = follows_luma || use.strength != 1 || input.format.has_alpha();
  base_.weighted = input.format.has_alpha();
  if (!base_.needed || graph_->scale() == 1) return;
  const ImageSize target = output(input).size;
  base_.columns =
      make_resize_taps(input.size.width, target.width, ResizeKernel::lanczos, input.format.depth);
  base_.rows =
      make_resize_taps(input.size.height, target.height, ResizeKernel::lanczos, input.format.depth);
  base_.column_tables = ResizeTables(base_.columns, true);
  base_.row_tables = ResizeTables(base_.rows, false);
}

// Networks of three channels turn grey into RGB.
PictureShape NetStep::output(const PictureShape& input) const {
  const int scale = graph_->scale();
  PictureShape result{{input.size.width * scale, input.size.height * scale}, input.format};
  if (graph_->channels() != 1) result.format.channels = input.format.has_alpha() ? 4 : 3;
  return result;
}

RowRange NetStep::source_rows(const RowRange& target, ImageSize source) const {
  RowRange rows = net_spans(*graph_, NetAxis::rows, target, source.height, use_.border).front();
  if (use_.border != Border::wrap)
    rows = {std::max(rows.begin, 0), std::min(rows.end, source.height)};
  if (!base_.needed) return rows;
  const int scale = graph_->scale();
  const int reach = scale == 1 ? 0 : resize_reach;
  return {std::min(rows.begin, std::max(target.begin / scale - reach, 0)),
          std::max(rows.end, std::min((target.end - 1) / scale + 1 + reach, source.height))};
}

StageCost NetStep::cost(const PixelFormat& /*input*/) const {
  return net_cost(*graph_);
}

void NetStep::run(const ConstRows& source, const MutableRows& target,
                  const StageSizes& sizes) const {
  if (!base_.needed) return net_rows(*graph_, use_, source, {}, target, sizes.source);
  if (graph_->scale() == 1) return net_rows(*graph_, use_, source, source, target, sizes.source);
  const RowRange read{
      base_.rows.first[static_cast<std::size_t>(target.rows.begin)],
      base_.rows.first[static_cast<std::size_t>(target.rows.end - 1)] + base_.rows.count};
  Image between(target.width, read, resize_between(source.format, base_.weighted));
  resize_along_rows(source.part(read), between.rows(), base_.columns, base_.column_tables,
                    base_.weighted);
  Image base(target.width, target.rows, source.format);
  resize_along_columns(std::as_const(between).rows(), base.rows(), base_.rows, base_.row_tables,
                       base_.weighted);
  net_rows(*graph_, use_, source, std::as_const(base).rows(), target, sizes.source);
}

StepProperties NetStep::properties(const StepPlace& at) const {
  if (at.device == nullptr) {
    return {.suitable_rows = net_suitable_rows(*graph_),
            .scratch_bytes = net_rows_memory(*graph_, at.source.size.width)};
  }
  return {.scratch_bytes = net_pass_memory(*graph_, at.source.size, scratch_, *at.device),
          .with_scratch = [this](std::uint64_t bytes) { return with_scratch(bytes); }};
}

std::shared_ptr<const Step> NetStep::with_scratch(std::uint64_t bytes) const {
  const std::uint64_t granted = scratch_ == 0 ? bytes : std::min(scratch_, bytes);
  return std::make_shared<NetStep>(graph_, use_, input_, granted);
}

std::unique_ptr<DevicePass> NetStep::prepare(Session& session, const PictureShape& input) const {
  return make_net_pass(session, graph_, use_, base_, {input, output(input)}, scratch_);
}

StageCost net_cost(const NetGraph& graph) {
  return {Rate("net", 30e-12, 0.3e-12), std::max(net_products(graph), 1.0)};
}

}  // namespace gpufilter
