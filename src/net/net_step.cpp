#include "net/net_step.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "base/format.hpp"
#include "base/numbers.hpp"
#include "device/device_rows.hpp"
#include "image/image.hpp"
#include "net/net_planes.hpp"
#include "net/net_rows.hpp"
#include "stage/device/row_pass.hpp"
#include "stages/resize/resize.hpp"
#include "stages/resize/resize_rows.hpp"
#include "stages/resize/resize_taps.hpp"

namespace gpufilter {
namespace {

// The part of the picture that the result needs besides the network: colours or alpha, at the
// result's size.
struct NetBase {
  bool needed = false;
  bool weighted = false;  // colours by alpha, while it is enlarged
  ResizeTaps columns = {};
  ResizeTaps rows = {};
  ResizeTables column_tables = {};
  ResizeTables row_tables = {};
};

// A rectangle of pixels of the result.
struct NetBlock {
  RowRange columns;
  RowRange rows;
};

// The location of a value: consecutive planes, from element `begin` on. Names and order match the
// parameters VALUE of kernels/net/net_values.cl.
struct NetPlace {
  std::int32_t begin = 0;
  std::int32_t left = 0;
  std::int32_t top = 0;
  std::int32_t columns = 0;
  std::int32_t rows = 0;
};

using std::size_t;

// Work-groups of a launch in one dimension: devices support at least 65535.
constexpr int maximum_rows = 32768;
constexpr int minimum_side = 16;  // of a block, times the network's scale

// The range of a value in memory.
struct Extent {
  std::uint64_t begin = 0;
  std::uint64_t end = 0;
};

// Allocates memory for values in the order of the operations, each at the first free position.
std::vector<Extent> lay_out(const NetGraph& graph, const std::vector<std::uint64_t>& sizes) {
  std::vector<size_t> last_use(graph.values.size(), 0);
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    for (const int input : graph.operations[i].inputs)
      last_use[static_cast<size_t>(input)] = i;
  }
  last_use[static_cast<size_t>(graph.output)] = graph.operations.size();
  std::vector<Extent> extents(graph.values.size());
  std::vector<size_t> live;  // by their beginnings
  const auto place = [&](size_t value) {
    std::uint64_t begin = 0;
    auto at = live.begin();
    for (; at != live.end() && extents[*at].begin < begin + sizes[value]; ++at)
      begin = extents[*at].end;
    extents[value] = {begin, begin + sizes[value]};
    live.insert(at, value);
  };
  place(0);
  for (size_t i = 0; i < graph.operations.size(); ++i) {
    place(static_cast<size_t>(graph.operations[i].output));
    std::erase_if(live, [&](size_t value) { return last_use[value] <= i; });
  }
  return extents;
}

// Where each value is while a block of at most this size is computed, of this picture.
std::vector<Extent> extents_of(const NetGraph& graph, ImageSize picture, ImageSize block) {
  const auto counts = [&](NetAxis axis, int side, int length) {
    // Blocks may begin anywhere in the network's multiple, which adds positions; borders only take
    // some away.
    const NetFrame& frame = graph.frame(axis);
    const int all = side + frame.multiple * graph.scale() - 1;
    const auto spans = net_spans(graph, axis, {0, all}, length, Border::wrap);
    std::vector<std::uint64_t> result;
    for (size_t i = 0; i < spans.size(); ++i) {
      const NetLength& positions = graph.values[i].size.along(axis);
      // Small blocks at an edge may need as many positions before them as behind, for a mirroring
      // border.
      const int own = divided_up(all * positions.times, graph.scale() * positions.by);
      const int around = std::max({-spans[i].begin, spans[i].end - own, 0});
      result.push_back(static_cast<std::uint64_t>(
          std::max(spans[i].count(), 2 * around + 2 * divided_up(positions.times, positions.by))));
    }
    return result;
  };
  const auto columns = counts(NetAxis::columns, block.width, picture.width);
  const auto rows = counts(NetAxis::rows, block.height, picture.height);
  std::vector<std::uint64_t> sizes;
  for (size_t i = 0; i < graph.values.size(); ++i) {
    sizes.push_back(static_cast<std::uint64_t>(graph.values[i].planes()) * columns[i] * rows[i]);
  }
  return lay_out(graph, sizes);
}

// Where the planes of each value begin while blocks of at most this size are computed; values that
// are no longer needed make room for others.
std::vector<std::int32_t> net_beginnings(const NetGraph& graph, ImageSize picture,
                                         ImageSize largest) {
  std::vector<std::int32_t> beginnings;
  for (const Extent& extent : extents_of(graph, picture, largest))
    beginnings.push_back(static_cast<std::int32_t>(extent.begin));
  return beginnings;
}

// The locations of the values for this block of a picture of this size.
std::vector<NetPlace> net_places(const NetGraph& graph, const std::vector<std::int32_t>& beginnings,
                                 const NetBlock& block, ImageSize size, Border border) {
  const auto columns = net_spans(graph, NetAxis::columns, block.columns, size.width, border);
  const auto rows = net_spans(graph, NetAxis::rows, block.rows, size.height, border);
  std::vector<NetPlace> places;
  for (size_t i = 0; i < beginnings.size(); ++i) {
    places.push_back(
        {beginnings[i], columns[i].begin, rows[i].begin, columns[i].count(), rows[i].count()});
  }
  return places;
}

// The blocks of at most `largest` pixels that cover the rows of a result `width` wide.
std::vector<NetBlock> net_blocks(const RowRange& rows, int width, ImageSize largest) {
  std::vector<NetBlock> blocks;
  for (int y = rows.begin; y < rows.end; y += largest.height) {
    for (int x = 0; x < width; x += largest.width) {
      blocks.push_back(
          {{x, std::min(x + largest.width, width)}, {y, std::min(y + largest.height, rows.end)}});
    }
  }
  return blocks;
}

// Numbers that the values of any block of at most this size take.
std::uint64_t net_block_numbers(const NetGraph& graph, ImageSize picture, ImageSize block) {
  std::uint64_t end = 0;
  for (const Extent& extent : extents_of(graph, picture, block))
    end = std::max(end, extent.end);
  return end;
}

// The largest block, in pixels of the result, whose values take at most that many elements; at
// least the minimum size.
ImageSize net_block_size(const NetGraph& graph, ImageSize picture, std::uint64_t numbers) {
  const int scale = graph.scale();
  ImageSize block{picture.width * scale, std::min(picture.height * scale, maximum_rows)};
  if (graph.is_whole()) return block;
  const int minimum = minimum_side * scale;
  // Blocks become lower down to some multiple of what they share with others, then narrower.
  const int low = std::max(minimum, 8 * net_radius(graph) * scale);
  const auto shrink = [&](int& side) { side = std::max(minimum, side - std::max(side / 8, 1)); };
  while (net_block_numbers(graph, picture, block) > numbers) {
    if (block.height > low || (block.width <= low && block.height > minimum)) {
      shrink(block.height);
    } else if (block.width > minimum) {
      shrink(block.width);
    } else {
      break;
    }
  }
  return block;
}

struct NetShapes {
  PictureShape source;
  PictureShape target;
};

constexpr std::uint64_t suitable_bytes = std::uint64_t{256} << 20U;
// The kernel of net_unpack and net_pack.
const NetKernel pixel_shape{.file = "net.cl", .function = {}};

// A kernel with the constants of one operation.
struct OperationStep {
  const NetOperation* operation;
  NetKernel shape;  // without its constants
  Kernel kernel;
  DeviceConstants weights;
  DeviceConstants numbers;
};

class NetPass final : public DevicePass {
 public:
  NetPass(Session& session, std::shared_ptr<const NetGraph> graph, const NetUse& use,
          const NetBase& base, const NetShapes& shapes, ImageSize block)
      : session_(session),
        graph_(std::move(graph)),
        use_(use),
        base_needed_(base.needed),
        shapes_(shapes),
        block_(block),
        beginnings_(net_beginnings(*graph_, shapes.source.size, block)),
        unpack_(pixel_kernel("net_unpack")),
        pack_(pixel_kernel("net_pack")),
        planes_(session.allocate(net_block_numbers(*graph_, shapes.source.size, block) *
                                 sizeof(float))),
        source_pitch_(pitch_in_samples(shapes.source.size.width, shapes.source.format)),
        target_pitch_(pitch_in_samples(shapes.target.size.width, shapes.target.format)),
        base_pitch_(pitch_in_samples(shapes.target.size.width, shapes.source.format)) {
    for (const NetOperation& operation : graph_->operations)
      steps_.push_back(make_step(operation));
    if (base.needed && graph_->scale() > 1) enlarge_base(base);
    description_ = {formatted("{} operations, blocks of {} x {}", graph_->operations.size(),
                              block.width, block.height),
                    "the only kernels", unpack_.origin(), unpack_.source()};
  }

