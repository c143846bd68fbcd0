#include "stages/point/lut.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <mutex>
#include <span>
#include <vector>

#include "base/content_hash.hpp"
#include "base/format.hpp"
#include "device/device_rows.hpp"
#include "host/vectors.hpp"
#include "image/pixel_format.hpp"
#include "image/rows.hpp"
#include "stage/point_rows.hpp"

namespace gpufilter {
namespace {

// The bits of the position of a sample between two nodes.
inline constexpr std::uint32_t fraction_bits = 20;

// From a sample to its position along an axis, in integers, within 2^-20 of the exact one:
//   first before `low`, `last` after `high`, otherwise
//   min(start + d * whole + (d * part + 2^15 >> 16), last), d = sample - low
struct LatticeAxis {
  std::uint32_t low = 0;
  std::uint32_t high = 0;
  std::uint32_t start = 0;
  std::uint32_t whole = 0;
  std::uint32_t part = 0;
};

// out = keep * sample + the sum of four nodes with their weights, one chain of fma in single
// precision from keep * sample on. The weights are integers that sum to 2^20; the nodes are
// multiplied by the strength and by max / 2^20.
struct Lattice {
  std::uint32_t size = 0;
  std::uint32_t last = 0;           // the position of the last node
  std::array<LatticeAxis, 3> axes;  // without a shaper
  // With a shaper: the position of every sample, red, green, blue; otherwise empty.
  std::vector<std::uint32_t> positions;
  float keep = 0;
  std::vector<float> nodes;  // four floats each; beyond the last node, zeros that have no weight
};

using std::size_t;

LatticeAxis make_axis(double low, double high, std::uint32_t last, double max) {
  constexpr double steepest = 0x1p28;  // never reached by a sample that is inside the domain
  const double slope = std::min(last / ((high - low) * max), steepest);
  LatticeAxis axis;
  axis.low = static_cast<std::uint32_t>(std::clamp(std::ceil(low * max), 0.0, max));
  axis.high = static_cast<std::uint32_t>(std::clamp(std::floor(high * max), 0.0, max));
  const double start = (axis.low - low * max) * slope;
  axis.start = static_cast<std::uint32_t>(std::clamp(std::nearbyint(start), 0.0, double(last)));
  axis.whole = static_cast<std::uint32_t>(slope);
  axis.part =
      static_cast<std::uint32_t>(std::min(std::nearbyint((slope - axis.whole) * 65536), 65535.0));
  return axis;
}

// The curve of channel `c` at `x`, linear between its entries.
double interpolated(const Cube& curves, size_t c, double x) {
  const double low = curves.low.at(c);
  const auto last = static_cast<double>(curves.size - 1);
  const double place = std::clamp((x - low) / (curves.high.at(c) - low) * last, 0.0, last);
  const double before = std::min(std::floor(place), last - 1);
  const auto at = static_cast<size_t>(before);
  const double first = curves.colors[at].at(c);
  return first + (place - before) * (curves.colors[at + 1].at(c) - first);
}

std::vector<std::uint32_t> shaped_positions(const Cube& cube, std::uint32_t last,
                                            const PixelFormat& format) {
  std::vector<std::uint32_t> positions;
  for (size_t c = 0; c < 3; ++c) {
    for (std::uint32_t v = 0; v <= format.max_sample(); ++v) {
      const double x = interpolated(*cube.shaper, c, double(v) / format.max_sample());
      const double share = (x - cube.low.at(c)) / (cube.high.at(c) - cube.low.at(c));
      positions.push_back(
          static_cast<std::uint32_t>(std::nearbyint(std::clamp(share, 0.0, 1.0) * last)));
    }
  }
  return positions;
}

Lattice make_lattice(const Cube& cube, double strength, const PixelFormat& format) {
  const double max = format.max_sample();
  Lattice lattice;
  lattice.size = static_cast<std::uint32_t>(cube.size);
  lattice.last = (lattice.size - 1) << fraction_bits;
  for (size_t c = 0; c < 3; ++c)
    lattice.axes.at(c) = make_axis(cube.low.at(c), cube.high.at(c), lattice.last, max);
  if (cube.shaper) lattice.positions = shaped_positions(cube, lattice.last, format);
  lattice.keep = static_cast<float>(1 - strength);
  const size_t size = lattice.size;
  lattice.nodes.resize(4 * (cube.colors.size() + size * size + size + 1));
  const double scale = strength * max / (1U << fraction_bits);
  for (size_t i = 0; i < cube.colors.size(); ++i) {
    for (size_t c = 0; c < 3; ++c)
      lattice.nodes[4 * i + c] = static_cast<float>(cube.colors[i].at(c) * scale);
  }
  return lattice;
}

// For curves: the result for every sample, red, green, blue. Double precision, half to even.
std::vector<std::uint16_t> curve_tables(const Cube& cube, double strength,
                                        const PixelFormat& format) {
  const double max = format.max_sample();
  std::vector<std::uint16_t> tables;
  for (size_t c = 0; c < 3; ++c) {
    for (std::uint32_t v = 0; v <= format.max_sample(); ++v) {
      const double mixed = v + strength * (interpolated(cube, c, v / max) * max - v);
      tables.push_back(static_cast<std::uint16_t>(std::clamp(std::nearbyint(mixed), 0.0, max)));
    }
  }
  return tables;
}

// Pixels that are converted to RGBA, changed and converted back while in the first-level cache.
constexpr size_t block_pixels = 256;

// The four nodes around each pixel, as indices of their first floats, and their weights.
struct Corners {
  std::array<std::array<std::uint32_t, block_pixels>, 4> nodes;
  std::array<std::array<float, block_pixels>, 4> weights;
};

[[gnu::always_inline]] inline std::uint32_t position(std::uint32_t sample, const LatticeAxis& axis,
                                                     std::uint32_t last) {
  const std::uint32_t distance = sample - axis.low;
  const std::uint32_t inside =
      axis.start + distance * axis.whole + ((distance * axis.part + 32768U) >> 16U);
  const std::uint32_t limited = inside < last ? inside : last;
  const std::uint32_t not_above = sample > axis.high ? last : limited;
  return sample < axis.low ? 0 : not_above;
}

// The tetrahedron that a pixel lies in: from its cell's first node to the last, along the axis with
// the largest fraction first. If fractions are equal, the nodes on which the choices differ have no
// weight.
template <bool shaped, typename Sample>
[[gnu::always_inline]] inline void find_corners(const Sample* rgba, size_t count,
                                                const Lattice& lattice, Corners& corners) {
  constexpr size_t samples = size_t{std::numeric_limits<Sample>::max()} + 1;
  constexpr std::uint32_t one = 1U << fraction_bits;
  const std::array<LatticeAxis, 3> axes = lattice.axes;
  const std::uint32_t* positions = lattice.positions.data();
  const std::uint32_t last = lattice.last;
  const std::uint32_t red_step = 4;
  const std::uint32_t green_step = 4 * lattice.size;
  const std::uint32_t blue_step = green_step * lattice.size;
  for (size_t i = 0; i < count; ++i) {
    const auto pixel = Pixel<Sample, 4>::read(rgba + 4 * i);
    const auto position_of = [&](int c) __attribute__((always_inline)) {
      const auto sample = static_cast<std::uint32_t>(pixel.get(c));
      const auto at = static_cast<size_t>(c);
      return shaped ? positions[at * samples + sample] : position(sample, axes[at], last);
    };
    const std::uint32_t red = position_of(0);
    const std::uint32_t green = position_of(1);
    const std::uint32_t blue = position_of(2);
    const auto r = static_cast<std::int32_t>(red & (one - 1));
    const auto g = static_cast<std::int32_t>(green & (one - 1));
    const auto b = static_cast<std::int32_t>(blue & (one - 1));
    const std::int32_t high = std::max(std::max(r, g), b);
    const std::int32_t low = std::min(std::min(r, g), b);
    const std::int32_t middle = r + g + b - high - low;
    const std::uint32_t first_step = high == r ? red_step : (high == g ? green_step : blue_step);
    const std::uint32_t last_step = low == b ? blue_step : (low == g ? green_step : red_step);
    const std::uint32_t base = (red >> fraction_bits) * red_step +
                               (green >> fraction_bits) * green_step +
                               (blue >> fraction_bits) * blue_step;
    const std::uint32_t end = base + red_step + green_step + blue_step;
    corners.nodes[0][i] = base;
    corners.nodes[1][i] = base + first_step;
    corners.nodes[2][i] = end - last_step;
    corners.nodes[3][i] = end;
    corners.weights[0][i] = static_cast<float>(static_cast<std::int32_t>(one) - high);
    corners.weights[1][i] = static_cast<float>(high - middle);
    corners.weights[2][i] = static_cast<float>(middle - low);
    corners.weights[3][i] = static_cast<float>(low);
  }
}

// Vectors of four floats: compilers gather these from many pixels instead.
using Floats = VectorOf<float, lane_bytes>::type;
using Ints = VectorOf<std::int32_t, lane_bytes>::type;

// A pixel of RGBA in each vector.
[[gnu::always_inline]] inline std::array<Ints, 4> four_pixels(const std::uint16_t* rgba) {
  using Words = VectorOf<std::uint16_t, lane_bytes>::type;
  const auto first = load<Words>(rgba);
  const auto second = load<Words>(rgba + count_of<Words>);
  return {widened_low<std::int32_t>(first), widened_high<std::int32_t>(first),
          widened_low<std::int32_t>(second), widened_high<std::int32_t>(second)};
}
[[gnu::always_inline]] inline std::array<Ints, 4> four_pixels(const std::uint8_t* rgba) {
  const auto bytes = load<VectorOf<std::uint8_t, lane_bytes>::type>(rgba);
  const auto first = widened_low<std::uint16_t>(bytes);
  const auto second = widened_high<std::uint16_t>(bytes);
  return {widened_low<std::int32_t>(first), widened_high<std::int32_t>(first),
          widened_low<std::int32_t>(second), widened_high<std::int32_t>(second)};
}

// Stores numbers up to the largest sample; alpha stays.
template <typename Sample>
[[gnu::always_inline]] inline void store_colors(const std::array<Ints, 4>& pixels, Sample* rgba) {
  using Samples = VectorOf<Sample, lane_bytes>::type;
  const auto put = [](const auto& colors, Sample* to) __attribute__((always_inline)) {
    constexpr Sample a = std::numeric_limits<Sample>::max();
    const auto alpha = [] {
      if constexpr (sizeof(Sample) == 1)
        return Samples{0, 0, 0, a, 0, 0, 0, a, 0, 0, 0, a, 0, 0, 0, a};
      else
        return Samples{0, 0, 0, a, 0, 0, 0, a};
    }();
    store(to, static_cast<Samples>((load<Samples>(to) & alpha) | (as<Sample>(colors) & ~alpha)));
  };
  if constexpr (sizeof(Sample) == 1) {
    put(narrowed<Sample>(narrowed<std::int16_t>(pixels[0], pixels[1]),
                         narrowed<std::int16_t>(pixels[2], pixels[3])),
        rgba);
  } else {
    constexpr int half = 1 << 15;
    for (size_t i = 0; i < 4; i += 2) {
      const auto signed_colors = narrowed<std::int16_t>(pixels[i] - half, pixels[i + 1] - half);
      put(as<Sample>(signed_colors) ^ Sample{half}, rgba + 4 * i);
    }
  }
}

template <typename Sample, bool shaped>
struct LatticeLoop {
  // Works in groups of four pixels: blocks are padded to whole groups with unspecified pixels.
  template <InstructionSet set>
  [[gnu::always_inline]] static void change_block(Sample* rgba, size_t count,
                                                  const Lattice& lattice) {
    Corners corners;
    find_corners<shaped>(rgba, (count + 3) / 4 * 4, lattice, corners);
    const auto keep = everywhere<Floats>(lattice.keep);
    const Floats max = Floats{} + std::numeric_limits<Sample>::max();
    for (size_t i = 0; i < count; i += 4) {
      std::array<Ints, 4> pixels = four_pixels(rgba + 4 * i);
      std::array<Floats, 4> sums;
#pragma GCC unroll 4
      for (size_t p = 0; p < sums.size(); ++p)
        sums[p] = keep * __builtin_convertvector(pixels[p], Floats);
#pragma GCC unroll 4
      for (size_t k = 0; k < corners.nodes.size(); ++k) {
#pragma GCC unroll 4
        for (size_t p = 0; p < sums.size(); ++p) {
          sums[p] = fused_multiply_add<set>(
              everywhere<Floats>(corners.weights[k][i + p]),
              load<Floats>(lattice.nodes.data() + corners.nodes[k][i + p]), sums[p]);
        }
      }
#pragma GCC unroll 4
      for (size_t p = 0; p < sums.size(); ++p) {
        // Bytes are limited to 0 when they are packed.
        if constexpr (sizeof(Sample) > 1) sums[p] = maximum(Floats{}, sums[p]);
        pixels[p] = rounded(minimum(max, sums[p]));
      }
      store_colors(pixels, rgba + 4 * i);
    }
  }

  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const ConstRows source, const MutableRows target,
                                         const Lattice* lattice) {
    change_rgba_blocks<set, Sample, block_pixels>(
        source, target, [&](auto& block, size_t count) __attribute__((always_inline)) {
          change_block<set>(block.data(), count, *lattice);
        });
  }
};

template <typename Sample>
using PlainLoop = LatticeLoop<Sample, false>;
template <typename Sample>
using ShapedLoop = LatticeLoop<Sample, true>;

template <typename Sample>
void look_up_curves(const ConstRows& source, const MutableRows& target,
                    const std::uint16_t* tables) {
  const size_t entries = source.format.max_sample() + 1;
  const bool grey = source.format.color_channels() == 1;
  const auto channels = static_cast<size_t>(source.format.channels);
  const auto target_channels = static_cast<size_t>(target.format.channels);
  for_rows<Sample>(source, target, [&](const Sample* in, Sample* out) {
    for (int x = 0; x < source.width; ++x, in += channels, out += target_channels) {
      for (size_t c = 0; c < 3; ++c)
        out[c] = static_cast<Sample>(tables[c * entries + in[grey ? 0 : c]]);
      if (target_channels == 4) out[3] = in[channels - 1];
    }
  });
}

// Both fill `target`, which has 3 or 4 channels, from the same rows of `source`; alpha stays.
void lattice_rows(const ConstRows& source, const MutableRows& target, const Lattice& lattice) {
  if (lattice.positions.empty()) {
    run_loop_of_depth<PlainLoop>(source.format.depth, source, target, &lattice);
  } else {
    run_loop_of_depth<ShapedLoop>(source.format.depth, source, target, &lattice);
  }
}

void curve_rows(const ConstRows& source, const MutableRows& target, const std::uint16_t* tables) {
  if (source.format.depth == 8) {
    look_up_curves<std::uint8_t>(source, target, tables);
  } else {
    look_up_curves<std::uint16_t>(source, target, tables);
  }
}

std::string position_text(const char* name, int index, const LatticeAxis& axis,
                          std::uint32_t last) {
  const std::string sample = formatted("(uint)SAMPLE(in[i], {})", index);
  return formatted(
      "    const uint {0}_sample = {1};\n"
      "    const uint {0}_distance = {0}_sample - {2}u;\n"
      "    const uint {0} = {0}_sample < {2}u ? 0u : {0}_sample > {3}u ? {7}u : min({4}u + "
      "{0}_distance * {5}u + (({0}_distance * {6}u + 32768u) >> 16), {7}u);\n"
      "    const int {0}_part = (int)({0} & {8}u);\n",
      name, sample, axis.low, axis.high, axis.start, axis.whole, axis.part, last,
      (1U << fraction_bits) - 1);
}

// The positions of all samples follow the nodes.
std::string shaped_position_text(const char* name, int index, size_t nodes, size_t channel) {
  return formatted(
      "    const uint {0} = as_uint(table[{1}u + (uint)SAMPLE(in[i], {2})].s{3});\n"
      "    const int {0}_part = (int)({0} & {4}u);\n",
      name, nodes, index, channel, (1U << fraction_bits) - 1);
}

// For lattice_source().
std::vector<std::uint8_t> lattice_table(const Lattice& lattice) {
  std::vector<float> table = lattice.nodes;
  const size_t samples = lattice.positions.size() / 3;
  for (size_t v = 0; v < samples; ++v) {
    for (size_t c = 0; c < 3; ++c)
      table.push_back(std::bit_cast<float>(lattice.positions[c * samples + v]));
    table.push_back(0);
  }
  return to_bytes(table);
}

// The operations for a pixel in the kernel below. Neighbours find nodes of the same cells in the
// first-level cache, so work-items should have few pixels, next to those of others.
constexpr double lattice_operations = 90;

// The arithmetic of find_corners() and add_nodes().
std::string lattice_source(const Lattice& lattice, const PixelFormat& format) {
  const bool grey = format.color_channels() == 1;
  constexpr std::array names{"red", "green", "blue"};
  std::string text;
  for (int c = 0; c < 3; ++c) {
    const auto at = static_cast<size_t>(c);
    const int index = grey ? 0 : c;
    text += lattice.positions.empty()
                ? position_text(names.at(at), index, lattice.axes.at(at), lattice.last)
                : shaped_position_text(names.at(at), index, lattice.nodes.size() / 4, at);
  }
  text += formatted(
      "    const int high = max(max(red_part, green_part), blue_part);\n"
      "    const int low = min(min(red_part, green_part), blue_part);\n"
      "    const int middle = red_part + green_part + blue_part - high - low;\n"
      "    const uint first_step = high == red_part ? 1u : high == green_part ? {0}u : {1}u;\n"
      "    const uint last_step = low == blue_part ? {1}u : low == green_part ? {0}u : 1u;\n"
      "    const uint base = (red >> {2}) + (green >> {2}) * {0}u + (blue >> {2}) * {1}u;\n"
      "    const uint end = base + 1u + {0}u + {1}u;\n"
      "    const float4 node_0 = table[base], node_1 = table[base + first_step];\n"
      "    const float4 node_2 = table[end - last_step], node_3 = table[end];\n"
      "    const float weight_0 = (float)({3} - high), weight_1 = (float)(high - middle);\n"
      "    const float weight_2 = (float)(middle - low), weight_3 = (float)low;\n",
      lattice.size, lattice.size * lattice.size, fraction_bits, 1U << fraction_bits);
  for (int c = 0; c < 3; ++c) {
    text += formatted(
        "    SET_NUMBER(out[i], {0}, fma(weight_3, node_3.s{0}, fma(weight_2, node_2.s{0}, "
        "fma(weight_1, node_1.s{0}, fma(weight_0, node_0.s{0}, {1} * NUMBER(in[i], {2}))))));\n",
        c, float_literal(lattice.keep), grey ? 0 : c);
  }
  return text;
}

std::string curve_source(const PixelFormat& format) {
  const bool grey = format.color_channels() == 1;
  std::string text;
  for (int c = 0; c < 3; ++c) {
    text += formatted("    SET_SAMPLE(out[i], {}, table[{}u + (uint)SAMPLE(in[i], {})]);\n", c,
                      static_cast<std::uint32_t>(c) * (format.max_sample() + 1), grey ? 0 : c);
  }
  return text;
}

std::vector<std::uint8_t> sample_bytes(const std::vector<std::uint16_t>& table,
                                       const PixelFormat& format) {
  if (format.depth == 8) return {table.begin(), table.end()};
  return to_bytes(table);
}

std::string key_of(const Cube& cube) {
  ContentHasher hasher;
  const auto bytes = std::as_bytes(std::span(cube.colors));
  hasher.add({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()});
  return formatted("{} {} {} {} {}", cube.curves, cube.size, fmt::join(cube.low, " "),
                   fmt::join(cube.high, " "), to_string(hasher.result()));
}

class Lut final : public OneStepStage {
 public:
  Lut(Cube cube, double strength, std::string label)
      : cube_(std::move(cube)), strength_(strength), label_(std::move(label)) {}

