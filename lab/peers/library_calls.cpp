// Times the blur of pixels in memory, RGB of 8 bits, for lab/peers/python-calls. Reads lines "loop
// WIDTH HEIGHT 1 CALLS" (the loop alone, on one thread, into memory that is there) or "library
// WIDTH HEIGHT THREADS CALLS" (the library's call, which makes a new picture), and answers each
// with the microseconds of these calls.
#include <chrono>
#include <cstdint>
#include <functional>
#include <iostream>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include <gpufilter/gpufilter.hpp>

#include "stages/window/blur.hpp"

namespace {

using namespace gpufilter;

// The call's result is destroyed after the time has been taken.
double microseconds_of(const std::function<Picture()>& call) {
  const auto begin = std::chrono::steady_clock::now();
  const Picture result = call();
  const std::chrono::duration<double, std::micro> taken = std::chrono::steady_clock::now() - begin;
  return taken.count();
}

Picture test_picture(const Shape& shape) {
  Picture picture(shape);
  for (int y = 0; y < shape.height; ++y) {
    for (int i = 0; i < 3 * shape.width; ++i)
      picture.row<std::uint8_t>(y)[i] = static_cast<std::uint8_t>((y * 7919 + i * i) >> 3);
  }
  return picture;
}

void blur_in_strips(const ConstView& picture, const View& result) {
  constexpr int strip_rows = 16;
  const int height = picture.height;
  const PixelFormat format{3, 8};
  const ConstRows source{static_cast<const std::uint8_t*>(picture.data),
                         picture.pitch,
                         {0, height},
                         picture.width,
                         format};
  const MutableRows target{
      static_cast<std::uint8_t*>(result.data), result.pitch, {0, height}, result.width, format};
  for (int y = 0; y < height; y += strip_rows) {
    const RowRange strip{y, std::min(y + strip_rows, height)};
    const RowRange read{std::max(strip.begin - 1, 0), std::min(strip.end + 1, height)};
    blur_rows(source.part(read), target.part(strip), height, Border::replicate,
              AlphaMode::weighted);
  }
}

}  // namespace

int main() {
  std::map<int, std::unique_ptr<PictureFilter>> filters;  // by threads
  std::string what;
  Shape shape;
  int threads = 0;
  int calls = 0;
  while (std::cin >> what >> shape.width >> shape.height >> threads >> calls) {
    auto& filter = filters[threads];
    if (!filter) {
      filter = std::make_unique<PictureFilter>(
          std::vector<StageUse>{blur{}},
          FilterSettings{.device = "cpu", .limits = {.threads = threads}});
    }
    const Picture picture = test_picture(shape);
    Picture result(shape);
    const std::function<Picture()> call = [&] {
      if (what == "library") return filter->run(picture.view());
      blur_in_strips(picture.view(), result.view());
      return Picture();
    };
    static_cast<void>(call());
    for (int i = 0; i < calls; ++i)
      std::cout << microseconds_of(call) << " ";
    std::cout << std::endl;
  }
}
