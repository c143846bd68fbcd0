// Warps are within a level of double precision, and have the same bits with every instruction set,
// band and device.
#include "stages/geometry/warp.hpp"

#include <cmath>

#include "stages/geometry/rotate.hpp"
#include "support/instruction_sets.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

// A warp as words, and as the definition has it: the matrix maps a pixel of the result to the
// source, with so many samples in each direction.
struct WarpCase {
  std::string words;
  WarpMatrix matrix;
  ImageSize size;
  int across = 1;
  int down = 1;
};

WarpCase rotation(double degrees, ImageSize source) {
  const double angle = degrees * std::acos(-1.0) / 180;
  const double c = std::cos(angle);
  const double s = std::sin(angle);
  const double x = (source.width - 1) / 2.0;
  const double y = (source.height - 1) / 2.0;
  return {formatted("--rotate {} --rotate-fit keep", degrees),
          {c, s, x - c * x - s * y, -s, c, y + s * x - c * y, 0, 0, 1},
          source};
}

WarpCase affine(const std::array<double, 6>& m, ImageSize size, int across = 1, int down = 1) {
  const double d = m[0] * m[4] - m[1] * m[3];
  const std::array<double, 4> back{m[4] / d, -m[1] / d, -m[3] / d, m[0] / d};
  return {formatted("--affine {} --canvas {}x{}", fmt::join(m, ","), size.width, size.height),
          {back[0], back[1], -back[0] * m[2] - back[1] * m[5], back[2], back[3],
           -back[2] * m[2] - back[3] * m[5], 0, 0, 1},
          size,
          across,
          down};
}

// Positions of --perspective are from the corner of the picture on.
WarpCase perspective(const WarpMatrix& m, ImageSize size) {
  std::string points;
  for (const auto& [x, y] :
       {std::pair(0.0, 0.0), std::pair(size.width - 1.0, 0.0),
        std::pair(size.width - 1.0, size.height - 1.0), std::pair(0.0, size.height - 1.0)}) {
    const double w = m[6] * x + m[7] * y + m[8];
    points += formatted("{},{} {},{} ", (m[0] * x + m[1] * y + m[2]) / w + 0.5,
                        (m[3] * x + m[4] * y + m[5]) / w + 0.5, x + 0.5, y + 0.5);
  }
  return {formatted("--perspective \"{}\" --canvas {}x{}", points, size.width, size.height), m,
          size};
}

std::vector<WarpCase> warp_cases(ImageSize source) {
  return {rotation(3, source),
          rotation(-45, source),
          rotation(90, source),
          rotation(179.99, source),
          rotation(1e-5, source),
          affine({1.7, 0.4, -3.3, -0.2, 2.1, 4.6}, {71, 43}),
          affine({0.41, 0, 0, 0.02, 0.25, 0.3}, {29, 19}, 2, 4),
          affine({-1, 0.3, 30, 0, -1.4, 41}, {40, 50}),
          affine({1, 0, 1e4, 0, 1, 0}, {9, 9}),
          perspective({1.05, 0.1, -2, -0.05, 0.9, 1.5, 0.002, -0.001, 1}, {66, 31})};
}

double weight_at(Interpolation interpolation, double distance) {
  const double d = std::abs(distance);
  if (interpolation == Interpolation::linear) return std::max(1 - d, 0.0);
  if (d < 1) return 1.5 * d * d * d - 2.5 * d * d + 1;
  return d < 2 ? -0.5 * d * d * d + 2.5 * d * d - 4 * d + 2 : 0;
}

// The result in double precision; colours are multiplied by alpha, which is from 0 to 1.
struct Exact {
  std::array<double, 4> samples{};
};

class Definition {
 public:
  Definition(const Image& image, const WarpCase& warp, Interpolation interpolation, Border border,
             const std::array<double, 4>& color)
      : image_(image), warp_(warp), kind_(interpolation), border_(border), color_(color) {}