  [[nodiscard]] std::string name() const override { return "lut"; }
  [[nodiscard]] std::string label() const override { return label_; }
  [[nodiscard]] std::string key() const override {
    std::string tables = key_of(cube_);
    if (cube_.shaper) tables = key_of(*cube_.shaper) + " " + tables;
    return formatted("lut {} {}", tables, strength_);
  }
  [[nodiscard]] PictureShape output(const PictureShape& input) const override {
    return {input.size, {input.format.has_alpha() ? 4 : 3, input.format.depth}};
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    if (cube_.curves) return {{formatted("lut curves {}", input.depth), 2e-9, 25e-12}, 1};
    return {{formatted("lut {}x{}", input.channels, input.depth), 4e-9, 30e-12}, 1};
  }
  [[nodiscard]] StepProperties properties(const StepPlace& at) const override {
    return {.changes_nothing = strength_ == 0 && output(at.source) == at.source};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& /*sizes*/) const override {
    const Prepared& ready = prepared(source.format);
    if (cube_.curves) {
      curve_rows(source, target, ready.curves.data());
    } else {
      lattice_rows(source, target, ready.lattice);
    }
  }

  [[nodiscard]] std::optional<PixelFunction> pixel_function(
      const PixelFormat& input, const DeviceInfo& /*device*/) const override {
    const Prepared& ready = prepared(input);
    PixelFunction function;
    if (cube_.curves) {
      function = {curve_source(input), "sample_t", sample_bytes(ready.curves, input)};
    } else {
      function = {lattice_source(ready.lattice, input), "float4", lattice_table(ready.lattice)};
      function.operations = lattice_operations;
    }
    if (input.has_alpha()) function.body += "    " + copy_alpha(input, 3);
    function.body = for_each_pixel(function.body);
    return function;
  }