  [[nodiscard]] const CodeDescription& description() const override { return description_; }

  std::vector<Event> enqueue(Queue& queue, const DeviceRows& source,
                             const DeviceRows& target) override {
    std::vector<Event> events;
    const DeviceRows base = base_rows(queue, source, target.rows, events);
    for (const NetBlock& block : net_blocks(target.rows, shapes_.target.size.width, block_)) {
      const auto places = net_places(*graph_, beginnings_, block, shapes_.source.size, use_.border);
      unpack(queue, source, places.front(), events);
      for (OperationStep& step : steps_)
        run(queue, step, places, events);
      pack(queue, base, target, places[static_cast<size_t>(graph_->output)], events);
    }
    return events;
  }

 private:
  // The macros for the use and the border, for every kernel.
  [[nodiscard]] std::string macros() const {
    const int depth = shapes_.source.format.depth;
    return formatted(
        "{} -D BORDER={} -D PLANES={} -D INPUT_FACTOR={:a}f -D OUTPUT_FACTOR={:a}f "
        "-D STRENGTH={:a}f -D NEEDS_BASE={}",
        format_macros(shapes_.source.format, shapes_.target.format), static_cast<int>(use_.border),
        graph_->channels(), net_input_factor(use_.input, depth),
        net_output_factor(use_.input, depth), use_.strength, base_needed_ ? 1 : 0);
  }

