#include <algorithm>
#include <chrono>
#include <cstdint>
#include <iostream>
#include <string>

#include "app/cli/arguments.hpp"
#include "app/cli/commands.hpp"
#include "app/cli/parse.hpp"
#include "base/format.hpp"
#include "base/threads.hpp"
#include "host/instruction_set.hpp"
#include "image/image.hpp"
#include "net/net.hpp"
#include "net/net_planes.hpp"
#include "net/net_rows.hpp"

namespace gpufilter {
namespace {

constexpr const char* net_description =
    "Describes a network for --net: its layers, parameters and radius, and what it costs here.";

constexpr const char* net_explanation =
    R"(The time is measured: a small picture goes through the network on one core.

Examples:
  gpufilter net samples/networks/denoise.onnx
)";

std::string activation_text(const NetActivation& activation) {
  std::string text;
  if (!activation.slopes.empty()) text += ", slopes below 0";
  if (activation.limits && activation.low == 0 && activation.high > 1e30F) return text + ", relu";
  if (activation.limits) text += formatted(", limited to {}..{}", activation.low, activation.high);
  return text;
}

const char* function_text(NetFunction function) {
  switch (function) {
    case NetFunction::exponential:
      return "exponential";
    case NetFunction::root:
      return "square root";
    case NetFunction::reciprocal:
      return "reciprocal";
    case NetFunction::sigmoid:
      return "sigmoid";
    case NetFunction::hyperbolic_tangent:
      return "hyperbolic tangent";
    case NetFunction::error:
      return "error function";
  }
  return "";
}

std::string operation_text(const NetGraph& graph, const NetOperation& operation) {
  const auto channels = [&](int value) {
    return graph.values[static_cast<std::size_t>(value)].channels;
  };
  switch (operation.kind) {
    case NetOperator::convolution:
      return formatted(
          "convolution {}x{}, {} to {} channels{}{}{}", operation.kernel_width,
          operation.kernel_height, channels(operation.inputs.front()), channels(operation.output),
          operation.groups > 1 ? formatted(" in {} groups", operation.groups) : "",
          operation.integer ? ", 8-bit integers" : "", activation_text(operation.activation));
    case NetOperator::activation:
      return "activation" + activation_text(operation.activation);
    case NetOperator::add:
      return "sum of two values";
    case NetOperator::subtract:
      return "difference of two values";
    case NetOperator::multiply:
      return "product with constants";
    case NetOperator::offset:
      return "sum with constants";
    case NetOperator::concat:
      return formatted("{} values side by side, {} channels", operation.inputs.size(),
                       channels(operation.output));
    case NetOperator::depth_to_space:
      return formatted("channels to blocks of {0}x{0} pixels", operation.factor);
    case NetOperator::nearest:
      return formatted("each pixel {0}x{0} times", operation.factor);
    case NetOperator::product:
      return "product of two values";
    case NetOperator::quotient:
      return "quotient of two values";
    case NetOperator::function:
      return function_text(operation.function);
    case NetOperator::space_to_depth:
      return formatted("blocks of {0}x{0} pixels to channels", operation.factor);
    case NetOperator::maximum:
      return formatted("maximum of {}x{}", operation.kernel_width, operation.kernel_height);
    case NetOperator::pad:
      return "padded or cropped";
    case NetOperator::sum_columns:
      return "mean of each row";
    case NetOperator::sum_rows:
      return "mean of all rows";
    case NetOperator::resize:
      return formatted("resized to {}/{}", operation.resize.times, operation.resize.by);
    case NetOperator::attention:
      return formatted("attention of {} heads within {}x{} pixels", operation.groups,
                       operation.factor, operation.factor);
    case NetOperator::quantize:
      return "to 8-bit integers";
    default:
      return "from 8-bit integers";
  }
}

// Seconds on one core for a pixel of the result.
double seconds_a_pixel(const NetGraph& graph) {
  const double products = std::max(net_products(graph), 1.0) * graph.scale() * graph.scale();
  constexpr double products_to_try = 2e8;
  const int side =
      std::clamp(static_cast<int>(std::min(products_to_try / products / 128, 128.0)), 16, 128);
  const PixelFormat format{graph.channels() == 1 ? 1 : 3, 8};
  const PictureShape shape{{128, side}, format};
  const Steps steps = make_net(graph, {})->lower({.shape = shape}).steps;
  Image source(shape.size, format);
  const std::size_t bytes = source.bytes();
  for (std::size_t i = 0; i < bytes; ++i)
    source.rows().data[i] = static_cast<std::uint8_t>(i * 2654435761U >> 24U);
  const PictureShape result = steps.front()->output(shape);
  Image target(result.size, result.format);
  const auto begin = std::chrono::steady_clock::now();
  steps.front()->run(source.rows(), target.rows(), {shape.size, result.size});
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  return taken.count() / static_cast<double>(result.size.pixels());
}

std::string pixels_text(const NetGraph& graph) {
  const NetConvention& pixels = graph.pixels;
  const auto numbers = [](const std::vector<float>& all) {
    std::string text;
    for (const float number : all)
      text += formatted("{}{}", text.empty() ? "" : ",", number);
    return text;
  };
  std::string text = graph.channels() == 1 ? "luma" : pixels.blue_first ? "BGR" : "RGB";
  text += pixels.bytes ? " from 0 to 255" : " from 0 to 1";
  if (!pixels.means.empty()) {
    text += formatted(", mean {}, deviation {}", numbers(pixels.means), numbers(pixels.deviations));
  }
  return text;
}

void print_description(const NetGraph& graph) {
  constexpr double megapixels = 20;
  const auto convolutions =
      std::count_if(graph.operations.begin(), graph.operations.end(),
                    [](const NetOperation& o) { return o.kind == NetOperator::convolution; });
  const std::string size =
      graph.scale() == 1 ? "the same size" : formatted("{} times the size", graph.scale());
  const double seconds =
      seconds_a_pixel(graph) * megapixels * 1e6 / static_cast<double>(allowed_threads());
  std::cout << formatted("{}: {} to {}, {}\n", graph.name, graph.channels() == 1 ? "luma" : "RGB",
                         graph.channels() == 1 ? "luma" : "RGB", size);
  const auto line = [](const char* what, const std::string& text) {
    std::cout << formatted("{:<12}{}\n", what, text);
  };
  line("pixels", pixels_text(graph));
  line("layers",
       formatted("{} operations, {} of them convolutions", graph.operations.size(), convolutions));
  line("parameters", formatted("{}", net_parameters(graph)));
  line("radius", formatted("{} pixels", net_radius(graph)));
  line("work", formatted("{:.0f} multiply-adds for a pixel of the result", net_products(graph)));
  line("time", formatted("{:.2g} s for {} megapixels of result on this processor ({}, {} threads)",
                         seconds, megapixels, to_string(instruction_set()), allowed_threads()));
  if (graph.is_whole())
    line("means", graph.whole_node() + " needs the whole picture: all of it is kept in memory");
  const int multiple = std::max(graph.columns.multiple, graph.rows.multiple);
  const int margin = std::max(graph.columns.margin, graph.rows.margin);
  if (multiple > 1 || margin > 0) {
    line("sides", formatted("margins of {} pixels, then multiples of {}: mirrored, or by --border",
                            margin, multiple));
  }
  line("memory", formatted("{:.1f} MB for each thread, for pictures 5000 pixels wide",
                           static_cast<double>(net_rows_memory(graph, {5000, 3333})) / 1e6));
  std::cout << '\n';
  for (const NetOperation& operation : graph.operations)
    std::cout << "  " << operation_text(graph, operation) << '\n';
}

}  // namespace

int run_net_command(int argc, const char* const* argv) {
  std::string file;
  Arguments app(net_description, "gpufilter net");
  app.add_option("FILE", file, "A network: ONNX.")->required();
  add_color_output(app);
  app.footer(net_explanation);
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  print_description(read_net(file));
  return 0;
}

}  // namespace gpufilter
