// Products of matrices, naive and by tiles; then two of them as a neural network of two layers.
//   g++ -std=c++17 -O2 matrix-product.cpp -lOpenCL -o matrix-product && ./matrix-product
#include <algorithm>
#include <cmath>

#include "course.hpp"

using Numbers = std::vector<float>;

// From -1 to 1, the same in each run.
Numbers random_numbers(std::size_t count) {
  Numbers numbers(count);
  unsigned state = 1;
  for (float& number : numbers) {
    state = state * 1664525 + 1013904223;
    number = static_cast<float>(static_cast<int>(state >> 16) - 32768) / 32768;
  }
  return numbers;
}

Numbers product_on_host(const Numbers& a, const Numbers& b, int n, int m, int depth, bool relu) {
  Numbers c;
  for (int row = 0; row < n; ++row)
    for (int column = 0; column < m; ++column) {
      float sum = 0;
      for (int k = 0; k < depth; ++k)
        sum = std::fma(a[static_cast<std::size_t>(row * depth + k)],
                       b[static_cast<std::size_t>(k * m + column)], sum);
      c.push_back(relu ? std::max(sum, 0.0f) : sum);
    }
  return c;
}

// Fills c; returns the milliseconds. The results stay on the device.
double product(const Machine& machine, cl::Kernel kernel, const cl::Buffer& a, const cl::Buffer& b,
               const cl::Buffer& c, int n, int m, int depth) {
  int place = 0;
  for (const cl::Buffer& buffer : {a, b, c})
    kernel.setArg(static_cast<cl_uint>(place++), buffer);
  for (const int size : {n, m, depth})
    kernel.setArg(static_cast<cl_uint>(place++), size);
  return machine.run(kernel,
                     {whole_groups(static_cast<std::size_t>(m), 16),
                      whole_groups(static_cast<std::size_t>(n), 16)},
                     {16, 16});
}

int main() {
  const Machine machine;
  const cl::Program plain = machine.program(__FILE__), relu = machine.program(__FILE__, "-D RELU");

  constexpr int side = 250;
  const Numbers a = random_numbers(side * side), b = random_numbers(side * side);
  const auto c = machine.buffer<float>(side * side);
  const Numbers expected = product_on_host(a, b, side, side, side, false);
  std::printf("C = A B, %d x %d\n\n", side, side);
  std::printf("               time   GFLOPS  reads, M  results\n");
  for (const char* name : {"naive", "tiled"}) {
    const double ms = product(machine, cl::Kernel(plain, name), machine.buffer(a),
                              machine.buffer(b), c, side, side, side);
    const double operations = 2.0 * side * side * side;
    const double reads = name[0] == 'n' ? operations : 256.0 * 256 * 256 * 2 / 16;
    std::printf("%-7s %8.3f ms %8.2f %9.2f  %s\n", name, ms, operations / ms / 1e6, reads / 1e6,
                verdict(machine.read<float>(c, side * side) == expected));
  }

  // 100 inputs of 64 numbers -> 32 numbers, negative ones 0 -> 10 numbers.
  const Numbers inputs = random_numbers(100 * 64), first = random_numbers(64 * 32);
  const Numbers second = random_numbers(32 * 10);
  const auto hidden = machine.buffer<float>(100 * 32), outputs = machine.buffer<float>(100 * 10);
  product(machine, cl::Kernel(relu, "tiled"), machine.buffer(inputs), machine.buffer(first), hidden,
          100, 32, 64);
  product(machine, cl::Kernel(plain, "tiled"), hidden, machine.buffer(second), outputs, 100, 10,
          32);
  const Numbers answer = machine.read<float>(outputs, 100 * 10);
  const Numbers hidden_on_host = product_on_host(inputs, first, 100, 32, 64, true);
  std::printf("\na network 64 -> 32 -> ReLU -> 10, for the first of 100 inputs:\n ");
  for (std::size_t i = 0; i < 10; ++i)
    std::printf(" %.3f", static_cast<double>(answer[i]));
  std::printf("\nresults %s\n\n",
              verdict(answer == product_on_host(hidden_on_host, second, 100, 10, 32, false)));
  std::printf("Look at: the bits are equal because all add in the order k = 0, 1, 2, ...\n");
}