  [[nodiscard]] Kernel pixel_kernel(const char* function) const {
    return session_.make_kernel(
        {"net.cl", function, formatted("-D KERNEL_{} {}", function, macros())});
  }

  [[nodiscard]] int channels(int value) const {
    return graph_->values[static_cast<size_t>(value)].channels;
  }

  OperationStep make_step(const NetOperation& operation) {
    NetKernel shape = kernel_of(*graph_, operation, session_.device(), shapes_.source.size);
    Kernel kernel = session_.make_kernel({shape.file, shape.function,
                                          formatted("-D KERNEL_{} -D BORDER={} {}", shape.function,
                                                    static_cast<int>(use_.border), shape.macros)});
    std::vector<std::uint8_t> weights = std::exchange(shape.weights, {});
    std::vector<std::uint8_t> numbers = std::exchange(shape.numbers, {});
    return {&operation,
            std::move(shape),
            std::move(kernel),
            {session_, std::move(weights)},
            {session_, std::move(numbers)}};
  }

  void enlarge_base(const NetBase& base) {
    const PictureShape& source = shapes_.source;
    const PictureShape between{{shapes_.target.size.width, source.size.height},
                               resize_between(source.format, base.weighted)};
    const PictureShape result{shapes_.target.size, source.format};
    base_taps_ = base.rows;
    base_between_ = between;
    base_columns_.emplace(session_, resize_kernel(true, source.format, base.weighted, base.columns),
                          source, between);
    base_rows_.emplace(session_, resize_kernel(false, source.format, base.weighted, base.rows),
                       between, result);
  }