  [[nodiscard]] Exact at(int x, int y) const {
    Exact sum;
    for (int j = 0; j < warp_.down; ++j) {
      for (int i = 0; i < warp_.across; ++i) {
        add(sum, x + (i + 0.5) / warp_.across - 0.5, y + (j + 0.5) / warp_.down - 0.5);
      }
    }
    const bool has_alpha = image_.format().has_alpha();
    const double max = image_.format().max_sample();
    for (int c = 0; c < channels(); ++c) {
      double& sample = sum.samples.at(static_cast<std::size_t>(c));
      sample /= warp_.across * warp_.down;
      if (!has_alpha) sample = std::clamp(sample, 0.0, max);
    }
    if (!has_alpha) return sum;
    // Colours are divided by the alpha that is not limited yet.
    double& alpha = sum.samples.at(static_cast<std::size_t>(channels() - 1));
    const double limited = std::clamp(alpha, 0.0, max);
    for (int c = 0; c < channels() - 1; ++c)
      sum.samples.at(static_cast<std::size_t>(c)) *= alpha > 0 ? limited / alpha : 0;
    alpha = limited;
    return sum;
  }

 private:
  [[nodiscard]] int channels() const { return image_.format().channels; }

  void add(Exact& sum, double x, double y) const {
    const WarpMatrix& m = warp_.matrix;
    const double w = m[6] * x + m[7] * y + m[8];
    const double u = (m[0] * x + m[1] * y + m[2]) / w;
    const double v = (m[3] * x + m[4] * y + m[5]) / w;
    const int left = static_cast<int>(std::floor(u)) - 2;
    const int top = static_cast<int>(std::floor(v)) - 2;
    for (int j = top; j < top + 6; ++j) {
      for (int i = left; i < left + 6; ++i) {
        const double weight = weight_at(kind_, u - i) * weight_at(kind_, v - j);
        if (weight == 0) continue;
        const double alpha = image_.format().has_alpha()
                                 ? tap(i, j, channels() - 1) / image_.format().max_sample()
                                 : 1;
        for (int c = 0; c < channels(); ++c) {
          const bool is_alpha = image_.format().has_alpha() && c == channels() - 1;
          sum.samples.at(static_cast<std::size_t>(c)) +=
              weight * tap(i, j, c) * (is_alpha ? 1 : alpha);
        }
      }
    }
  }

  [[nodiscard]] double tap(int i, int j, int c) const {
    const int column = border_position(border_, i, image_.width());
    const int row = border_position(border_, j, image_.size().height);
    if (column < 0 || row < 0) return color_.at(static_cast<std::size_t>(c));
    return sample_at(image_, column, row, c);
  }

  const Image& image_;
  const WarpCase& warp_;
  Interpolation kind_;
  Border border_;
  std::array<double, 4> color_;
};

// `allowed`: in levels of the depth.
void expect_near(const Image& found, const Definition& definition, double allowed) {
  const PixelFormat format = found.format();
  const int last = format.channels - 1;
  const double max = format.max_sample();
  for (const auto [x, y] : each_pixel(found)) {
    const Exact exact = definition.at(x, y);
    const double alpha = format.has_alpha() ? sample_at(found, x, y, last) : max;
    for (int c = 0; c < format.channels; ++c) {
      const bool is_color = format.has_alpha() && c < last;
      const double got = sample_at(found, x, y, c) * (is_color ? alpha / max : 1);
      const double limit = is_color ? alpha : max;
      const double wanted =
          std::clamp(exact.samples.at(static_cast<std::size_t>(c)), 0.0, limit + 1);
      // Alpha, by which the colour is multiplied here, is rounded, too.
      ASSERT_NEAR(got, wanted, is_color ? 1.5 * allowed : allowed)
          << x << ", " << y << ", sample " << c;
    }
  }
}

const std::vector<ImageSize>& warp_sizes() {
  static const std::vector<ImageSize> sizes{{67, 37}, {300, 21}, {1, 9}, {11, 1}, {1, 1}};
  return sizes;
}

Image warp_picture(ImageSize size, const PixelFormat& format) {
  return format.has_alpha() ? mixed_alpha_image(size, format, 5) : extreme_image(size, format, 5);
}

std::vector<std::string> interpolations() {
  return {"nearest", "linear", "cubic"};
}

