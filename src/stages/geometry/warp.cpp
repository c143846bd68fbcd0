#include "stages/geometry/warp.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/error.hpp"
#include "base/format.hpp"
#include "device/device_rows.hpp"
#include "stage/device/row_pass.hpp"

namespace gpufilter {
namespace {

using std::size_t;

// A position in the source, and the divisor that it was divided by.
struct SourcePosition {
  double u;
  double v;
  double w;
};

SourcePosition mapped(const WarpMatrix& m, double x, double y) {
  const double w = m[6] * x + m[7] * y + m[8];
  return {(m[0] * x + m[1] * y + m[2]) / w, (m[3] * x + m[4] * y + m[5]) / w, w};
}

bool is_projective(const WarpMatrix& m) {
  return m[6] != 0 || m[7] != 0 || m[8] != 1;
}

// The largest distance in the source between neighbours in the result, along rows or columns. It
// is measured at nine places, as far as they lie in the source.
double largest_step(const WarpMatrix& matrix, ImageSize source, ImageSize target, bool along_rows) {
  double largest = 0;
  for (int place = 0; place < 9; ++place) {
    const double x = (target.width - 1) * 0.5 * (place % 3);
    const double y = (target.height - 1) * 0.5 * (place / 3);
    const SourcePosition at = mapped(matrix, x, y);
    const SourcePosition next = mapped(matrix, x + (along_rows ? 1 : 0), y + (along_rows ? 0 : 1));
    const bool is_inside = at.w > 0 && next.w > 0 && at.u > -1 && at.v > -1 &&
                           at.u < source.width && at.v < source.height;
    if (!is_inside && is_projective(matrix)) continue;
    const double du = next.u - at.u;
    const double dv = next.v - at.v;
    largest = std::max(largest, std::sqrt(du * du + dv * dv));
  }
  return largest;
}

// Samples of a pixel in one direction, as a logarithm: so many that they are at most 5/4 of a pixel
// of the source apart, up to 32.
int sample_bits_for(double step) {
  int bits = 0;
  while (bits < 5 && step > 1.25 * (1 << bits))
    ++bits;
  return bits;
}

// In units of 1 / `scale`.
std::int64_t fixed(double number, double scale) {
  return static_cast<std::int64_t>(std::floor(number * scale + 0.5));
}

struct SampleGrid {
  int bits_x;
  int bits_y;
};

WarpMap::Row fixed_row(const double* row, double scale, const SampleGrid& grid, double rounding) {
  WarpMap::Row result{fixed(row[0], scale), fixed(row[1], scale)};
  const int across = 1 << grid.bits_x;
  const int down = 1 << grid.bits_y;
  for (int j = 0; j < down; ++j) {
    for (int i = 0; i < across; ++i) {
      const double x = (2 * i + 1 - across) / (2.0 * across);
      const double y = (2 * j + 1 - down) / (2.0 * down);
      result.offsets.push_back(fixed(row[0] * x + row[1] * y + row[2], scale) +
                               static_cast<std::int64_t>(rounding));
    }
  }
  return result;
}

// The largest magnitude of the terms of a row, and of their sum, in the result and in the blocks
// that end behind it.
double reach(const double* row, ImageSize target) {
  return std::abs(row[0]) * (target.width + 64.0) + std::abs(row[1]) * (target.height + 64.0) +
         std::abs(row[2]);
}

std::int64_t divided_downwards(std::int64_t a, std::int64_t b) {
  const std::int64_t quotient = a / b;
  return quotient - (a - quotient * b < 0 ? 1 : 0);
}

class WarpStep final : public Step {
 public:
  WarpStep(Warp warp, const PictureShape& target, StepTitle title)
      : warp_(std::move(warp)), target_(target), title_(std::move(title)) {}

  [[nodiscard]] StepTitle title() const override { return title_; }
  [[nodiscard]] PictureShape output(const PictureShape& /*input*/) const override {
    return target_;
  }
  [[nodiscard]] StageCost cost(const PixelFormat& input) const override {
    const Rate rate = warp_.interpolation == Interpolation::cubic
                          ? Rate(formatted("warp cubic {}", input.depth), 3e-9, 20e-12)
                          : Rate(formatted("warp {}", input.depth), 1e-9, 8e-12);
    return {rate, static_cast<double>(input.channels) * (1 << warp_.map.sample_bits)};
  }

