// Stages against OpenCV's functions, which are independent implementations.
#include <algorithm>
#include <array>
#include <cmath>

#include "cli/program_fixture.hpp"
#include "support/shared.hpp"

#ifdef GPUFILTER_HAS_OPENCV
#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>
#endif

namespace gpufilter::test {
namespace {

using OpenCvComparison = ProgramTest;

#ifdef GPUFILTER_HAS_OPENCV

// A view of the image's pixels, read-only by convention.
cv::Mat as_mat(const Image& image) {
  const int type = CV_MAKETYPE(image.format().depth == 8 ? CV_8U : CV_16U, image.format().channels);
  auto* data = const_cast<std::uint8_t*>(image.rows().data);
  return {image.size().height, image.width(), type, data, image.pitch()};
}

Image box_filter(const Image& image, int border) {
  Image result = poisoned_image(image.size(), image.format());
  cv::Mat target = as_mat(result);
  cv::boxFilter(as_mat(image), target, -1, cv::Size(3, 3), cv::Point(-1, -1), true, border);
  EXPECT_EQ(target.data, result.rows().data) << "OpenCV put its result elsewhere";
  return result;
}

TEST_F(OpenCvComparison, RandomPictures) {
  const std::string out = folder_ / "out.png";
  for (const int channels : {1, 3, 4}) {
    for (const ImageSize size : {ImageSize{129, 67}, ImageSize{17, 31}, ImageSize{2, 3}}) {
      const Image image = random_image(size, {channels, 8}, 1);
      const std::string in = stored(image, "in.png");
      for (const auto& [name, border] :
           {std::pair{"replicate", cv::BORDER_REPLICATE}, {"mirror", cv::BORDER_REFLECT_101}}) {
        const Image expected = box_filter(image, border);
        for (const char* device : {"opencl", "cpu"}) {
          for (const char* variant : {"naive", "tiled"}) {
            filter_quietly({in, out, "--blur", variant, "--border", name, "--alpha", "independent",
                            "--device", device});
            EXPECT_TRUE(same_pixels(read_picture(out), expected))
                << name << " " << device << " " << variant;
          }
        }
      }
    }
  }
}

TEST_F(OpenCvComparison, RandomPicturesOfSixteenBits) {
  const Image image = random_image({67, 45}, {3, 16}, 2);
  const std::string out = folder_ / "out.png";
  filter_quietly({stored(image, "in.png"), out, "--blur", "tiled"});
  EXPECT_TRUE(same_pixels(read_picture(out), box_filter(image, cv::BORDER_REPLICATE)));
}

// filter2D does not round while sums are whole and not divided.
TEST_F(OpenCvComparison, Convolutions) {
  struct Case {
    std::string text;
    cv::Mat matrix;
  };
  const std::vector<Case> cases{
      {"0 -1 0; -1 5 -1; 0 -1 0", (cv::Mat_<float>(3, 3) << 0, -1, 0, -1, 5, -1, 0, -1, 0)},
      {"-1 0 1; -2 0 2; -1 0 1", (cv::Mat_<float>(3, 3) << -1, 0, 1, -2, 0, 2, -1, 0, 1)},
      {"1 -2 3 -4 3", (cv::Mat_<float>(1, 5) << 1, -2, 3, -4, 3)}};
  const std::string out = folder_ / "out.png";
  for (const PixelFormat format : {PixelFormat{3, 8}, PixelFormat{1, 16}}) {
    const Image image = random_image({61, 33}, format, 3);
    const std::string in = stored(image, "in.png");
    for (const Case& each : cases) {
      for (const auto& [name, border] :
           {std::pair{"replicate", cv::BORDER_REPLICATE}, {"mirror", cv::BORDER_REFLECT_101}}) {
        Image expected = poisoned_image(image.size(), format);
        cv::Mat target = as_mat(expected);
        cv::filter2D(as_mat(image), target, -1, each.matrix, cv::Point(-1, -1), 7, border);
        filter_quietly(
            {in, out, "--convolve", each.text, "--scale", "1", "--offset", "7", "--border", name});
        EXPECT_TRUE(same_pixels(read_picture(out), expected)) << each.text << " " << name;
      }
    }
  }
}

// OpenCV takes windows of 16-bit samples up to 5x5, and replicates the border.
TEST_F(OpenCvComparison, Medians) {
  const std::string out = folder_ / "out.png";
  for (const PixelFormat format :
       {PixelFormat{1, 8}, PixelFormat{3, 8}, PixelFormat{4, 8}, PixelFormat{3, 16}}) {
    const Image image = random_image({131, 77}, format, 4);
    const std::string in = stored(image, "in.png");
    for (const int radius : {1, 2, 3, 5, 7, 8, 20, 31}) {
      if (format.depth == 16 && radius > 2) break;
      Image expected = poisoned_image(image.size(), format);
      cv::Mat target = as_mat(expected);
      cv::medianBlur(as_mat(image), target, 2 * radius + 1);
      filter_quietly({in, out, "--median", std::to_string(radius), "--alpha", "independent"});
      EXPECT_TRUE(same_pixels(read_picture(out), expected)) << radius << to_string(format);
    }
  }
}

TEST_F(OpenCvComparison, MorphologyOfSquares) {
  const std::string out = folder_ / "out.png";
  const std::array operations{
      std::pair{"--dilate", cv::MORPH_DILATE}, std::pair{"--erode", cv::MORPH_ERODE},
      std::pair{"--open", cv::MORPH_OPEN}, std::pair{"--close", cv::MORPH_CLOSE}};
  for (const PixelFormat format : {PixelFormat{1, 8}, PixelFormat{3, 8}, PixelFormat{3, 16}}) {
    const Image image = random_image({131, 77}, format, 5);
    const std::string in = stored(image, "in.png");
    for (const int radius : {1, 4, 60}) {
      const int side = 2 * radius + 1;
      const cv::Mat square = cv::getStructuringElement(cv::MORPH_RECT, {side, side});
      for (const auto& [option, operation] : operations) {
        Image expected = poisoned_image(image.size(), format);
        cv::Mat target = as_mat(expected);
        cv::morphologyEx(as_mat(image), target, operation, square);
        filter_quietly({in, out, option, std::to_string(radius)});
        EXPECT_TRUE(same_pixels(read_picture(out), expected)) << option << " " << radius;
      }
    }
  }
}

// Its derivatives, and the rounding of --edges.
TEST_F(OpenCvComparison, Edges) {
  const std::string out = folder_ / "out.png";
  for (const PixelFormat format : {PixelFormat{1, 8}, PixelFormat{3, 8}, PixelFormat{3, 16}}) {
    const Image image = random_image({131, 77}, format, 6);
    const std::string in = stored(image, "in.png");
    for (const char* by : {"sobel", "scharr", "laplacian"}) {
      cv::Mat dx;
      cv::Mat dy;
      const int size = by == std::string("scharr") ? cv::FILTER_SCHARR : 3;
      cv::Sobel(as_mat(image), dx, CV_64F, 1, 0, size, 1, 0, cv::BORDER_REPLICATE);
      cv::Sobel(as_mat(image), dy, CV_64F, 0, 1, size, 1, 0, cv::BORDER_REPLICATE);
      if (by == std::string("laplacian")) {
        cv::Laplacian(as_mat(image), dx, CV_64F, 1, 1, 0, cv::BORDER_REPLICATE);
        dy = 0;
      }
      Image expected = poisoned_image(image.size(), format);
      const cv::Mat_<double> all_dx(dx.reshape(1));
      const cv::Mat_<double> all_dy(dy.reshape(1));
      for (int y = 0; y < image.size().height; ++y) {
        for (int i = 0; i < image.width() * format.channels; ++i) {
          const double root = std::sqrt(all_dx(y, i) * all_dx(y, i) + all_dy(y, i) * all_dy(y, i));
          set_sample(
              expected, i / format.channels, y, i % format.channels,
              static_cast<std::uint32_t>(std::min<double>(std::round(root), format.max_sample())));
        }
      }
      filter_quietly({in, out, "--edges", by});
      EXPECT_TRUE(same_pixels(read_picture(out), expected)) << by << to_string(format);
    }
  }
}

TEST_F(OpenCvComparison, APhotograph) {
  GPUFILTER_REQUIRE_SHARED("photos/pier-5470x3646.jpg");
  const std::string in = shared_path("photos/pier-5470x3646.jpg");
  const std::string out = folder_ / "out.png";
  filter_quietly({in, out, "--blur", "tiled", "--png-level", "1"});
  const Image photograph = read_picture(in);
  ASSERT_EQ(photograph.size(), (ImageSize{5470, 3646}));
  const Image result = read_picture(out);
  EXPECT_FALSE(same_pixels(result, photograph));
  EXPECT_TRUE(same_pixels(result, box_filter(photograph, cv::BORDER_REPLICATE)));
}

#else

TEST_F(OpenCvComparison, NeedsOpenCv) {
  GTEST_SKIP() << "skipped: built without OpenCV (libopencv-core-dev, libopencv-imgproc-dev)";
}

#endif

}  // namespace
}  // namespace gpufilter::test
