#include "net/net_pass.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "base/division.hpp"
#include "base/format.hpp"
#include "device/device_constants.hpp"
#include "net/net_blocks.hpp"
#include "net/net_kernels.hpp"
#include "stage/device/row_launch.hpp"
#include "stages/resize/resize.hpp"
#include "stages/resize/resize_rows.hpp"

namespace gpufilter {
namespace {

using std::size_t;

constexpr std::uint64_t suitable_bytes = std::uint64_t{256} << 20U;
// That of net_unpack and net_pack.
const NetKernel pixel_shape{.file = "net.cl", .function = {}};

// A kernel with the numbers of one operation.
struct Step {
  const NetOperation* operation;
  NetKernel shape;  // without its numbers
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
        beginnings_(net_beginnings(*graph_, block)),
        unpack_(pixel_kernel("net_unpack")),
        pack_(pixel_kernel("net_pack")),
        planes_(session.allocate(net_block_numbers(*graph_, block) * sizeof(float))),
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
      for (Step& step : steps_)
        run(queue, step, places, events);
      pack(queue, base, target, places[static_cast<size_t>(graph_->output)], events);
    }
    return events;
  }

 private:
  // The numbers of the use and of the border, for every kernel.
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

  Step make_step(const NetOperation& operation) {
    NetKernel shape = kernel_of(*graph_, operation, session_.device());
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

  // Memory for rows. What was too small stays until the commands that use it have ended.
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
    events.push_back(
        queue.launch(unpack_, range(out, pixel_shape, 1),
                     {*source.buffer, source_pitch_, source.rows.begin, size.width, size.height,
                      planes_, out.begin, out.left, out.top, out.columns, out.rows}));
  }

  void pack(Queue& queue, const DeviceRows& base, const DeviceRows& target, const NetPlace& in,
            std::vector<Event>& events) {
    const std::int32_t rows = target.rows.count();
    events.push_back(
        queue.launch(pack_, range(in, pixel_shape, 1),
                     {*base.buffer, base_rows_ ? base_pitch_ : source_pitch_, base.rows.begin,
                      *target.buffer, target_pitch_, target.rows.begin, target.offset, rows,
                      planes_, in.begin, in.left, in.top, in.columns, in.rows}));
  }

  // For `blocks` planes or blocks of them.
  static WorkRange range(const NetPlace& out, const NetKernel& shape, int blocks) {
    const int groups = divided_up(out.columns, shape.pixels.width) * blocks;
    const auto items = static_cast<size_t>(shape.items);
    return {static_cast<size_t>(groups) * items,
            static_cast<size_t>(divided_up(out.rows, shape.pixels.height)), items, 1};
  }

  void run(Queue& queue, Step& step, const std::vector<NetPlace>& places,
           std::vector<Event>& events) {
    const NetOperation& operation = *step.operation;
    const NetPlace& out = places[static_cast<size_t>(operation.output)];
    const NetPlace& a = places[static_cast<size_t>(operation.inputs.front())];
    const std::int32_t scale = graph_->values[static_cast<size_t>(operation.output)].scale;
    const std::int32_t width = shapes_.source.size.width * scale;
    const std::int32_t height = shapes_.source.size.height * scale;
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
        return launch(step.shape.blocks,
                      {planes_, a.begin, a.left, a.top, a.columns, a.rows, out.begin, out.left,
                       out.top, out.columns, out.rows, width, height, outputs});
      default:
        break;
    }
    // Inputs of a concat come one after the other; the second input of a sum goes with the first.
    const bool concat = operation.kind == NetOperator::concat;
    std::int32_t channel = 0;
    for (size_t i = 0; i < (concat ? operation.inputs.size() : 1); ++i) {
      const NetPlace& from = places[static_cast<size_t>(operation.inputs[i])];
      const NetPlace& b = places[static_cast<size_t>(operation.inputs.back())];
      const std::int32_t copied = concat ? channels(operation.inputs[i]) : outputs;
      launch(copied, {planes_,   from.begin,   from.left,
                      from.top,  from.columns, from.rows,
                      b.begin,   b.left,       b.top,
                      b.columns, b.rows,       out.begin,
                      out.left,  out.top,      out.columns,
                      out.rows,  width,        height,
                      channel,   outputs,      step.numbers.on_device(queue)});
      channel += copied;
    }
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
  std::vector<Step> steps_;
  // The picture at the result's size, where it is enlarged.
  std::optional<RowLaunch> base_columns_;
  std::optional<RowLaunch> base_rows_;
  ResizeTaps base_taps_;
  PictureShape base_between_;
  std::array<std::vector<Buffer>, 2> base_memory_;
  CodeDescription description_;
};

// The block for at most so many bytes of values.
ImageSize block_for(const NetGraph& graph, ImageSize size, std::uint64_t limit,
                    const DeviceInfo& device) {
  // Kernels count numbers in 31 bits.
  const std::uint64_t most =
      std::min<std::uint64_t>(device.max_allocation, std::uint64_t{1} << 32U);
  const std::uint64_t bytes = std::min(limit == 0 ? suitable_bytes : limit, most);
  return net_block_size(graph, size, bytes / sizeof(float));
}

}  // namespace

std::uint64_t net_pass_memory(const NetGraph& graph, ImageSize size, std::uint64_t limit,
                              const DeviceInfo& device) {
  return sizeof(float) * net_block_numbers(graph, block_for(graph, size, limit, device));
}

std::unique_ptr<DevicePass> make_net_pass(Session& session, std::shared_ptr<const NetGraph> graph,
                                          const NetUse& use, const NetBase& base,
                                          const NetShapes& shapes, std::uint64_t limit) {
  const ImageSize block = block_for(*graph, shapes.source.size, limit, session.device());
  return std::make_unique<NetPass>(session, std::move(graph), use, base, shapes, block);
}

}  // namespace gpufilter