  // All rows, where the first of them might lie above those of earlier rows of the result.
  [[nodiscard]] RowRange source_rows(const RowRange& target, ImageSize source) const override {
    const WarpMap& map = warp_.map;
    const bool is_local = warp_.outside == Border::constant || warp_.outside == Border::replicate;
    if (!is_local || map.is_projective || map.v.y < 0) return {0, source.height};
    int first = INT32_MAX;
    int last = INT32_MIN;
    for (const int x : {0, target_.size.width - 1}) {
      for (size_t sample = 0; sample < map.v.offsets.size(); ++sample) {
        first = std::min(first, map.place(x, target.begin, sample)[1].pixel);
        last = std::max(last, map.place(x, target.end - 1, sample)[1].pixel);
      }
    }
    first -= taps_before(warp_.interpolation);
    last += warp_taps(warp_.interpolation) - taps_before(warp_.interpolation);
    const int begin = std::clamp(first, 0, source.height - 1);
    return {begin, std::clamp(last, begin + 1, source.height)};
  }

  void run(const ConstRows& source, const MutableRows& target,
           const StageSizes& /*sizes*/) const override {
    warp_rows(warp_, source, target);
  }

  [[nodiscard]] std::unique_ptr<DevicePass> prepare(Session& session,
                                                    const PictureShape& input) const override {
    std::vector<std::int64_t> numbers;
    for (const WarpMap::Row& row : {warp_.map.u, warp_.map.v, warp_.map.w}) {
      numbers.insert(numbers.end(), {row.x, row.y});
      numbers.insert(numbers.end(), row.offsets.begin(), row.offsets.end());
    }
    return make_row_pass(
        session,
        {.file = "warp.cl",
         .function = "warp",
         .macros =
             formatted("-D INTERPOLATION={} -D PROJECTIVE={:d} -D SAMPLE_BITS={} -D BORDER={}",
                       static_cast<int>(warp_.interpolation), warp_.map.is_projective,
                       warp_.map.sample_bits, static_cast<int>(warp_.outside)),
         .tables = {to_bytes(numbers), to_bytes(warp_.color)},
         .variant = title_.label},
        input, target_);
  }

