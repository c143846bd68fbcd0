// --resize gives Pillow's pixels, and the same bits everywhere: the processor with each instruction
// set against a second implementation, every device against the processor.
#include "stages/resize/resize.hpp"

#include "stages/window/blur.hpp"
#include "support/instruction_sets.hpp"
#include "support/stage_cases.hpp"

namespace gpufilter::test {
namespace {

constexpr std::array kernels{ResizeKernel::lanczos, ResizeKernel::cubic, ResizeKernel::linear,
                             ResizeKernel::area,    ResizeKernel::box,   ResizeKernel::nearest};

ResizeParameters to(ImageSize size, ResizeKernel kernel, AlphaMode alpha = AlphaMode::weighted) {
  return {.width = size.width,
          .height = size.height,
          .fit = ResizeFit::fill,
          .kernel = kernel,
          .alpha = alpha};
}

// Rows, then columns, one pixel after the other, in 64-bit integers.
class Naive {
 public:
  Naive(const Image& image, ImageSize size, ResizeKernel kernel)
      : image_(image),
        size_(size),
        across_(make_resize_taps(image.width(), size.width, kernel, image.format().depth)),
        down_(make_resize_taps(image.size().height, size.height, kernel, image.format().depth)) {}

  [[nodiscard]] Image plain() const {
    Image result(size_, image_.format());
    for (const auto [x, y, c] : each_sample(size_, image_.format().channels))
      set_sample(result, x, y, c, static_cast<std::uint32_t>(sample(x, y, c)));
    return result;
  }

  // A pixel weighted by alpha, in double precision.
  struct Weighted {
    std::array<double, 3> colors{};
    double alpha = 0;
    bool opaque = true;  // all taps are
  };
  [[nodiscard]] Weighted weighted(int x, int y) const {
    const int last = image_.format().channels - 1;
    Weighted sums;
    for (int j = 0; j < down_.count; ++j) {
      for (int i = 0; i < across_.count; ++i) {
        const double weight = static_cast<double>(at(across_, x, i) * at(down_, y, j)) / 0x1p44;
        const int column = across_.first.at(static_cast<std::size_t>(x)) + i;
        const int row = down_.first.at(static_cast<std::size_t>(y)) + j;
        const double a = sample_at(image_, column, row, last);
        for (int c = 0; c < last; ++c)
          sums.colors.at(c) += weight * a * sample_at(image_, column, row, c);
        sums.alpha += weight * a;
        sums.opaque = sums.opaque && (weight == 0 || a == max());
      }
    }
    for (double& color : sums.colors)
      color = std::clamp(color / sums.alpha, 0.0, max());
    sums.alpha = std::clamp(sums.alpha, 0.0, max());
    return sums;
  }
  [[nodiscard]] double max() const { return image_.format().max_sample(); }

 private:
  static std::int64_t at(const ResizeTaps& taps, int i, int k) {
    return taps.weights.at(static_cast<std::size_t>(i * taps.count + k));
  }
  [[nodiscard]] std::int64_t rounded(std::int64_t sum) const {
    return std::clamp<std::int64_t>((sum + (1 << 21)) >> 22, 0, image_.format().max_sample());
  }
  // Where a direction keeps its length there is nothing to resize.
  [[nodiscard]] std::int64_t along_row(int x, int row, int channel) const {
    if (size_.width == image_.width()) return sample_at(image_, x, row, channel);
    std::int64_t sum = 0;
    for (int i = 0; i < across_.count; ++i) {
      sum += at(across_, x, i) *
             sample_at(image_, across_.first.at(static_cast<std::size_t>(x)) + i, row, channel);
    }
    return rounded(sum);
  }
  [[nodiscard]] std::int64_t sample(int x, int y, int channel) const {
    if (size_.height == image_.size().height) return along_row(x, y, channel);
    std::int64_t sum = 0;
    for (int j = 0; j < down_.count; ++j) {
      sum +=
          at(down_, y, j) * along_row(x, down_.first.at(static_cast<std::size_t>(y)) + j, channel);
    }
    return rounded(sum);
  }

