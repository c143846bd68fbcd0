// Compiling when the program runs: the same kernel with its weights as arguments and as literals.
//   g++ -std=c++17 -O2 constants.cpp -lOpenCL -o constants && ./constants
#include "course.hpp"

int main() {
  const Machine machine;
  constexpr int width = 1000, height = 700, radius = 2;
  constexpr std::size_t count = width * height;
  std::vector<float> picture(count);
  for (std::size_t i = 0; i < count; ++i)
    picture[i] = static_cast<float>(i % 251);

  // A pyramid: 1 2 3 2 1, 2 4 6 4 2, ... divided by 81.
  std::vector<float> weights;
  std::string literals;
  for (const int a : {1, 2, 3, 2, 1})
    for (const int b : {1, 2, 3, 2, 1}) {
      weights.push_back(static_cast<float>(a * b) / 81);
      char literal[32];
      std::snprintf(literal, sizeof literal, "%s%.9gf", literals.empty() ? "" : ",",
                    static_cast<double>(weights.back()));  // 9 digits give the same bits
      literals += literal;
    }

  std::vector<float> results[2];
  std::printf("weights and radius   compiling          time\n");
  for (const bool constant : {false, true}) {
    const std::string options =
        constant ? "-D RADIUS=" + std::to_string(radius) + " -D WEIGHTS=" + literals : "";
    cl::Program program;
    const double compiling = milliseconds([&] { program = machine.program(__FILE__, options); });
    cl::Kernel kernel(program, "convolve");
    const auto in = machine.buffer(picture), out = machine.buffer<float>(count);
    kernel.setArg(0, in);
    kernel.setArg(1, out);
    kernel.setArg(2, width);
    kernel.setArg(3, height);
    const auto table = machine.buffer(weights);
    if (!constant) {
      kernel.setArg(4, table);
      kernel.setArg(5, radius);
    }
    const double ms =
        machine.run(kernel, {whole_groups(width, 16), whole_groups(height, 16)}, {16, 16});
    std::printf("%-16s %9.1f ms %10.3f ms\n", constant ? "literals" : "arguments", compiling, ms);
    results[constant ? 1 : 0] = machine.read<float>(out, count);
  }
  std::printf("results %s\n\n", verdict(results[0] == results[1]));
  std::printf("Look at: compiling takes longer than running; programs keep what it gave.\n");
}
