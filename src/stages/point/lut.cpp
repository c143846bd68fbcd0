#include "stages/point/lut.hpp"

#include <bit>
#include <filesystem>
#include <mutex>
#include <span>

#include "base/content_hash.hpp"
#include "base/format.hpp"
#include "device/device_constants.hpp"
#include "stages/point/lut_rows.hpp"

namespace gpufilter {
namespace {

using std::size_t;

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

// The positions of all samples lie behind the nodes.
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
  return to_bytes(std::span<const float>(table));
}

// The operations for a pixel in the kernel below. Neighbours find nodes of the same cells in the
// first-level cache, so work-items should have few pixels, next to those of others.
constexpr double lattice_operations = 90;

// As find_corners() and add_nodes() of lut_rows.cpp.
std::string lattice_source(const Lattice& lattice, const PixelFormat& format) {
  const bool grey = format.color_channels() == 1;
  constexpr std::array names{"red", "green", "blue"};
  std::string text = "#pragma unroll\n  for (int i = 0; i < PIXELS; ++i) {\n";
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
  std::string text = "#pragma unroll\n  for (int i = 0; i < PIXELS; ++i) {\n";
  for (int c = 0; c < 3; ++c) {
    text += formatted("    SET_SAMPLE(out[i], {}, table[{}u + (uint)SAMPLE(in[i], {})]);\n", c,
                      static_cast<std::uint32_t>(c) * (format.max_sample() + 1), grey ? 0 : c);
  }
  return text;
}

std::vector<std::uint8_t> sample_bytes(const std::vector<std::uint16_t>& table,
                                       const PixelFormat& format) {
  if (format.depth == 8) return {table.begin(), table.end()};
  return to_bytes(std::span(table));
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
    function.body += "  }\n";
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

// Colours that no formula would interpolate, some of them outside the range.
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
            const std::string& path = values.text("--lut");
            return make_lut(read_cube(path, values.limits()), values.number("--lut-strength"),
                            std::filesystem::path(path).filename());
          }};
}

}  // namespace gpufilter