  // The rows of the picture at the result's size.
  DeviceRows base_rows(Queue& queue, const DeviceRows& source, const RowRange& rows,
                       std::vector<Event>& events) {
    if (!base_rows_) return source;
    const RowRange read{base_taps_.first[static_cast<size_t>(rows.begin)],
                        base_taps_.first[static_cast<size_t>(rows.end - 1)] + base_taps_.count};
    const PictureShape result{shapes_.target.size, shapes_.source.format};
    const DeviceRows between{&memory(0, row_pitch(base_between_), read), read};
    const DeviceRows base{&memory(1, row_pitch(result), rows), rows};
    events.push_back(base_columns_->launch(queue, source, between));
    events.push_back(base_rows_->launch(queue, between, base));
    return base;
  }

  // Memory for rows. A buffer that became too small is kept until the commands that use it have
  // ended.
  const Buffer& memory(size_t which, size_t pitch, const RowRange& rows) {
    std::vector<Buffer>& buffers = base_memory_.at(which);
    const size_t bytes = pitch * static_cast<size_t>(rows.count()) + row_slack;
    if (buffers.empty() || buffers.back().size() < bytes)
      buffers.push_back(session_.allocate(bytes));
    return buffers.back();
  }

  void unpack(Queue& queue, const DeviceRows& source, const NetPlace& out,
              std::vector<Event>& events) {
    const ImageSize& size = shapes_.source.size;
    events.push_back(queue.launch(
        unpack_, range(out, pixel_shape, 1),
        {*source.buffer, source_pitch_, source.rows.begin, size.width, size.height, planes_,
         out.begin, out.left, out.top, out.columns, out.rows, graph_->columns.length(size.width),
         graph_->rows.length(size.height), graph_->columns.margin, graph_->rows.margin}));
  }

  void pack(Queue& queue, const DeviceRows& base, const DeviceRows& target, const NetPlace& in,
            std::vector<Event>& events) {
    const std::int32_t rows = target.rows.count();
    events.push_back(queue.launch(
        pack_, range(in, pixel_shape, 1),
        {*base.buffer, base_rows_ ? base_pitch_ : source_pitch_, base.rows.begin, *target.buffer,
         target_pitch_, target.rows.begin, target.offset, rows, planes_, in.begin, in.left, in.top,
         in.columns, in.rows, graph_->columns.begin, graph_->rows.begin}));
  }

  // For `blocks` planes or blocks of them.
  static WorkRange range(const NetPlace& out, const NetKernel& shape, int blocks) {
    const int groups = divided_up(out.columns, shape.pixels.width) * blocks;
    const auto items = static_cast<size_t>(shape.items);
    return {static_cast<size_t>(groups) * items,
            static_cast<size_t>(divided_up(out.rows, shape.pixels.height)), items, 1};
  }