 private:
  Warp warp_;
  PictureShape target_;
  StepTitle title_;
};

}  // namespace

std::vector<StageParameter> warp_parameters() {
  return {{.option = "--interpolation",
           .type = OneOf{{{"cubic", Interpolation::cubic, "sharp: 4 x 4 pixels, as --kernel cubic"},
                          {"linear", Interpolation::linear, "softer, faster: 2 x 2 pixels"},
                          {"nearest", Interpolation::nearest, "the nearest pixel"}}},
           .default_value = "cubic",
           .help = "How pixels between those of the picture are computed."},
          {.option = "--outside",
           .type = OneOf{{{"color", Border::constant, "--pad-color"},
                          {"replicate", Border::replicate, "the nearest pixel, aaa|abcd|ddd"},
                          {"mirror", Border::mirror,
                           "the reflection about the outermost pixel, dcb|abcd|cba"},
                          {"wrap", Border::wrap, "the opposite side, bcd|abcd|abc"}}},
           .default_value = "color",
           .help = "What lies outside the picture."},
          pad_color_parameter()};
}

WarpParameters warp_parameters_of(const OptionValues& values) {
  return {values.choice<Interpolation>("--interpolation"), values.choice<Border>("--outside"),
          pad_color_of(values)};
}

std::string to_string(const WarpParameters& parameters) {
  return formatted("{} {} {}", static_cast<int>(parameters.interpolation),
                   static_cast<int>(parameters.outside), pad_color_text(parameters.color));
}

WarpMatrix product(const WarpMatrix& a, const WarpMatrix& b) {
  WarpMatrix result{};
  for (size_t i = 0; i < 9; ++i) {
    const size_t row = i / 3 * 3;
    result.at(i) =
        a.at(row) * b.at(i % 3) + a.at(row + 1) * b.at(i % 3 + 3) + a.at(row + 2) * b.at(i % 3 + 6);
  }
  return result;
}

std::optional<WarpMatrix> inverse(const WarpMatrix& m) {
  const auto minor = [&](size_t a, size_t b, size_t c, size_t d) {
    return m.at(a) * m.at(d) - m.at(b) * m.at(c);
  };
  WarpMatrix result{minor(4, 5, 7, 8), minor(2, 1, 8, 7), minor(1, 2, 4, 5),
                    minor(5, 3, 8, 6), minor(0, 2, 6, 8), minor(2, 0, 5, 3),
                    minor(3, 4, 6, 7), minor(1, 0, 7, 6), minor(0, 1, 3, 4)};
  const double determinant = m[0] * result[0] + m[1] * result[3] + m[2] * result[6];
  const double size =
      std::abs(m[0] * result[0]) + std::abs(m[1] * result[3]) + std::abs(m[2] * result[6]);
  constexpr double rounding = 1e-12;
  if (!(std::abs(determinant) > rounding * size)) return std::nullopt;
  for (double& number : result)
    number /= determinant;
  return result;
}

std::array<WarpMap::Place, 2> WarpMap::place(int column, int line, size_t sample) const {
  std::array<Place, 2> places{};
  const std::int64_t divisor = is_projective ? w.at(column, line, sample) >> weight_bits : 1;
  for (size_t i = 0; i < 2; ++i) {
    const std::int64_t position = (i == 0 ? u : v).at(column, line, sample);
    constexpr std::int64_t far = std::int64_t{1} << 30U;
    if (!is_projective) {
      places.at(i) = {
          static_cast<std::int32_t>(position >> 32U),
          static_cast<std::int32_t>(static_cast<std::uint32_t>(position) >> (32U - weight_bits))};
    } else if (divisor <= 0) {
      places.at(i) = {static_cast<std::int32_t>(-far), 0};
    } else {
      const std::int64_t part =
          divided_downwards(position + divisor / 2, divisor) + projective_rounding;
      places.at(i) = {static_cast<std::int32_t>(std::clamp(part >> weight_bits, -far, far)),
                      static_cast<std::int32_t>(part & ((1 << weight_bits) - 1))};
    }
  }
  return places;
}

WarpMap make_warp_map(const WarpMatrix& matrix, ImageSize source, ImageSize target,
                      Interpolation interpolation) {
  WarpMap map;
  map.is_projective = is_projective(matrix);
  const bool is_nearest = interpolation == Interpolation::nearest;
  SampleGrid grid{};
  if (!is_nearest) {
    grid = {sample_bits_for(largest_step(matrix, source, target, true)),
            sample_bits_for(largest_step(matrix, source, target, false))};
  }
  map.sample_bits = grid.bits_x + grid.bits_y;
  const double* rows = matrix.data();
  const double farthest = std::max(reach(rows, target), reach(rows + 3, target));
  constexpr double far = 1 << 30;
  if (!map.is_projective) {
    if (!(farthest < far))
      throw UnsuitableSize("the matrix maps the picture too far away, or makes it too large");
    const double rounding = is_nearest ? 0x1p31 : 0x1p16;
    map.u = fixed_row(rows, 0x1p32, grid, rounding);
    map.v = fixed_row(rows + 3, 0x1p32, grid, rounding);
    return map;
  }
  // A power of two, so that each sum stays below 2^61.
  const double scale =
      std::ldexp(1.0, 60 - std::ilogb(std::max(farthest, reach(rows + 6, target))));
  map.u = fixed_row(rows, scale, grid, 0);
  map.v = fixed_row(rows + 3, scale, grid, 0);
  map.w = fixed_row(rows + 6, scale, grid, 0);
  map.projective_rounding = is_nearest ? 1 << (WarpMap::weight_bits - 1) : 0;
  return map;
}

std::shared_ptr<const Step> make_warp_step(const WarpMatrix& matrix, const PictureShape& shape,
                                           ImageSize size, const WarpParameters& parameters,
                                           StepTitle title) {
  const bool pads = parameters.outside == Border::constant;
  const PixelFormat format = pads ? padded_format(shape.format, parameters.color) : shape.format;
  return std::make_shared<WarpStep>(
      Warp{make_warp_map(matrix, shape.size, size, parameters.interpolation),
           parameters.interpolation, parameters.outside, pad_samples(format, parameters.color),
           shape.size},
      PictureShape{size, format}, std::move(title));
}

}  // namespace gpufilter
