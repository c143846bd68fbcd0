// --affine and --perspective: warps by a matrix and by four points.
#include <array>
#include <cmath>
#include <utility>
#include <vector>

#include "base/error.hpp"
#include "base/format.hpp"
#include "base/printable.hpp"
#include "stage/options/stage_text.hpp"
#include "stages/geometry/warp.hpp"

namespace gpufilter {
namespace {

using std::size_t;

class MatrixWarp final : public Stage {
 public:
  // `matrix` maps the result to the source. No `size`: the source's.
  MatrixWarp(std::string name, std::string label, const WarpMatrix& matrix,
             const std::optional<ImageSize>& size, const WarpParameters& parameters)
      : name_(std::move(name)),
        label_(std::move(label)),
        matrix_(matrix),
        size_(size),
        parameters_(parameters) {}

  [[nodiscard]] std::string name() const override { return name_; }
  [[nodiscard]] std::string label() const override { return label_; }
  [[nodiscard]] std::string key() const override {
    const ImageSize size = size_.value_or(ImageSize{});
    std::string key = formatted("warp {}x{} {}", size.width, size.height, to_string(parameters_));
    for (const double number : matrix_)
      key += formatted(" {:a}", number);
    return key;
  }
  [[nodiscard]] StageTraits traits() const override { return {.has_up = true}; }
  [[nodiscard]] Lowered lower(const PictureContext& context) const override {
    return {.steps = {make_warp_step(matrix_, context.shape, size_.value_or(context.shape.size),
                                     parameters_, {name_, label_})}};
  }