  void run(Queue& queue, OperationStep& step, const std::vector<NetPlace>& places,
           std::vector<Event>& events) {
    const NetOperation& operation = *step.operation;
    const NetPlace& out = places[static_cast<size_t>(operation.output)];
    const NetPlace& a = places[static_cast<size_t>(operation.inputs.front())];
    const ImageSize size = size_of(operation.output);
    const std::int32_t width = size.width;
    const std::int32_t height = size.height;
    const std::int32_t outputs = channels(operation.output);
    const auto launch = [&](int blocks, std::initializer_list<KernelArgument> arguments) {
      events.push_back(queue.launch(step.kernel, range(out, step.shape, blocks), arguments));
    };
    switch (operation.kind) {
      case NetOperator::convolution:
      case NetOperator::quantize:
      case NetOperator::dequantize:
        return launch(step.shape.blocks,
                      {planes_, a.begin, a.left, a.top, a.columns, a.rows, out.begin, out.left,
                       out.top, out.columns, out.rows, width, height, outputs,
                       step.weights.on_device(queue), step.numbers.on_device(queue)});
      case NetOperator::depth_to_space:
      case NetOperator::nearest:
      case NetOperator::space_to_depth:
        return launch(step.shape.blocks,
                      {planes_, a.begin, a.left, a.top, a.columns, a.rows, out.begin, out.left,
                       out.top, out.columns, out.rows, width, height, outputs});
      case NetOperator::pad:
      case NetOperator::maximum:
      case NetOperator::sum_columns:
      case NetOperator::sum_rows:
      case NetOperator::resize: {
        const ImageSize from = size_of(operation.inputs.front());
        return launch(step.shape.blocks,
                      {planes_, a.begin, a.left, a.top, a.columns, a.rows, out.begin, out.left,
                       out.top, out.columns, out.rows, width, height, outputs, from.width,
                       from.height, step.numbers.on_device(queue)});
      }
      case NetOperator::attention: {
        const NetPlace& b = places[static_cast<size_t>(operation.inputs[1])];
        const NetPlace& c = places[static_cast<size_t>(operation.inputs[2])];
        return launch(
            step.shape.blocks,
            {planes_, a.begin,     a.left,    a.top,     a.columns, a.rows,
             b.begin, b.left,      b.top,     b.columns, b.rows,    c.begin,
             c.left,  c.top,       c.columns, c.rows,    out.begin, out.left,
             out.top, out.columns, out.rows,  width,     height,    step.numbers.on_device(queue)});
      }
      default:
        break;
    }
    // Each run of channels of a concat is a launch.
    std::vector<NetPick> picks = operation.picks;
    if (operation.kind != NetOperator::concat) picks = {{0, 0, outputs}};
    std::int32_t channel = 0;
    for (const NetPick& pick : picks) {
      const auto input = static_cast<size_t>(pick.input);
      const NetPlace& from = places[static_cast<size_t>(operation.inputs[input])];
      const NetPlace& b = places[static_cast<size_t>(operation.inputs.back())];
      launch(pick.count, {planes_,
                          from.begin + pick.first * from.columns * from.rows,
                          from.left,
                          from.top,
                          from.columns,
                          from.rows,
                          b.begin,
                          b.left,
                          b.top,
                          b.columns,
                          b.rows,
                          out.begin,
                          out.left,
                          out.top,
                          out.columns,
                          out.rows,
                          width,
                          height,
                          channel,
                          outputs,
                          step.numbers.on_device(queue)});
      channel += pick.count;
    }
  }

  // Of a whole value.
  [[nodiscard]] ImageSize size_of(int value) const {
    return net_value_size(*graph_, graph_->values[static_cast<size_t>(value)], shapes_.source.size);
  }

  Session& session_;
  std::shared_ptr<const NetGraph> graph_;
  NetUse use_;
  bool base_needed_;
  NetShapes shapes_;
  ImageSize block_;
  std::vector<std::int32_t> beginnings_;  // of the values, in planes_
  Kernel unpack_;
  Kernel pack_;
  Buffer planes_;
  std::int32_t source_pitch_;  // samples
  std::int32_t target_pitch_;
  std::int32_t base_pitch_;
  std::vector<OperationStep> steps_;
  // The picture at the result's size, where it is enlarged.
  std::optional<RowLaunch> base_columns_;
  std::optional<RowLaunch> base_rows_;
  ResizeTaps base_taps_;
  PictureShape base_between_;
  std::array<std::vector<Buffer>, 2> base_memory_;
  CodeDescription description_;
};

// The largest buffer of a network: kernels index its elements with 31 bits.
std::uint64_t most_bytes(const DeviceInfo& device) {
  return std::min<std::uint64_t>(device.max_allocation, std::uint64_t{1} << 32U);
}

// The block whose values take at most `limit` bytes.
ImageSize block_for(const NetGraph& graph, ImageSize size, std::uint64_t limit,
                    const DeviceInfo& device) {
  const std::uint64_t bytes = std::min(limit == 0 ? suitable_bytes : limit, most_bytes(device));
  return net_block_size(graph, size, bytes / sizeof(float));
}

// Bytes of memory for the values of a block of the picture: a suitable size, at most `limit` if
// that is not 0, at least the smallest block's.
std::uint64_t net_pass_memory(const NetGraph& graph, ImageSize size, std::uint64_t limit,
                              const DeviceInfo& device) {
  return sizeof(float) * net_block_numbers(graph, size, block_for(graph, size, limit, device));
}

// Throws DeviceError.
std::unique_ptr<DevicePass> make_net_pass(Session& session, std::shared_ptr<const NetGraph> graph,
                                          const NetUse& use, const NetBase& base,
                                          const NetShapes& shapes, std::uint64_t limit) {
  const ImageSize block = block_for(*graph, shapes.source.size, limit, session.device());
  if (graph->is_whole() &&
      net_block_numbers(*graph, shapes.source.size, block) > most_bytes(session.device()) / 4) {
    throw DeviceError(formatted("{}: {} needs the whole picture, which the device cannot hold",
                                graph->name, graph->whole_node()));
  }
  return std::make_unique<NetPass>(session, std::move(graph), use, base, shapes, block);
}

// Rows of the source around a row of the result that enlarging may read.
constexpr int resize_reach = 9;

class NetStep final : public Step {
 public:
  NetStep(std::shared_ptr<const NetGraph> graph, const NetUse& use, const PictureShape& input,
          std::uint64_t scratch)
      : graph_(std::move(graph)), use_(use), input_(input), scratch_(scratch) {
    const bool follows_luma = graph_->channels() == 1 && input.format.color_channels() == 3;
    base_.needed = follows_luma || use.strength != 1 || input.format.has_alpha();
    base_.weighted = input.format.has_alpha();
    if (!base_.needed || graph_->scale() == 1) return;
    const ImageSize target = output(input).size;
    base_.columns =
        make_resize_taps(input.size.width, target.width, ResizeKernel::lanczos, input.format.depth);
    base_.rows = make_resize_taps(input.size.height, target.height, ResizeKernel::lanczos,
                                  input.format.depth);
    base_.column_tables = ResizeTables(base_.columns, true);
    base_.row_tables = ResizeTables(base_.rows, false);
  }