  const Image& image_;
  ImageSize size_;
  ResizeTaps across_;
  ResizeTaps down_;
};

// What Pillow 9.4 makes of a row of eleven grey pixels.
TEST(Resize, GivesThePixelsOfPillow) {
  Image row({11, 1}, {1, 8});
  int x = 0;
  for (const std::uint32_t sample : {12, 250, 3, 77, 255, 0, 131, 64, 200, 9, 180})
    set_sample(row, x++, 0, 0, sample);
  const std::vector<std::pair<ResizeKernel, std::vector<std::uint32_t>>> expected{
      {ResizeKernel::lanczos, {100, 115, 100, 116}},
      {ResizeKernel::lanczos,
       {0, 136, 246, 63, 0, 93, 249, 179, 0, 76, 125, 62, 165, 168, 15, 88, 202}},
      {ResizeKernel::cubic, {103, 115, 100, 115}},
      {ResizeKernel::cubic,
       {0, 129, 241, 49, 5, 85, 231, 181, 0, 84, 120, 63, 157, 170, 17, 95, 192}},
      {ResizeKernel::linear, {108, 114, 103, 108}},
      {ResizeKernel::linear,
       {12, 124, 221, 61, 33, 87, 203, 165, 0, 85, 111, 68, 144, 155, 31, 100, 180}},
      {ResizeKernel::box, {88, 111, 98, 130}},
      {ResizeKernel::box,
       {12, 12, 250, 3, 3, 77, 255, 255, 0, 131, 131, 64, 200, 200, 9, 180, 180}},
      {ResizeKernel::nearest, {250, 255, 131, 9}},
      {ResizeKernel::nearest,
       {12, 12, 250, 3, 3, 77, 255, 255, 0, 131, 131, 64, 200, 200, 9, 180, 180}}};
  for (const auto& [kernel, samples] : expected) {
    const ImageSize size{static_cast<int>(samples.size()), 1};
    const Image found = filter_on_host(row, {make_resize(to(size, kernel))}, {});
    ASSERT_EQ(found.size(), size);
    for (int i = 0; i < size.width; ++i) {
      EXPECT_EQ(sample_at(found, i, 0, 0), samples[static_cast<std::size_t>(i)])
          << "kernel " << static_cast<int>(kernel) << ", pixel " << i << " of " << size.width;
    }
  }
}

TEST(Resize, IsTheDefinitionOnTheProcessor) {
  for (const auto& [format, from, extreme] :
       each_of(all_formats(), Sizes{{1, 1}, {71, 33}}, std::array{false, true})) {
    const Image image = extreme ? extreme_image(from, format, 1) : random_image(from, format, 2);
    int next = 0;
    for (const ImageSize& size :
         {ImageSize{1, 1}, {23, 9}, {71, 12}, {40, 33}, {150, 50}, {7, 80}}) {
      const ResizeKernel kernel = kernels.at(static_cast<std::size_t>(next++) % kernels.size());
      const StageChain chain{make_resize(to(size, kernel, AlphaMode::independent))};
      const Image expected = Naive(image, size, kernel).plain();
      check_on_host(image, chain, expected, {1, 5, 1000});
    }
  }
}

// Wider than the parts in which the processor turns rows, and with windows wider than those.
TEST(Resize, IsTheDefinitionForWidePictures) {
  for (const int channels : {1, 2, 3, 4}) {
    const PixelFormat format{channels, 8};
    for (const int width : {1701, 1024}) {
      const Image image = extreme_image({width, 19}, format, 5);
      for (const ImageSize& size : {ImageSize{3, 7}, {20, 19}, {851, 6}, {1023, 19}, {2500, 9}}) {
        const ResizeKernel kernel = size.width == 20 ? ResizeKernel::area : ResizeKernel::lanczos;
        const StageChain chain{make_resize(to(size, kernel, AlphaMode::independent))};
        const Image expected = Naive(image, size, kernel).plain();
        check_on_host(image, chain, expected, {1000});
      }
    }
  }
}

TEST(Resize, WeightsColorsByAlpha) {
  for (const PixelFormat& format : {PixelFormat{2, 8}, {4, 8}, {2, 16}, {4, 16}}) {
    const Image image = mixed_alpha_image({60, 40}, format, 3);
    for (const auto& [kernel, size] : each_of(kernels, Sizes{{25, 17}, {90, 44}, {60, 21}})) {
      const Naive naive(image, size, kernel);
      const Image found = filter_on_host(image, {make_resize(to(size, kernel))}, {});
      int compared = 0;
      for (const auto [x, y] : each_pixel(size)) {
        const int last = format.channels - 1;
        const Naive::Weighted expected = naive.weighted(x, y);
        ASSERT_NEAR(sample_at(found, x, y, last), expected.alpha, 0.6);
        if (expected.opaque || expected.alpha < naive.max() / 16) continue;
        for (int c = 0; c < last; ++c) {
          ASSERT_NEAR(sample_at(found, x, y, c), expected.colors.at(c), 1)
              << to_string(format) << " at " << x << ", " << y;
          ++compared;
        }
      }
      EXPECT_GT(compared, size.width * size.height / 4);
    }
    const Image opaque = opaque_image({60, 40}, format, 4);
    EXPECT_TRUE(
        same_pixels(filter_on_host(opaque, {make_resize(to({25, 90}, ResizeKernel::lanczos))}, {}),
                    Naive(opaque, {25, 90}, ResizeKernel::lanczos).plain()));
  }
}

// Also with rows that are no multiple of those that are computed together, and the largest sums.
TEST(Resize, WeightedIsTheSameWithEveryInstructionSet) {
  std::vector<Image> images;
  images.push_back(mixed_alpha_image({45, 33}, {4, 8}, 11));
  Image& extreme = images.emplace_back(ImageSize{31, 26}, PixelFormat{4, 8});
  for (std::size_t i = 0; i < extreme.bytes(); ++i)
    extreme.rows().data[i] = i % 7 < 3 ? 255 : 0;
  for (const Image& image : images) {
    for (const auto& [kernel, size] :
         each_of(kernels, Sizes{{7, 5}, {44, 3}, {3, 40}, {130, 66}})) {
      const StageChain chain{make_resize(to(size, kernel))};
      const Image expected = [&] {
        const InstructionSetInUse baseline(InstructionSet::baseline);
        return filter_on_host(image, chain, {});
      }();
      check_on_host(image, chain, expected, {1, 6, 1000});
    }
  }
}

TEST(Resize, FindsTheSize) {
  const auto size = [](const ResizeParameters& parameters, ImageSize source) {
    return result_of(make_resize(parameters), {source, {3, 8}}).size;
  };
  const ResizeParameters box{.width = 100, .height = 100};
  EXPECT_EQ(size(box, {400, 200}), (ImageSize{100, 50}));
  EXPECT_EQ(size(box, {200, 400}), (ImageSize{50, 100}));
  EXPECT_EQ(size(box, {30, 20}), (ImageSize{100, 67}));
  EXPECT_EQ(size(box, {4000, 1}), (ImageSize{100, 1})) << "at least one pixel";
  EXPECT_EQ(size({.width = 100}, {400, 300}), (ImageSize{100, 75}));
  EXPECT_EQ(size({.height = 100}, {400, 300}), (ImageSize{133, 100}));
  EXPECT_EQ(size({.percent = 50}, {401, 300}), (ImageSize{201, 150}));
  ResizeParameters cover = box;
  cover.fit = ResizeFit::cover;
  EXPECT_EQ(size(cover, {400, 200}), (ImageSize{100, 100}));
  EXPECT_EQ(size(cover, {30, 90}), (ImageSize{100, 100}));
  cover.only = ResizeOnly::shrink;
  EXPECT_EQ(size(cover, {30, 90}), (ImageSize{30, 90}));
  EXPECT_EQ(size(cover, {150, 60}), (ImageSize{100, 60})) << "not enlarged, but cut";
  ResizeParameters enlarged = box;
  enlarged.only = ResizeOnly::enlarge;
  EXPECT_EQ(size(enlarged, {400, 200}), (ImageSize{400, 200}));
  EXPECT_EQ(size(enlarged, {40, 20}), (ImageSize{100, 50}));
  ResizeParameters filled = box;
  filled.fit = ResizeFit::fill;
  EXPECT_EQ(size(filled, {400, 20}), (ImageSize{100, 100}));
}

TEST(Resize, OfTheSameSizeChangesNothing) {
  const Image image = mixed_alpha_image({50, 20}, {4, 8}, 6);
  EXPECT_TRUE(
      same_pixels(filter_on_host(image, {make_resize({.width = 50, .height = 20})}, {}), image));
}

TEST(Resize, CoversABoxWithTheMiddle) {
  const Image image = random_image({90, 40}, {3, 8}, 7);
  const Image found = filter_on_host(
      image, {make_resize({.width = 20, .height = 20, .fit = ResizeFit::cover})}, {});
  const Image whole = filter_on_host(image, {make_resize(to({45, 20}, ResizeKernel::lanczos))}, {});
  ASSERT_EQ(found.size(), (ImageSize{20, 20}));
  for (const auto [x, y] : each_pixel({20, 20}))
    ASSERT_EQ(sample_at(found, x, y, 1), sample_at(whole, x + 12, y, 1));
}

// As ImageMagick's geometries.
TEST(Resize, SizesAreWrittenInSeveralWays) {
  const auto size_of = [](const std::string& value, ImageSize source) {
    return result_of(resize_stage_kind().make(value), {source, {3, 8}}).size;
  };
  const ImageSize large{1000, 500};
  EXPECT_EQ(size_of("80", large), (ImageSize{80, 40}));
  EXPECT_EQ(size_of("80x", large), (ImageSize{80, 40}));
  EXPECT_EQ(size_of("80X60", large), (ImageSize{80, 40}));
  EXPECT_EQ(size_of("80x60^", large), (ImageSize{80, 60}));
  EXPECT_EQ(size_of("80x60!", large), (ImageSize{80, 60}));
  EXPECT_EQ(size_of("80x60>", {40, 20}), (ImageSize{40, 20}));
  EXPECT_EQ(size_of("80x60>", large), (ImageSize{80, 40}));
  EXPECT_EQ(size_of("80x60<", large), large);
  EXPECT_EQ(size_of("80x60<", {40, 20}), (ImageSize{80, 40}));
}

TEST(Resize, RefusesOtherValues) {
  const std::string forms =
      ": write WIDTHxHEIGHT, WIDTH, xHEIGHT or a percentage, such as 800x600 or 50%";
  for (const std::string value : {"x", "^", "1x2x3", "-5x5", "5.5x3", "axb", "%", "8 x 6"})
    EXPECT_EQ(objection_to_value(resize_stage_kind(), value), "--resize " + value + forms);
  EXPECT_EQ(objection_to_value(resize_stage_kind(), "0x5"),
            "--resize 0x5: sides are from 1 to 1000000 pixels");
  EXPECT_EQ(objection_to_value(resize_stage_kind(), "1000001x"),
            "--resize 1000001x: sides are from 1 to 1000000 pixels");
  EXPECT_EQ(objection_to_value(resize_stage_kind(), "0%"),
            "--resize 0%: a percentage is above 0 and up to 10000");
  EXPECT_EQ(objection_to_value(resize_stage_kind(), "10001%"),
            "--resize 10001%: a percentage is above 0 and up to 10000");
}

// What the kernels of --resize promise: areas are means, constants stay, and invisible colours are
// not shown.

constexpr std::array every_kernel{ResizeKernel::lanczos, ResizeKernel::cubic,
                                  ResizeKernel::linear,  ResizeKernel::area,
                                  ResizeKernel::box,     ResizeKernel::nearest};

StageChain exactly(ImageSize size, ResizeKernel kernel) {
  return {make_resize(
      {.width = size.width, .height = size.height, .fit = ResizeFit::fill, .kernel = kernel})};
}

// What a result covers of each sample, in double precision.
double mean_of_area(const Image& row, int x, int width) {
  const double scale = static_cast<double>(row.width()) / width;
  double sum = 0;
  for (int i = 0; i < row.width(); ++i) {
    const double covered = std::min((x + 1) * scale, i + 1.0) - std::max(x * scale, double(i));
    sum += std::max(covered, 0.0) * sample_at(row, i, 0, 0);
  }
  return sum / scale;
}

TEST(ResizeKernels, ByAreaIsTheMeanOfAnArea) {
  const auto resized = [](const Image& row, int width) {
    return filter_on_host(row, exactly({width, 1}, ResizeKernel::area), {});
  };
  Image three({3, 1}, {1, 8});
  for (const auto& [x, sample] : {std::pair{0, 0U}, {1, 90U}, {2, 30U}})
    set_sample(three, x, 0, 0, sample);
  EXPECT_EQ(sample_at(resized(three, 2), 0, 0, 0), 30U);
  EXPECT_EQ(sample_at(resized(three, 2), 1, 0, 0), 50U);
  for (const auto& [depth, from] : each_of(std::array{8, 16}, std::array{1, 5, 97, 1000, 4801})) {
    const Image row = extreme_image({from, 1}, {1, depth}, 3);
    for (const int width : {1, 2, 3, 37, 96, 97, 98, 1500}) {
      const Image found = resized(row, width);
      for (int x = 0; x < width; ++x) {
        // Weights have 22 bits.
        ASSERT_NEAR(sample_at(found, x, 0, 0), mean_of_area(row, x, width), depth == 8 ? 0.51 : 1)
            << depth << " bits, " << from << " to " << width << " at " << x;
      }
    }
  }
}

TEST(ResizeKernels, KeepsConstants) {
  for (const auto& [kernel, depth] : each_of(every_kernel, std::array{8, 16})) {
    if (depth == 8 && kernel != ResizeKernel::area) continue;  // Pillow's weights
    for (const auto& [from, width] :
         {std::pair{77, 1}, {963, 1}, {1000, 1}, {1000, 999}, {60000, 7}, {3, 1000}}) {
      for (const std::uint32_t level : {0xFFFFU, 0x8001U}) {
        Image row({from, 1}, {1, depth});
        for (int x = 0; x < from; ++x)
          set_sample(row, x, 0, 0, depth == 8 ? level >> 8 : level);
        const Image found = filter_on_host(row, exactly({width, 1}, kernel), {});
        for (int x = 0; x < width; ++x) {
          ASSERT_EQ(sample_at(found, x, 0, 0), sample_at(row, 0, 0, 0))
              << depth << " bits, " << from << " to " << width;
        }
      }
    }
  }
}

// A blue disc in the middle; around it, and in places within, invisible green.
Image blue_and_invisible_green(PixelFormat format) {
  Image image({64, 64}, format);
  for (const auto [x, y] : each_pixel({64, 64})) {
    for (int c = 0; c < 4; ++c)
      set_sample(image, x, y, c, 0);
    const bool visible = (x - 32) * (x - 32) + (y - 32) * (y - 32) < 600 && (x * y) % 11 != 3;
    set_sample(image, x, y, visible ? 2 : 1, format.max_sample());
    set_sample(image, x, y, 3, visible ? format.max_sample() : 0);
  }
  return image;
}

TEST(ResizeKernels, NeverShowsInvisibleColours) {
  for (const PixelFormat& format : {PixelFormat{4, 8}, PixelFormat{4, 16}}) {
    const Image image = blue_and_invisible_green(format);
    for (const auto& [kernel, size] :
         each_of(every_kernel, Sizes{{150, 131}, {91, 64}, {40, 51}, {200, 20}})) {
      const StageChain chain = exactly(size, kernel);
      const Image found = filter_on_host(image, chain, {});
      int shown = 0;
      for (const auto [x, y] : each_pixel(size)) {
        const bool green = sample_at(found, x, y, 1) != 0;
        if (green && sample_at(found, x, y, 3) != 0) ++shown;
      }
      EXPECT_EQ(shown, 0) << to_string(format) << " to " << size.width << "x" << size.height;
      check_on_host(image, chain, found, {1000});
      for (Session* session : kernel_sessions(format))
        check_on_device(*session, image, chain, found, {1000});
    }
  }
}

}  // namespace
}  // namespace gpufilter::test