TEST(Warp, IsWithinALevelOfDoublePrecision) {
  for (const PixelFormat& format : all_formats()) {
    const double max = format.max_sample();
    for (const ImageSize& size : warp_sizes()) {
      const Image image = warp_picture(size, format);
      for (const WarpCase& warp : warp_cases(size)) {
        for (const Interpolation kind : {Interpolation::linear, Interpolation::cubic}) {
          const std::string words = formatted("{} --interpolation {}", warp.words,
                                              interpolations().at(static_cast<std::size_t>(kind)));
          SCOPED_TRACE(
              formatted("{} of {}x{}, {}", words, size.width, size.height, to_string(format)));
          const Image found = filter_on_host(image, stages_of(words), {});
          ASSERT_EQ(found.size(), warp.size);
          const Definition definition(image, warp, kind, Border::constant, {max, max, max, max});
          // Weights of 15 bits, whose errors are larger than a level of 16 bits.
          expect_near(found, definition, format.depth == 8 ? 1 : 16);
          if (::testing::Test::HasFatalFailure()) return;
        }
      }
    }
  }
}

TEST(Warp, OutsideAreTheRulesOfBorders) {
  const Image image = random_image({23, 17}, {3, 8}, 3);
  const WarpCase warp = rotation(33, {23, 17});
  const std::array<std::pair<std::string, Border>, 4> rules{
      {{"color --pad-color black", Border::constant},
       {"replicate", Border::replicate},
       {"mirror", Border::mirror},
       {"wrap", Border::wrap}}};
  for (const auto& [words, border] : rules) {
    SCOPED_TRACE(words);
    const Image found =
        filter_on_host(image, stages_of(warp.words + " --outside " + words), {.band_rows = 5});
    expect_near(found, Definition(image, warp, Interpolation::cubic, border, {}), 1);
  }
}

TEST(Warp, HasTheSameBitsWithEveryInstructionSetAndBand) {
  for (const PixelFormat& format : all_formats()) {
    for (const ImageSize& size : warp_sizes()) {
      const Image image = warp_picture(size, format);
      for (const auto& [warp, kind] : each_of(warp_cases(size), interpolations())) {
        const StageChain chain =
            stages_of(formatted("{} --interpolation {} --pad-color transparent", warp.words, kind));
        SCOPED_TRACE(warp.words + " " + kind + " " + to_string(format));
        const Image wanted = [&] {
          const InstructionSetInUse baseline(InstructionSet::baseline);
          return filter_on_host(image, chain, {});
        }();
        with_each_instruction_set([&] {
          ASSERT_TRUE(same_pixels(filter_on_host(image, chain, {.band_rows = 7}), wanted));
        });
        if (::testing::Test::HasFatalFailure()) return;
      }
    }
  }
}

TEST(Warp, ByTheIdentityIsThePicture) {
  for (const PixelFormat& format : all_formats()) {
    const Image image = warp_picture({70, 13}, format);
    for (const std::string& kind : interpolations()) {
      const StageChain chain = stages_of("--affine 1,0,0,0,1,0 --interpolation " + kind);
      EXPECT_TRUE(same_pixels(filter_on_host(image, chain, {}), image)) << kind;
    }
  }
}

TEST(Warp, ReadsTheRowsThatItNeeds) {
  const Plan slight = make_plan({{1000, 1000}, {3, 8}}, stages_of("--rotate 2 --rotate-fit keep"));
  const RowRange rows = slight.windows({500, 510}).front();
  EXPECT_LT(rows.count(), 60);
  EXPECT_TRUE(rows.contains({500, 510}));
  const Plan upside_down =
      make_plan({{1000, 1000}, {3, 8}}, stages_of("--rotate 178 --rotate-fit keep"));
  EXPECT_EQ(upside_down.windows({500, 510}).front(), (RowRange{0, 1000}));
}

