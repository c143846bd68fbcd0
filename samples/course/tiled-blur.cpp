// Local memory, barriers and a halo: the blur of the lesson before, by tiles of 16 x 16.
//   g++ -std=c++17 -O2 tiled-blur.cpp -lOpenCL -o tiled-blur && ./tiled-blur
#include "course.hpp"

int main() {
  const Machine machine;
  const Picture picture = drawn_picture(1000, 700);
  const std::size_t count = picture.pixels.size();
  const auto in = machine.buffer(picture.pixels);
  const auto out = machine.buffer<cl_uchar4>(count);
  const auto naive_file = std::filesystem::path(__FILE__).replace_filename("naive-blur.cl");

  Picture results[2];
  double ms[2];
  const std::string files[] = {naive_file.string(), __FILE__};
  for (int i = 0; i < 2; ++i) {
    cl::Kernel kernel(machine.program(files[i].c_str()), "blur");
    kernel.setArg(0, in);
    kernel.setArg(1, out);
    kernel.setArg(2, picture.width);
    kernel.setArg(3, picture.height);
    ms[i] = machine.run(kernel, {whole_groups(1000, 16), whole_groups(700, 16)}, {16, 16});
    results[i] = {picture.width, picture.height, machine.read<cl_uchar4>(out, count)};
  }

  constexpr double side = 16, tile = side + 2;
  const bool is_local = machine.device.getInfo<CL_DEVICE_LOCAL_MEM_TYPE>() == CL_LOCAL;
  std::printf("           reads per pixel        time\n");
  std::printf("naive      %15.2f %8.3f ms\n", 9.0, ms[0]);
  std::printf("tiled      %15.2f %8.3f ms\n", tile * tile / (side * side), ms[1]);
  std::printf("results %s\n\n", verdict(results[0] == results[1]));
  std::printf("Look at: local memory of this device is %s.\n",
              is_local ? "on the chip, beside each compute unit"
                       : "ordinary memory, as on every processor");
}
