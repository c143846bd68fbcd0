#include <opencv2/core.hpp>
#include <opencv2/imgproc.hpp>

#include "base/format.hpp"
#include "cases.hpp"

namespace gpufilter::bench {
namespace {

cv::Mat matrix_of(const PixelFormat& format, const std::uint8_t* data, std::size_t pitch) {
  // OpenCV has no matrix that only reads; nobody writes to the sources.
  auto* writable = const_cast<std::uint8_t*>(data);  // NOLINT(*-const-cast)
  return {size.height, size.width, CV_8UC(format.channels), writable, pitch};
}

cv::Mat source_matrix(const PixelFormat& format) {
  return matrix_of(format, source(format).rows().data, source(format).rows().pitch);
}
cv::Mat target_matrix(const PixelFormat& format) {
  return matrix_of(format, target(format).rows().data, target(format).rows().pitch);
}

void add_filters(const PixelFormat& format) {
  const cv::Mat from = source_matrix(format);
  const cv::Mat to = target_matrix(format);
  const std::string end = formatted("/{}/OpenCV ", name(format));
  add("blur" + end + "boxFilter", [=] {
    cv::boxFilter(from, to, -1, {3, 3}, {-1, -1}, true, cv::BORDER_REPLICATE);
  });
  add("blur" + end + "GaussianBlur 3x3", [=] {
    cv::GaussianBlur(from, to, {3, 3}, 0, 0, cv::BORDER_REPLICATE);
  });
  cv::Mat warm = cv::Mat::eye(format.channels, format.channels + 1, CV_32F);
  warm.at<float>(0, 1) = 0.2F;
  warm.at<float>(1, 0) = 0.1F;
  warm.at<float>(0, format.channels) = 5.0F;
  add("colour" + end + "transform", [=] { cv::transform(from, to, warm); });
  if (format.has_alpha()) {
    const cv::Mat colors(size.height, size.width, CV_8UC3);
    add("colour" + end + "transform to RGB",
        [=] { cv::transform(from, colors, warm.rowRange(0, 3)); });
  }
  cv::Mat table(1, 256, CV_8U);
  for (int i = 0; i < 256; ++i)
    table.at<std::uint8_t>(i) = static_cast<std::uint8_t>(255 - i);
  add("look-up" + end + "LUT", [=] { cv::LUT(from, table, to); });
}

void add_windows(const PixelFormat& format) {
  const cv::Mat from = source_matrix(format);
  const cv::Mat to = target_matrix(format);
  const std::string end = formatted("/{}/OpenCV ", name(format));
  for (const int sigma : {1, 5, 20}) {
    add(formatted("gaussian {}", sigma) + end + "GaussianBlur", [=] {
      const int side = 6 * sigma + 1;
      cv::GaussianBlur(from, to, {side, side}, sigma, 0, cv::BORDER_REPLICATE);
    });
  }
  for (const int radius : {1, 2, 7}) {
    add(formatted("median {}", radius) + end + "medianBlur",
        [=] { cv::medianBlur(from, to, 2 * radius + 1); });
  }
  if (format.channels == 3) {
    add("denoise 10" + end + "bilateralFilter",
        [=] { cv::bilateralFilter(from, to, 9, 30, 3, cv::BORDER_REPLICATE); });
  }
  for (const int radius : {1, 30}) {
    const cv::Mat square = cv::Mat::ones(2 * radius + 1, 2 * radius + 1, CV_8U);
    add(formatted("dilate {}", radius) + end + "dilate", [=] {
      cv::dilate(from, to, square, {-1, -1}, 1, cv::BORDER_REPLICATE);
    });
  }
}

void add_statistics(const PixelFormat& format) {
  const cv::Mat from = source_matrix(format);
  const std::string end = formatted("/{}/OpenCV ", name(format));
  add("totals" + end + "meanStdDev + minMaxLoc", [=] {
    cv::Scalar mean;
    cv::Scalar deviation;
    cv::meanStdDev(from, mean, deviation);
    double least = 0;
    double largest = 0;
    cv::minMaxLoc(from.reshape(1), &least, &largest);
    benchmark::DoNotOptimize(deviation);
    benchmark::DoNotOptimize(largest);
  });
  add("histograms" + end + "calcHist", [=] {
    const int bins = 256;
    const float limits[] = {0, 256};
    const float* range = limits;
    for (int c = 0; c < format.channels; ++c) {
      cv::Mat histogram;
      cv::calcHist(&from, 1, &c, cv::Mat(), histogram, 1, &bins, &range);
      benchmark::DoNotOptimize(histogram.data);
    }
  });
}

}  // namespace

void add_opencv() {
  cv::setNumThreads(1);
  for (const PixelFormat& format : {rgb, rgba}) {
    add_filters(format);
    add_windows(format);
    add_statistics(format);
  }
}

}  // namespace gpufilter::bench