TEST(Warp, RefusesWhatHasNoResult) {
  const auto refused = [](const std::string& value, const std::string& canvas = "source") {
    return objection_to<UsageError>([&] {
      static_cast<void>(affine_stage_kind().make(value, {{"--canvas", canvas}}));
    });
  };
  EXPECT_EQ(refused("1,2,0,2,4,0"),
            "--affine 1,2,0,2,4,0: the matrix is singular: a picture would become a line or a "
            "point");
  EXPECT_NE(refused("0,0,0,0,0,0"), "none");
  EXPECT_EQ(refused("1,0,0,0,1"),
            "--affine 1,0,0,0,1: 5 numbers instead of 6; write \"A,B,C,D,E,F\"");
  EXPECT_EQ(refused("1,0,0,0,1,0", "20x7"), "none");
  EXPECT_NE(refused("1,0,0,0,1,0", "20"), "none");
  EXPECT_NE(refused("1,0,0,0,1,0", "0x5"), "none");
  // Three points on a line, two that are one, two that changed places.
  for (const std::string points :
       {"0,0 0,0 1,1 1,0 2,2 1,1 0,1 0,1", "0,0 0,0 0,0 1,0 2,2 1,1 0,1 0,1",
        "0,0 0,0 1,0 1,0 1,1 0,1 0,1 1,1"})
    EXPECT_NE(objection_to_value(perspective_stage_kind(), points), "none") << points;
  const std::string far = objection_to<UnsuitableSize>([] {
    static_cast<void>(make_plan({{67, 37}, {3, 8}}, stages_of("--affine 1e-9,0,0,0,1,0")));
  });
  EXPECT_EQ(far, "the matrix maps the picture too far away, or makes it too large");
}

// Of a square, `keep` is the same by interpolation.
TEST(Rotate, ByQuarterTurnsGivesTheMovedPixels) {
  const Image image = random_image({31, 31}, {3, 8}, 7);
  const std::array<std::pair<std::string, Turn>, 3> turns{
      {{"90", quarter_clockwise}, {"-90", quarter_counterclockwise}, {"540", half_a_turn}}};
  for (const auto& [degrees, turn] : turns) {
    EXPECT_TRUE(stage_of("--rotate " + degrees)->traits().keeps_picture);
    if (turn == half_a_turn) continue;
    const StageChain kept = stages_of("--rotate " + degrees + " --rotate-fit keep");
    EXPECT_TRUE(same_pixels(filter_on_host(image, kept, {}), naive_turn(image, turn))) << degrees;
  }
  const PictureShape shape{{67, 37}, {3, 8}};
  EXPECT_EQ(result_of(stage_of("--rotate 90 --rotate-fit keep"), shape).size, shape.size);
}

TEST(Rotate, HasTheSizeOfItsFit) {
  const auto size = [](double degrees, RotateFit fit) {
    return rotation_of(degrees, fit, {400, 300}).size;
  };
  EXPECT_EQ(size(30, RotateFit::keep), (ImageSize{400, 300}));
  // 400 cos 30 + 300 sin 30 = 496.4, 400 sin 30 + 300 cos 30 = 459.8
  EXPECT_EQ(size(30, RotateFit::grow), (ImageSize{497, 460}));
  EXPECT_EQ(size(-150, RotateFit::grow), (ImageSize{497, 460}));
  EXPECT_EQ(size(45, RotateFit::crop), (ImageSize{212, 212}));
  EXPECT_EQ(rotation_of(10, RotateFit::crop, {1, 9}).size.width, 1);
}

// Nothing outside the picture is in the result, and no larger rectangle would do.
TEST(Rotate, CropShowsOnlyThePicture) {
  for (const auto& [width, degrees] : each_of(std::array{400, 120, 300}, std::array{2, 40, 95})) {
    const ImageSize source{width, 200};
    const Rotation rotation = rotation_of(degrees, RotateFit::crop, source);
    const WarpMatrix& m = rotation.matrix;
    double beyond = -1e9;
    for (const double x : {-0.5, rotation.size.width - 0.5}) {
      for (const double y : {-0.5, rotation.size.height - 0.5}) {
        const double u = std::abs(m[0] * x + m[1] * y + m[2] - (source.width - 1) / 2.0);
        const double v = std::abs(m[3] * x + m[4] * y + m[5] - (source.height - 1) / 2.0);
        beyond = std::max({beyond, u - source.width / 2.0, v - source.height / 2.0});
      }
    }
    EXPECT_LT(beyond, 0.01) << width << ", " << degrees;
    EXPECT_GT(beyond, -2.0) << width << ", " << degrees;
  }
}

}  // namespace
}  // namespace gpufilter::test
