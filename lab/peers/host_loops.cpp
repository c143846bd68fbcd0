#include <algorithm>
#include <array>

#include "cases.hpp"
#include "compute/picture_statistics.hpp"
#include "host/instruction_set.hpp"
#include "net/pixel/mlp.hpp"
#include "stages/colour/color.hpp"
#include "stages/point/lookup.hpp"
#include "stages/window/blur.hpp"

namespace gpufilter::bench {
namespace {

using Loop = std::function<void(const ConstRows& source, const MutableRows& target)>;

// The whole picture in strips; `halo` more rows of the source are there for each, where it has
// them.
void in_strips(const ConstRows& source, const MutableRows& target, int halo, const Loop& loop) {
  for (int y = 0; y < size.height; y += strip_rows) {
    const RowRange strip{y, std::min(y + strip_rows, size.height)};
    const RowRange read{std::max(strip.begin - halo, 0), std::min(strip.end + halo, size.height)};
    loop(source.part(read), target.part(strip));
  }
}

void add_loop(const std::string& what, const PixelFormat& format, const Loop& loop, int halo = 0,
              double flops = 0) {
  for (const InstructionSet set : available_instruction_sets()) {
    add(
        what + "/" + name(format) + "/" + std::string(to_string(set)),
        [=] {
          const InstructionSetInUse in_use(set);
          in_strips(source(format).rows(), target(format).rows(), halo, loop);
        },
        flops);
  }
}

void blur(const ConstRows& source, const MutableRows& target) {
  blur_rows(source, target, size.height, Border::replicate, AlphaMode::weighted);
}

// A picture in which half of the pixels are transparent to some degree.
const Image& transparent_source() {
  static const Image image = [] {
    Image copy(size, rgba);
    for (int y = 0; y < size.height; ++y) {
      std::copy_n(source(rgba).rows().row(y), copy.pitch(), copy.rows().row(y));
      for (int x = 0; x < size.width; x += 2)
        copy.rows().row(y)[4 * x + 3] = static_cast<std::uint8_t>(x + y);
    }
    return copy;
  }();
  return image;
}

Network network(const std::vector<int>& widths) {
  Network made;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    NetworkLayer layer;
    layer.inputs = widths[i];
    layer.activation = i + 2 < widths.size() ? Activation::relu : Activation::clamp;
    for (int k = 0; k < widths[i] * widths[i + 1]; ++k)
      layer.weights.push_back(static_cast<float>(k * 37 % 101 - 50) / 100.0F);
    layer.bias.assign(static_cast<std::size_t>(widths[i + 1]), 0.1F);
    made.layers.push_back(layer);
  }
  return made;
}

double flops_of(const Network& network) {
  double flops = 0;
  for (const NetworkLayer& layer : network.layers)
    flops += 2.0 * static_cast<double>(layer.weights.size());
  return flops;
}

void add_network(const std::string& what, const Network& network, const PixelFormat& format) {
  const auto loop = [network](const ConstRows& source, const MutableRows& target) {
    mlp_rows(source, target, network);
  };
  add_loop(what, format, loop, 0, flops_of(network));
}

void add_statistics(const std::string& what, Quantity quantity, const PixelFormat& format) {
  const auto loop = [quantity](const ConstRows& source, const MutableRows& /*target*/) {
    PictureStatistics statistics = no_statistics(source.format, quantity);
    add_pixels(statistics, source);
    benchmark::DoNotOptimize(statistics);
  };
  add_loop(what, format, loop);
}

}  // namespace

void add_host_loops() {
  static const ColorMatrix warm =
      to_matrix({{0.9, 0.2, 0.1, 0.02}, {0.1, 0.8, 0.1, 0.0}, {0.05, 0.1, 0.7, -0.01}});
  static const std::vector<std::uint16_t> table = [] {
    std::vector<std::uint16_t> entries(256);
    for (std::size_t i = 0; i < entries.size(); ++i)
      entries[i] = static_cast<std::uint16_t>(255 - i);
    return entries;
  }();
  static const std::vector<float> factors(256, 0.7F);
  for (const PixelFormat& format : {rgb, rgba}) {
    add_loop("blur", format, blur, 1);
    add_loop("colour", format, [](const ConstRows& source, const MutableRows& target) {
      color_rows(source, target, warm);
    });
    add_loop("look-up", format, [](const ConstRows& source, const MutableRows& target) {
      lookup_rows(source, target, table);
    });
    add_loop("luma scaling", format, [](const ConstRows& source, const MutableRows& target) {
      lookup_rows(source, target, factors.data());
    });
    add_statistics("totals", Quantity::totals, format);
    add_statistics("histograms", Quantity::channel_histograms, format);
    add_statistics("luma histogram", Quantity::luma_histogram, format);
    add_network("network 3-16-16-3", network({3, 16, 16, 3}), format);
  }
  add_network("network 3-64-64-64-3", network({3, 64, 64, 64, 3}), rgb);
  for (const InstructionSet set : available_instruction_sets()) {
    add("blur/RGBA8 transparent/" + std::string(to_string(set)), [set] {
      const InstructionSetInUse in_use(set);
      in_strips(transparent_source().rows(), target(rgba).rows(), 1, blur);
    });
  }
}

}  // namespace gpufilter::bench