 private:
  std::string name_;
  std::string label_;
  WarpMatrix matrix_;
  std::optional<ImageSize> size_;
  WarpParameters parameters_;
};

// The numbers of an option, however they are laid out.
std::vector<double> numbers_of(const std::string& option, const std::string& value, size_t count,
                               const char* form) {
  std::vector<double> numbers;
  for (const NumberRow& row : parse_number_rows(value, {option}))
    numbers.insert(numbers.end(), row.numbers.begin(), row.numbers.end());
  if (numbers.size() == count) return numbers;
  throw UsageError(formatted("{} {}: {} numbers instead of {}; write \"{}\"", option,
                             printable(value), numbers.size(), count, form));
}

struct CornerPoint {
  double x;
  double y;
};
using FourPoints = std::array<CornerPoint, 4>;

// Maps the corners (0, 0), (1, 0), (1, 1) and (0, 1) of a square to these points (Heckbert,
// Fundamentals of texture mapping, 1989). Nothing if three of them are on a line.
std::optional<WarpMatrix> square_to(const FourPoints& p) {
  const double across_x = p[1].x - p[2].x;
  const double across_y = p[1].y - p[2].y;
  const double down_x = p[3].x - p[2].x;
  const double down_y = p[3].y - p[2].y;
  const double sum_x = p[0].x - p[1].x + p[2].x - p[3].x;
  const double sum_y = p[0].y - p[1].y + p[2].y - p[3].y;
  const double divisor = across_x * down_y - down_x * across_y;
  if (divisor == 0) return std::nullopt;
  const double g = (sum_x * down_y - down_x * sum_y) / divisor;
  const double h = (across_x * sum_y - sum_x * across_y) / divisor;
  const WarpMatrix matrix{p[1].x - p[0].x + g * p[1].x,
                          p[3].x - p[0].x + h * p[3].x,
                          p[0].x,
                          p[1].y - p[0].y + g * p[1].y,
                          p[3].y - p[0].y + h * p[3].y,
                          p[0].y,
                          g,
                          h,
                          1};
  if (!inverse(matrix)) return std::nullopt;
  return matrix;
}

// Maps the points `from` to the points `to`.
std::optional<WarpMatrix> between_points(const FourPoints& from, const FourPoints& to) {
  const auto first = square_to(from);
  const auto second = square_to(to);
  if (!first || !second) return std::nullopt;
  const auto back = inverse(*first);
  if (!back) return std::nullopt;
  WarpMatrix matrix = product(*second, *back);
  // In front of the viewer, w is positive.
  const auto w = [&](const CornerPoint& p) {
    return matrix[6] * p.x + matrix[7] * p.y + matrix[8];
  };
  const double scale = w(from[0]);
  for (const CornerPoint& p : from) {
    if (!(w(p) / scale > 0)) return std::nullopt;
  }
  for (double& number : matrix)
    number /= scale;
  return matrix;
}

// From positions whose origin is the corner of the picture, to those whose origin is the middle of
// its first pixel.
WarpMatrix for_pixel_middles(const WarpMatrix& matrix) {
  constexpr double half = 0.5;
  return product(product({1, 0, -half, 0, 1, -half, 0, 0, 1}, matrix),
                 {1, 0, half, 0, 1, half, 0, 0, 1});
}

std::optional<ImageSize> canvas_of(const OptionValues& values) {
  const std::string& text = values.text("--canvas");
  if (text == "source") return std::nullopt;
  constexpr double max = 1'000'000;
  const size_t cross = text.find('x');
  const auto side = [&](const std::string& part) {
    const std::optional<double> number = to_number(part);
    const bool is_whole = number && *number == std::floor(*number);
    if (cross == std::string::npos || !is_whole || *number < 1 || *number > max) {
      throw UsageError(
          formatted("--canvas {}: write WIDTHxHEIGHT, each from 1 to {:.0f}, or source",
                    printable(text), max));
    }
    return static_cast<int>(*number);
  };
  return ImageSize{side(text.substr(0, std::min(cross, text.size()))),
                   side(cross == std::string::npos ? "" : text.substr(cross + 1))};
}

std::vector<StageParameter> matrix_parameters() {
  std::vector<StageParameter> parameters = warp_parameters();
  parameters.insert(parameters.begin(),
                    {.option = "--canvas",
                     .type = FreeText{"source|WxH", {{"source", "the size of the picture"}}},
                     .default_value = "source",
                     .help = "The size of the result, whose top left corner stays."});
  return parameters;
}

std::shared_ptr<const Stage> affine_from_options(const OptionValues& values) {
  const std::string& value = values.text("--affine");
  const auto m = numbers_of("--affine", value, 6, "A,B,C,D,E,F");
  const auto matrix = inverse({m[0], m[1], m[2], m[3], m[4], m[5], 0, 0, 1});
  if (!matrix) {
    throw UsageError(
        formatted("--affine {}: the matrix is singular: a picture would become a line or a point",
                  printable(value)));
  }
  return std::make_shared<MatrixWarp>("affine", value, *matrix, canvas_of(values),
                                      warp_parameters_of(values));
}

std::shared_ptr<const Stage> perspective_from_options(const OptionValues& values) {
  const std::string& value = values.text("--perspective");
  const auto n =
      numbers_of("--perspective", value, 16, "x1,y1 X1,Y1  x2,y2 X2,Y2  x3,y3 X3,Y3  x4,y4 X4,Y4");
  FourPoints from{};
  FourPoints to{};
  for (size_t i = 0; i < 4; ++i) {
    from.at(i) = {n[4 * i], n[4 * i + 1]};
    to.at(i) = {n[4 * i + 2], n[4 * i + 3]};
  }
  const auto matrix = between_points(to, from);
  if (!matrix) {
    throw UsageError(formatted(
        "--perspective {}: no perspective moves these points; three of them may be on a line, or "
        "two may have changed places",
        printable(value)));
  }
  return std::make_shared<MatrixWarp>("perspective", value, for_pixel_middles(*matrix),
                                      canvas_of(values), warp_parameters_of(values));
}

constexpr const char* warp_edges = "--outside; by default the colour --pad-color.";
constexpr const char* warp_alpha =
    "Colours are weighted by alpha. With --pad-color transparent the result has alpha.";

}  // namespace

StageKind affine_stage_kind() {
  return {
      .option = "--affine",
      .type =
          FreeText{"A,B,C,D,E,F", {{"A,B,C,D,E,F", "(x, y) moves to (Ax + By + C, Dx + Ey + F)"}}},
      .help =
          "Transform by a 2x3 matrix. It is that of OpenCV's warpAffine: it "
          "maps positions in the picture to positions in the result, and (0, 0) is the middle "
          "of the top left pixel.",
      .parameters = matrix_parameters(),
      .formula =
          "out(x, y) = in(u, v), where the matrix maps (u, v) to (x, y)\n"
          "u and v are rounded to 1/32768 of a pixel, so weights have 15 bits; cubic is Catmull "
          "and "
          "Rom's kernel (a = -1/2)\n"
          "along rows: h = sum of weight * sample / 32768; along columns: sum of weight * h / "
          "32768\n"
          "h, and results before the last step, are rounded half up to 1/128 for 8 bits and to 1 "
          "for 16 bits\n"
          "Where the picture shrinks, out is the mean of 2, 4 ... 32 such samples in each "
          "direction, "
          "at most 5/4 of a pixel apart.",
      .edges = warp_edges,
      .alpha = warp_alpha,
      .examples = {"in.png out.png --affine 1,0.2,0,0,1,0 --canvas 700x500"},
      .sample_values = {"0.9,0.3,2,-0.2,1.1,5", "0.3,0,0,0.1,0.2,3", "-1,0,40,0,-1,30"},
      .from_options = affine_from_options};
}

StageKind perspective_stage_kind() {
  return {
      .option = "--perspective",
      .type = FreeText{"POINTS",
                       {{"\"x,y X,Y x,y X,Y x,y X,Y x,y X,Y\"",
                         "(x, y) moves to (X, Y), for four points"}}},
      .help =
          "Map four points to four others. The rest follows in perspective. Values are "
          "those of ImageMagick's -distort Perspective: (0, 0) is the top left corner.",
      .parameters = matrix_parameters(),
      .formula =
          "out(x, y) = in(u, v) as --affine interpolates it\n"
          "u = (a x + b y + c) / (g x + h y + i), v = (d x + e y + f) / (g x + h y + i)\n"
          "in 64-bit integers, for the matrix that maps the second points to the first",
      .edges = warp_edges,
      .alpha = warp_alpha,
      .examples = {"page.jpg out.jpg --perspective \"90,60 0,0 610,40 640,0 630,440 640,480 70,420 "
                   "0,480\""},
      .sample_values = {"2,3 0,0 30,1 40,0 28,25 40,30 1,20 0,30",
                        "0,0 9,2 40,0 33,5 40,30 38,29 0,30 1,25"},
      .from_options = perspective_from_options};
}

}  // namespace gpufilter
