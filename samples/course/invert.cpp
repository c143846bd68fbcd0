// A picture: two dimensions, and groups that do not fit. Inverts 300 x 200 pixels in groups of 16
// x 16.
//   g++ -std=c++17 -O2 invert.cpp -lOpenCL -o invert && ./invert
// The result is inverted.ppm, if a name is given: ./invert inverted.ppm
#include "course.hpp"

int main(int argc, char** argv) {
  const Machine machine;
  const Picture picture = drawn_picture(300, 200);
  const std::size_t count = picture.pixels.size();

  const auto in = machine.buffer(picture.pixels);
  const auto out = machine.buffer<cl_uchar4>(count);
  cl::Kernel kernel(machine.program(__FILE__), "invert");
  kernel.setArg(0, in);
  kernel.setArg(1, out);
  kernel.setArg(2, picture.width);
  kernel.setArg(3, picture.height);

  constexpr std::size_t side = 16;
  const std::size_t columns = whole_groups(300, side), rows = whole_groups(200, side);
  const double ms = machine.run(kernel, {columns, rows}, {side, side});
  const Picture result{picture.width, picture.height, machine.read<cl_uchar4>(out, count)};

  std::printf("%d x %d pixels need %zu x %zu groups of %zu x %zu work-items:\n", picture.width,
              picture.height, columns / side, rows / side, side, side);
  std::printf("%zu work-items, %zu of them beyond the picture\n\n", columns * rows,
              columns * rows - count);
  for (const auto& [x, y] : {std::pair{0, 0}, {8, 0}, {299, 199}}) {
    const cl_uchar4 &before = picture.at(x, y), &after = result.at(x, y);
    std::printf("(%3d, %3d): %3d %3d %3d  ->  %3d %3d %3d\n", x, y, before.s[0], before.s[1],
                before.s[2], after.s[0], after.s[1], after.s[2]);
  }

  Picture expected = picture;
  const double host_ms = milliseconds([&] {
    for (cl_uchar4& pixel : expected.pixels)
      for (int c = 0; c < 3; ++c)
        pixel.s[c] = static_cast<cl_uchar>(255 - pixel.s[c]);
  });
  std::printf("\nprocessor %.3f ms, device %.3f ms, results %s\n", host_ms, ms,
              verdict(result == expected));
  if (argc > 1) write_ppm(result, argv[1]);
}
