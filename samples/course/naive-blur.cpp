// A kernel that reads neighbours: blurs a picture, and shows what happens at its edges.
//   g++ -std=c++17 -O2 naive-blur.cpp -lOpenCL -o naive-blur && ./naive-blur
#include <algorithm>

#include "course.hpp"

// The blur on the processor.
Picture blurred(const Picture& in) {
  Picture out = in;
  for (int y = 0; y < in.height; ++y)
    for (int x = 0; x < in.width; ++x)
      for (int c = 0; c < 4; ++c) {
        int sum = 0;
        for (int dy = -1; dy <= 1; ++dy)
          for (int dx = -1; dx <= 1; ++dx)
            sum += in.at(std::clamp(x + dx, 0, in.width - 1), std::clamp(y + dy, 0, in.height - 1))
                       .s[c];
        out.pixels[static_cast<std::size_t>(y * in.width + x)].s[c] =
            static_cast<cl_uchar>((sum + 4) / 9);
      }
  return out;
}

int main() {
  const Machine machine;
  const Picture picture = drawn_picture(1000, 700);
  const std::size_t count = picture.pixels.size();

  const auto in = machine.buffer(picture.pixels);
  const auto out = machine.buffer<cl_uchar4>(count);
  cl::Kernel kernel(machine.program(__FILE__), "blur");
  kernel.setArg(0, in);
  kernel.setArg(1, out);
  kernel.setArg(2, picture.width);
  kernel.setArg(3, picture.height);
  const double ms = machine.run(kernel, {whole_groups(1000, 16), whole_groups(700, 16)}, {16, 16});
  const Picture result{picture.width, picture.height, machine.read<cl_uchar4>(out, count)};

  std::printf("blue along a row, across an edge of the pattern:\n  before");
  for (int x = 4; x < 12; ++x)
    std::printf(" %3d", picture.at(x, 4).s[2]);
  std::printf("\n  after ");
  for (int x = 4; x < 12; ++x)
    std::printf(" %3d", result.at(x, 4).s[2]);

  Picture expected;
  const double host_ms = milliseconds([&] { expected = blurred(picture); });
  std::printf("\n\nprocessor, one core %8.3f ms\n", host_ms);
  std::printf("device              %8.3f ms\n", ms);
  std::printf("results %s\n\n", verdict(result == expected));
  std::printf("Look at: 9 reads for each of %zu pixels are %.1f million reads.\n", count,
              9e-6 * static_cast<double>(count));
}
