// Work-items and work-groups: who is where. Prints the places of 8 x 4 work-items in groups of 4
// x 2.
//   g++ -std=c++17 -O2 groups.cpp -lOpenCL -o groups && ./groups
#include "course.hpp"

int main() {
  const Machine machine;
  constexpr int width = 8, height = 4;
  constexpr int group_width = 4, group_height = 2;
  const auto buffer = machine.buffer<cl_int4>(width * height);

  cl::Kernel kernel(machine.program(__FILE__), "places");
  kernel.setArg(0, buffer);
  machine.run(kernel, {width, height}, {group_width, group_height});
  const auto places = machine.read<cl_int4>(buffer, width * height);

  std::printf("group:(local x, local y) of each work-item\n\n");
  for (int y = 0; y < height; ++y) {
    for (int x = 0; x < width; ++x) {
      const cl_int4& place = places[static_cast<std::size_t>(y * width + x)];
      std::printf("%s%d:(%d,%d)",
                  x == 0                 ? ""
                  : x % group_width == 0 ? "  |  "
                                         : " ",
                  place.s[0], place.s[1], place.s[2]);
    }
    std::printf("\n");
    if (y % group_height == group_height - 1 && y + 1 < height) std::printf("\n");
  }

  bool holds = true;
  for (int i = 0; i < width * height; ++i) {
    const cl_int4& place = places[static_cast<std::size_t>(i)];
    const int group_x = place.s[0] % (width / group_width);
    holds = holds && place.s[3] == group_x * group_width + place.s[1];
  }
  std::printf("\nglobal id = group id * group size + local id: %s\n", holds ? "holds" : "FAILS");

  const auto& device = machine.device;
  const auto preferred =
      kernel.getWorkGroupInfo<CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE>(device);
  std::printf("\n%s:\n", device.getInfo<CL_DEVICE_NAME>().c_str());
  std::printf("  compute units %u, which run groups at the same time\n",
              device.getInfo<CL_DEVICE_MAX_COMPUTE_UNITS>());
  std::printf("  at most %zu work-items in a group\n",
              device.getInfo<CL_DEVICE_MAX_WORK_GROUP_SIZE>());
  std::printf("  groups should be multiples of %zu, which run in step\n", preferred);
  std::printf("  %llu KiB of local memory for a group\n",
              static_cast<unsigned long long>(device.getInfo<CL_DEVICE_LOCAL_MEM_SIZE>() / 1024));
}