 private:
  struct Prepared {
    std::once_flag made;
    Lattice lattice;
    std::vector<std::uint16_t> curves;
  };

  // For a depth, made when first requested. Thread-safe.
  [[nodiscard]] const Prepared& prepared(const PixelFormat& format) const {
    Prepared& slot = prepared_.at(format.depth == 8 ? 0 : 1);
    std::call_once(slot.made, [&] {
      if (cube_.curves) {
        slot.curves = curve_tables(cube_, strength_, format);
      } else {
        slot.lattice = make_lattice(cube_, strength_, format);
      }
    });
    return slot;
  }

  Cube cube_;
  double strength_;
  std::string label_;
  mutable std::array<Prepared, 2> prepared_;
};

// Irregular colours that follow no formula, some of them outside the range.
Cube sample_cube(bool curves, int size) {
  Cube cube{.curves = curves, .size = size, .low = {0, 0.1, -0.5}, .high = {1, 0.8, 1.5}};
  std::uint32_t state = 1;
  const auto next = [&state] {
    state = state * 1664525U + 1013904223U;
    return static_cast<float>(state >> 8U) / static_cast<float>(1U << 24U) * 1.2F - 0.1F;
  };
  const int count = curves ? size : size * size * size;
  for (int i = 0; i < count; ++i)
    cube.colors.push_back({next(), next(), next()});
  return cube;
}

std::vector<std::pair<std::string, std::shared_ptr<const Stage>>> sample_luts() {
  Cube shaped = sample_cube(false, 9);
  shaped.shaper = std::make_shared<const Cube>(sample_cube(true, 6));
  return {{"17x17x17", make_lut(sample_cube(false, 17), 1, "17x17x17")},
          {"5x5x5 --lut-strength 0.4", make_lut(sample_cube(false, 5), 0.4, "5x5x5")},
          {"9x9x9 after curves", make_lut(shaped, 1, "9x9x9 after curves")},
          {"curves", make_lut(sample_cube(true, 7), 0.7, "curves")}};
}

}  // namespace

