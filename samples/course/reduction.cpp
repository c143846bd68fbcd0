// A reduction: 1,048,576 numbers become one. The order of the additions decides how wrong it is.
//   g++ -std=c++17 -O2 reduction.cpp -lOpenCL -o reduction && ./reduction
#include <cmath>

#include "course.hpp"

// The distance from the exact sum in units in the last place of a float of that size.
double ulps(float sum, double exact) {
  const double ulp = std::ldexp(1.0, std::ilogb(exact) - 23);
  return std::abs(static_cast<double>(sum) - exact) / ulp;
}

int main() {
  const Machine machine;
  constexpr std::size_t count = 1 << 20;
  constexpr std::size_t group = 256, groups = 64;
  const std::vector<float> numbers(count, 1.1f);
  const double exact = static_cast<double>(1.1f) * count;  // a power of two only moves the point

  const auto in = machine.buffer(numbers);
  const auto sums = machine.buffer<float>(groups);
  cl::Kernel kernel(machine.program(__FILE__, "-D GROUP=256"), "sum");
  kernel.setArg(0, in);
  kernel.setArg(1, sums);
  kernel.setArg(2, static_cast<int>(count));
  const double ms = machine.run(kernel, groups * group, group);

  float of_groups = 0;
  for (const float sum : machine.read<float>(sums, groups))
    of_groups += sum;
  float left_to_right = 0;
  const double host_ms = milliseconds([&] {
    for (const float number : numbers)
      left_to_right += number;
  });

  std::printf("1.1, added %zu times\n\n", count);
  std::printf("%32s   error, ulp        time\n", "sum");
  std::printf("left to right    %15.3f %12.1f %8.3f ms\n", static_cast<double>(left_to_right),
              ulps(left_to_right, exact), host_ms);
  std::printf("%zu groups of %zu %15.3f %12.1f %8.3f ms\n", groups, group,
              static_cast<double>(of_groups), ulps(of_groups, exact), ms);
  std::printf("exact            %15.3f\n\n", exact);
  std::printf(
      "Look at: a large sum swallows the last bits of each small number; sums of 64\n"
      "numbers, then of %zu, then of %zu stay small for longer.\n",
      group, groups);
}
