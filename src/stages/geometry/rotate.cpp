// --rotate: by any angle.
#include "stages/geometry/rotate.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/elementary.hpp"
#include "base/format.hpp"

namespace gpufilter {
namespace {

using std::size_t;

double within_a_turn(double degrees) {
  const double rest = degrees - std::floor(degrees / 360) * 360;
  return rest < 360 ? rest : 0;
}

// The largest rectangle within one of size `source` that is turned by an angle with this sine and
// cosine, both positive.
ImageSize largest_inside(ImageSize source, double sine, double cosine) {
  const double longer = std::max(source.width, source.height);
  const double shorter = std::min(source.width, source.height);
  double width = 0;
  double height = 0;
  if (shorter <= 2 * sine * cosine * longer || std::abs(sine - cosine) < 1e-9) {
    // Two corners are on the longer sides, the others in the middle between them.
    const double half = shorter / 2;
    const bool is_wide = source.width >= source.height;
    width = half / (is_wide ? sine : cosine);
    height = half / (is_wide ? cosine : sine);
  } else {
    const double divisor = cosine * cosine - sine * sine;
    width = (source.width * cosine - source.height * sine) / divisor;
    height = (source.height * cosine - source.width * sine) / divisor;
  }
  const auto whole = [](double side) {
    return std::max(static_cast<int>(std::floor(side + tolerance_of_sides)), 1);
  };
  return {whole(width), whole(height)};
}

class Rotate final : public Stage {
 public:
  explicit Rotate(const RotateParameters& parameters) : parameters_(parameters) {}

  [[nodiscard]] std::string name() const override { return "rotate"; }
  [[nodiscard]] std::string label() const override { return formatted("{}", parameters_.degrees); }
  [[nodiscard]] std::string key() const override {
    return formatted("rotate {:a} {} {}", parameters_.degrees, static_cast<int>(parameters_.fit),
                     to_string(parameters_.warp));
  }
  [[nodiscard]] StageTraits traits() const override { return {.has_up = true}; }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    return {.steps = {make_rotate_step(parameters_, context.shape, {name(), label()})}};
  }

 private:
  RotateParameters parameters_;
};

std::vector<std::pair<std::string, std::shared_ptr<const Stage>>> rotated_samples() {
  const auto stage = [](double degrees, RotateFit fit, const WarpParameters& warp) {
    return make_rotate({degrees, fit, warp});
  };
  const Color color{12, 250, 99};
  return {{"3", stage(3, RotateFit::grow, {})},
          {"-45 linear",
           stage(-45, RotateFit::keep, {.interpolation = Interpolation::linear, .color = color})},
          {"100 nearest, transparent",
           stage(100, RotateFit::grow,
                 {.interpolation = Interpolation::nearest, .color = std::nullopt})},
          {"7 transparent", stage(7, RotateFit::grow, {.color = std::nullopt})},
          {"20 cropped", stage(20, RotateFit::crop, {})},
          {"170 mirror", stage(170, RotateFit::keep, {.outside = Border::mirror})},
          {"-8 wrap", stage(-8, RotateFit::keep, {.outside = Border::wrap})},
          {"90", stage(90, RotateFit::grow, {})},
          {"180", stage(180, RotateFit::grow, {})},
          {"270", stage(270, RotateFit::grow, {})}};
}

}  // namespace

Rotation rotation_of(double degrees, RotateFit fit, ImageSize source) {
  const double angle = within_a_turn(degrees);
  const double sine = sine_of_degrees(angle);
  const double cosine = sine_of_degrees(within_a_turn(angle + 90));
  ImageSize size = source;
  if (fit == RotateFit::crop) {
    size = largest_inside(source, std::abs(sine), std::abs(cosine));
  } else if (fit == RotateFit::grow) {
    const auto side = [&](int along, int across) {
      const double length = along * std::abs(cosine) + across * std::abs(sine);
      return static_cast<int>(std::ceil(length - tolerance_of_sides));
    };
    size = {side(source.width, source.height), side(source.height, source.width)};
  }
  // About the middles of both.
  const double x = (size.width - 1) / 2.0;
  const double y = (size.height - 1) / 2.0;
  return {{cosine, sine, (source.width - 1) / 2.0 - cosine * x - sine * y,    //
           -sine, cosine, (source.height - 1) / 2.0 + sine * x - cosine * y,  //
           0, 0, 1},
          size};
}

std::shared_ptr<const Step> make_rotate_step(const RotateParameters& parameters,
                                             const PictureShape& shape, StepTitle title) {
  const Rotation rotation = rotation_of(parameters.degrees, parameters.fit, shape.size);
  WarpParameters warp = parameters.warp;
  // Kernels reach a little outside.
  if (parameters.fit == RotateFit::crop && warp.outside == Border::constant)
    warp.outside = Border::replicate;
  return make_warp_step(rotation.matrix, shape, rotation.size, warp, std::move(title));
}

std::shared_ptr<const Stage> make_rotate(const RotateParameters& parameters) {
  const double angle = within_a_turn(parameters.degrees);
  const double quarters = angle / 90;
  const bool keeps_shape = parameters.fit != RotateFit::keep || quarters == 0 || quarters == 2;
  if (quarters == std::floor(quarters) && keeps_shape)
    return make_quarter_turns(static_cast<int>(angle));
  return std::make_shared<Rotate>(parameters);
}

StageParameter rotate_fit_parameter() {
  return {.option = "--rotate-fit",
          .type = OneOf{{{"grow", RotateFit::grow, "the whole rotated picture"},
                         {"keep", RotateFit::keep, "the size of the picture; corners are cut off"},
                         {"crop", RotateFit::crop,
                          "the largest rectangle that shows nothing outside the picture"}}},
          .default_value = "grow",
          .help = "The size of the result."};
}

StageKind rotate_stage_kind() {
  std::vector<StageParameter> parameters = warp_parameters();
  parameters.insert(parameters.begin(), rotate_fit_parameter());
  return {
      .option = "--rotate",
      .type = NumberIn{-36'000, 36'000},
      .help =
          "Rotate clockwise by an angle. It is in degrees. Multiples of 90 only move pixels; 90 "
          "and -90, which is 270, swap width and height. Other angles interpolate.",
      .parameters = std::move(parameters),
      .formula =
          "90:  out(x, y) = in(y, height - 1 - x)\n"
          "180: out(x, y) = in(width - 1 - x, height - 1 - y)\n"
          "270: out(x, y) = in(width - 1 - y, x)\n"
          "other angles: out(x, y) = in(u, v) as --affine interpolates it, where, from the "
          "middles of both pictures,\n"
          "u = x cos(ANGLE) + y sin(ANGLE), v = y cos(ANGLE) - x sin(ANGLE)",
      .edges = "--outside; by default the colour --pad-color.",
      .alpha = "Colours are weighted by alpha. With --pad-color transparent the result has alpha.",
      .examples = {"in.jpg out.jpg --rotate 90", "in.jpg out.jpg --rotate -1.5 --rotate-fit crop",
                   "in.jpg out.png --rotate 30 --pad-color transparent"},
      .sample_stages = rotated_samples,
      .from_options = [](const OptionValues& values) {
        return make_rotate({values.number("--rotate"), values.choice<RotateFit>("--rotate-fit"),
                            warp_parameters_of(values)});
      }};
}

}  // namespace gpufilter