std::shared_ptr<const Stage> make_lut(Cube cube, double strength, std::string label) {
  return std::make_shared<Lut>(std::move(cube), strength, std::move(label));
}

StageKind lut_stage_kind() {
  return {.option = "--lut",
          .type = FileName{".cube"},
          .help =
              "Take colours from a table. FILE is a .cube file with LUT_3D_SIZE, LUT_1D_SIZE or "
              "both, or a HaldCLUT, a picture of any format.",
          .parameters = {{.option = "--lut-strength",
                          .type = NumberIn{0, 1, false, Percent::of_one},
                          .default_value = "1",
                          .help = "The share of the table's colour in the result; the rest is "
                                  "the picture's."}},
          .formula =
              "A cell of a LUT_3D_SIZE table is divided into six tetrahedra. The weights of the "
              "four corners of a colour's tetrahedron are whole numbers that add up to 2^20.\n"
              "sum = (1 - STRENGTH) * x\n"
              "sum = fma(weight[k], node[k] * STRENGTH * max / 2^20, sum) for k = 0, 1, 2, 3\n"
              "out = sum, rounded half to even and limited to 0..max\n"
              "x are the samples as stored, max is 255 or 65535; single precision. LUT_1D_SIZE: a "
              "table for each channel, interpolated linearly in double precision. If a file has "
              "both, the curves come first.",
          .edges = "None: a pixel depends on no other pixel.",
          .alpha = "Does not change and has no influence. Grey pictures become RGB.",
          .examples = {"in.jpg out.jpg --lut film.cube",
                       "in.jpg out.jpg --lut film.cube --lut-strength 0.5"},
          .sample_stages = sample_luts,
          .from_options = [](const OptionValues& values) {
            const InputFile& file = values.file("--lut");
            return make_lut(read_cube(file, values.limits()), values.number("--lut-strength"),
                            std::filesystem::path(file.name).filename());
          }};
}

}  // namespace gpufilter
