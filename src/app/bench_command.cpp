#include "app/bench_command.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <string_view>

#include "app/bench_options.hpp"
#include "app/color_output.hpp"
#include "app/parse.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "bench/benches.hpp"

namespace gpufilter {
namespace {

int run_matmul(int argc, const char* const* argv) {
  BenchOptions common;
  bench::MatmulOptions options;
  CLI::App app(
      "Measures products of square matrices of float32: on the processor step by step from\n"
      "three plain loops to vectors on all cores, by OpenBLAS where it is installed, and by\n"
      "each kernel of a device.",
      "gpufilter bench matmul");
  add_numbers(app, "--sizes", options.sides, 1, 16384, "Rows and columns of the matrices");
  add_numbers(app, "--tile", options.tiles, 8, 32, "Tiles of the tiled kernel: 8, 16 or 32");
  app.add_flag("--plain", options.plain_always, "Measure the plain loop above 1024 too");
  app.add_option("--show", options.show,
                 "Print a corner of so many rows of A, B and C beside the processor's C")
      ->check(whole_number(1, 16))
      ->option_text("N");
  add_bench_options(app, common);
  app.footer(
      "Examples:\n"
      "  gpufilter bench matmul --sizes 64,127 --trials 2\n"
      "  gpufilter bench matmul --plot matmul.svg --show 4\n");
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  return finish_bench(common, [&] { return bench::bench_matmul(test_bed_of(common), options); });
}

struct BenchKind {
  std::string_view name;
  std::string_view summary;
  int (*run)(int argc, const char* const* argv);
};

constexpr std::array kinds{
    BenchKind{"matmul", "matrix products, from three plain loops to tuned kernels", run_matmul},
};

std::string list_of_kinds() {
  std::string list = "Benchmarks (each has a --help of its own):\n";
  for (const BenchKind& kind : kinds)
    list += formatted("  {:<12}{}\n", kind.name, kind.summary);
  return list;
}

std::string names_of_kinds() {
  std::vector<std::string_view> names;
  for (const BenchKind& kind : kinds)
    names.push_back(kind.name);
  return formatted("{}", fmt::join(names, ", "));
}

}  // namespace

int run_bench_command(int argc, const char* const* argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  for (const BenchKind& kind : kinds) {
    if (kind.name == name) return kind.run(argc - 1, argv + 1);
  }
  if (!name.empty() && !name.starts_with('-')) {
    throw UsageError(formatted("bench {}: choose one of {}", name, names_of_kinds()));
  }
  CLI::App app(
      "Measures this machine: its processor, and a device beside it. Every result is compared\n"
      "with a reference; a bit that differs ends the program with 1.",
      "gpufilter bench");
  add_color_output(app);
  app.footer(list_of_kinds());
  if (const auto done = parse_command_line(app, argc, argv)) return *done;
  throw UsageError(formatted("bench: say what to measure: {}", names_of_kinds()));
}

}  // namespace gpufilter