  [[nodiscard]] StepTitle title() const override { return {"net", graph_->name}; }

  // Networks of three channels turn grey into RGB.
  [[nodiscard]] PictureShape output(const PictureShape& input) const override {
    const int scale = graph_->scale();
    PictureShape result{{input.size.width * scale, input.size.height * scale}, input.format};
    if (graph_->channels() != 1) result.format.channels = input.format.has_alpha() ? 4 : 3;
    return result;
  }

  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    const RowRange input =
        net_spans(*graph_, NetAxis::rows, target, source.height, use_.border).front();
    const RowRange rows = net_source_span(graph_->rows, input, source.height, use_.border);
    if (!base_.needed) return rows;
    const int scale = graph_->scale();
    const int reach = scale == 1 ? 0 : resize_reach;
    return {std::min(rows.begin, std::max(target.begin / scale - reach, 0)),
            std::max(rows.end, std::min((target.end - 1) / scale + 1 + reach, source.height))};
  }

  [[nodiscard]] StageCost cost(const PixelFormat& /*input*/) const override {
    return {Rate("net", 30e-12, 0.3e-12), std::max(net_products(*graph_), 1.0)};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& sizes) const override {
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

  [[nodiscard]] StepProperties properties(const StepPlace& at) const override {
    if (at.device == nullptr) {
      return {.suitable_rows = net_suitable_rows(*graph_, at.source.size),
              .scratch_bytes = net_rows_memory(*graph_, at.source.size)};
    }
    return {.scratch_bytes = net_pass_memory(*graph_, at.source.size, scratch_, *at.device),
            .with_scratch = [this](std::uint64_t bytes) { return with_scratch(bytes); }};
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    return make_net_pass(session, graph_, use_, base_, {input, output(input)}, scratch_);
  }

 private:
  [[nodiscard]] std::shared_ptr<const Step> with_scratch(std::uint64_t bytes) const {
    const std::uint64_t granted = scratch_ == 0 ? bytes : std::min(scratch_, bytes);
    return std::make_shared<NetStep>(graph_, use_, input_, granted);
  }

  std::shared_ptr<const NetGraph> graph_;
  NetUse use_;
  PictureShape input_;
  std::uint64_t scratch_;
  NetBase base_;
};

}  // namespace

std::shared_ptr<const Step> make_net_step(std::shared_ptr<const NetGraph> graph, const NetUse& use,
                                          const PictureShape& input, std::uint64_t scratch) {
  return std::make_shared<NetStep>(std::move(graph), use, input, scratch);
}

}  // namespace gpufilter
