#include <algorithm>
#include <array>
#include <cstdio>
#include <optional>
#include <string_view>
#include <utility>

#include "app/cli/commands.hpp"
#include "app/cli/parse.hpp"
#include "app/filter/format_options.hpp"
#include "app/filter/stage_options.hpp"
#include "app/lab/lab_options.hpp"
#include "base/error.hpp"
#include "base/format.hpp"
#include "base/numbers.hpp"
#include "base/printable.hpp"
#include "base/words.hpp"
#include "lab/bench/benches.hpp"

namespace gpufilter {
namespace {

using lab::TestBed;

// "4096x16x256": rows and columns of C, and the length of each sum.
std::optional<MatrixShape> parsed_shape(const std::string& text) {
  constexpr int largest = 65536;
  MatrixShape shape;
  char more = 0;
  if (text.find_first_not_of("0123456789x") != std::string::npos ||
      std::sscanf(text.c_str(), "%6dx%6dx%6d%c", &shape.rows, &shape.columns, &shape.depth,
                  &more) != 3)
    return std::nullopt;
  const auto fits = [](int side) { return 1 <= side && side <= largest; };
  if (!fits(shape.rows) || !fits(shape.columns) || !fits(shape.depth)) return std::nullopt;
  return shape;
}

std::string objection_to_shape(const std::string& text) {
  if (parsed_shape(text)) return "";
  return formatted(
      "'{}' is not of the form ROWSxCOLUMNSxDEPTH with numbers from 1 to 65536, such as "
      "4096x16x256",
      text);
}

void add_shapes(Arguments& app, std::vector<std::string>& shapes,
                std::vector<std::string>& layouts) {
  app.add_option("--shapes", shapes,
                 "Measure products of these shapes instead: rows and columns of C, and the numbers "
                 "in each sum. The operands are whole numbers.")
      ->comma_list()
      ->check(objection_to_shape)
      ->option_text("ROWSxCOLUMNSxDEPTH,...");
  app.add_option("--layout", layouts,
                 "How A and B of --shapes are stored: n by rows, t transposed.")
      ->comma_list()
      ->check(one_of({"nn", "nt", "tn", "tt"}))
      ->option_text("nn|nt|tn|tt,... [nn]");
}

void check_shape_options(const Arguments& app) {
  const bool has_shapes = app.count("--shapes") > 0;
  if (!has_shapes && app.count("--layout") > 0)
    throw UsageError("--layout: is for --shapes, such as --shapes 4096x16x256");
  if (!has_shapes) return;
  for (const char* option : {"--sizes", "--tile", "--plain", "--show", "--explain"}) {
    if (app.count(option) > 0)
      throw UsageError(formatted("{}: is for square matrices; leave out --shapes", option));
  }
}

int run_matmul(int argc, const char* const* argv) {
  lab::MatmulOptions options;
  std::vector<std::string> shapes;
  lab::ShapeOptions of_shapes;
  BenchCommand bench(
      "Measures products of float32 matrices: on the processor from three plain loops to vectors "
      "on all cores, with OpenBLAS if it is installed, and with each kernel of a device.",
      "matmul",
      "reads, M: millions of numbers of A and B that the kernel's work-items read from\n"
      "global memory, counted in one more run by a build of the kernel that counts;\n"
      "of naive's: their share of the naive kernel's reads.\n"
      "\n"
      "With --type or --grouped, the table has one row for each way of multiplying\n"
      "each type, and the errors. --sizes is then\n"
      "4096,8192 on a GPU and 512,1024 elsewhere, and --shapes may replace it.\n"
      "\n"
      "Examples:\n"
      "  gpufilter bench matmul --sizes 64,127 --trials 2\n"
      "  gpufilter bench matmul --sizes 128 --trials 1 --plot matmul.svg --show 4\n"
      "  gpufilter bench matmul --sizes 128 --tile 16 --explain tiled\n"
      "  gpufilter bench matmul --sizes 64 --type int8-scaled,fp8-scaled\n"
      "  gpufilter bench matmul --shapes 4096x16x256 --layout nn,nt,tn,tt\n");
  add_numbers(bench.app, "--sizes", options.sides, whole_number(1, 16384),
              "Rows and columns of the matrices.");
  LowPrecisionOptions low(bench.app);
  add_numbers(bench.app, "--tile", options.tiles, one_of({"8", "16", "32"}),
              "Tiles of the tiled kernel: 8, 16 or 32.");
  bench.app.add_flag("--plain", options.plain_always, "Measure the plain loop above 1024 too.");
  bench.app
      .add_option("--show", options.show,
                  "Print a corner of N rows of A, B, C, and the processor's C.")
      ->check(whole_number(1, 16))
      ->option_text("N");
  bench.app
      .add_option("--explain", options.explain,
                  "Print the source of this kernel beside what its lines read from global memory.")
      ->check(one_of({"naive", "tiled"}))
      ->option_text("naive|tiled");
  add_shapes(bench.app, shapes, of_shapes.layouts);
  if (const auto done = bench.parse(argc, argv)) return *done;
  check_shape_options(bench.app);
  for (const std::string& shape : shapes)
    of_shapes.shapes.push_back(*parsed_shape(shape));
  if (low.is_requested()) {
    const auto chosen = low.chosen(bench.app, options.sides, of_shapes.shapes);
    return bench.finish([&](const TestBed& bed) { return lab::bench_low_matmul(bed, chosen); });
  }
  if (!shapes.empty()) {
    return bench.finish([&](const TestBed& bed) { return lab::bench_shapes(bed, of_shapes); });
  }
  return bench.finish([&](const TestBed& bed) { return lab::bench_matmul(bed, options); });
}

int run_copy(int argc, const char* const* argv) {
  lab::CopyOptions options;
  std::vector<std::string> sizes;
  BenchCommand bench(
      "Measures memory copies: by kernels and the driver on a device, by the processor, and "
      "between the two. No kernel that reads and writes as many bytes can be faster.",
      "copy", "Examples:\n  gpufilter bench copy --bytes 1M --trials 2\n");
  bench.app.add_option("--bytes", sizes, "Bytes to copy, or with K, M, G.")
      ->comma_list()
      ->check(byte_count())
      ->option_text("BYTES,... [GPU: 256M, else 64M]");
  if (const auto done = bench.parse(argc, argv)) return *done;
  for (const std::string& size : sizes)
    options.bytes.push_back(*parse_bytes(size));
  return bench.finish([&](const TestBed& bed) { return lab::bench_copy(bed, options); });
}

int run_parallel(int argc, const char* const* argv) {
  lab::ParallelOptions options;
  BenchCommand bench(
      "Measures how many work-items fill a device: chains of dependent multiply-adds, from one "
      "work-item beside one core to a million, in work-groups of several sizes.",
      "parallel", "Examples:\n  gpufilter bench parallel --items 1,100,10000 --trials 2\n");
  add_numbers(bench.app, "--items", options.items, whole_number(1, 1 << 28), "Work-items.");
  add_numbers(bench.app, "--groups", options.group_sizes, whole_number(1, 1024),
              "Work-items in a work-group.");
  if (const auto done = bench.parse(argc, argv)) return *done;
  std::ranges::sort(options.items);
  return bench.finish([&](const TestBed& bed) { return lab::bench_parallel(bed, options); });
}

int run_access(int argc, const char* const* argv) {
  lab::AccessOptions options;
  std::string bytes;
  BenchCommand bench(
      "Measures what neighbouring work-items should do alike: reads in strides, columns of local "
      "memory with and without padding, branches, and images instead of buffers.",
      "access", "Examples:\n  gpufilter bench access --bytes 1M --trials 2\n");
  bench.app.add_option("--bytes", bytes, "Bytes that each kernel reads, or with K, M, G.")
      ->check(byte_count())
      ->option_text("BYTES [GPU: 256M, else 16M]");
  add_numbers(bench.app, "--strides", options.strides,
              one_of({"1", "2", "4", "8", "16", "32", "64"}),
              "Stride between neighbouring work-items' words: 1 to 64.");
  add_numbers(bench.app, "--branches", options.branches, whole_number(1, 32),
              "Branches that neighbouring work-items take.");
  if (const auto done = bench.parse(argc, argv)) return *done;
  if (!bytes.empty()) options.bytes = *parse_bytes(bytes);
  return bench.finish([&](const TestBed& bed) { return lab::bench_access(bed, options); });
}

int run_pattern(const std::string& name, const std::string& description, int argc,
                const char* const* argv,
                lab::Report (*measure)(const TestBed& bed, const lab::PatternOptions& options)) {
  int values = 0;
  BenchCommand bench(
      description, name,
      formatted("Examples:\n  gpufilter bench {} --values 100000 --trials 2\n", name));
  bench.app.add_option("--values", values, "Values of the array.")
      ->check(whole_number(1, 1 << 28))
      ->option_text("N [GPU: 16777216, else 1048576]");
  if (const auto done = bench.parse(argc, argv)) return *done;
  const lab::PatternOptions options{static_cast<std::uint64_t>(values)};
  return bench.finish([&](const TestBed& bed) { return measure(bed, options); });
}

int run_histogram(int argc, const char* const* argv) {
  return run_pattern("histogram",
                     "Measures how fast bytes are counted, by atomic additions to global memory, "
                     "to local memory, and to several copies of the counters, for random bytes and "
                     "for equal ones, which all increment the same counter.",
                     argc, argv, lab::bench_histogram);
}

int run_scan(int argc, const char* const* argv) {
  return run_pattern("scan",
                     "Measures prefix sums, in which each result depends on all values before it: "
                     "by one work-item of each group, by doubling distances, and by a tree.",
                     argc, argv, lab::bench_scan);
}

int run_reduce(int argc, const char* const* argv) {
  lab::ReduceOptions options;
  std::vector<int> counts{1048576};
  BenchCommand bench(
      "Measures sums, products, extremes and bitwise combinations of arrays of integers and "
      "floats, with each path that the device offers and several sizes of work-groups, and how "
      "exact sums of floats are.",
      "reduce",
      "Examples:\n"
      "  gpufilter bench reduce --counts 10000 --trials 2\n"
      "  gpufilter bench reduce --accuracy\n");
  add_numbers(bench.app, "--counts", counts, whole_number(1, 1 << 28), "Values in the array.");
  add_numbers(bench.app, "--groups", options.group_sizes, whole_number(1, 1024),
              "Work-items in a work-group of the textbook kernel.");
  bench.app.add_flag(
      "--accuracy", options.accuracy_alone,
      "Only add up numbers 1.1: left to right, in stages, by a tree, by Kahan's method, "
      "in double.");
  if (const auto done = bench.parse(argc, argv)) return *done;
  options.counts.assign(counts.begin(), counts.end());
  return bench.finish([&](const TestBed& bed) { return lab::bench_reduce(bed, options); });
}

int run_pipeline(int argc, const char* const* argv) {
  lab::PipelineOptions options;
  BenchCommand bench(
      "Measures a whole run from file to file, the first and later ones: the share of each step, "
      "its lower bound, and the bottleneck. Nothing is written.",
      "pipeline", "Examples:\n  gpufilter bench pipeline in.png --blur auto --color sepia\n",
      "auto");
  bench.app.add_option("FILE", options.input, "A picture.")
      ->required()
      ->option_text(" ")
      ->suggests(picture_files());
  const StageOptions stages(bench.app);
  if (const auto done = bench.parse(argc, argv)) return *done;
  options.chain = stages.chain();
  options.device = std::exchange(bench.options.device, "cpu");  // runs choose their own
  options.require_device = std::exchange(bench.options.require_device, false);
  return bench.finish([&](const TestBed& bed) { return lab::bench_pipeline(bed, options); });
}

struct BenchKind {
  std::string_view name;
  std::string_view summary;
  int (*run)(int argc, const char* const* argv);
};

constexpr std::array kinds{
    BenchKind{"matmul", "matrix products, from three plain loops to tuned kernels", run_matmul},
    BenchKind{"blur", "--blur: naive, tiled, auto", run_bench_blur},
    BenchKind{"color", "--color", run_bench_color},
    BenchKind{"lookup", "look-up tables, as in --levels and --tonemap", run_bench_lookup},
    BenchKind{"stages", "any stages: --gaussian 2 --median 1", run_bench_stages},
    BenchKind{"roofline", "what limits each stage: memory or arithmetic", run_bench_roofline},
    BenchKind{"mlp", "--mlp: networks of several sizes", run_bench_mlp},
    BenchKind{"net", "--net: convolutional networks", run_bench_net},
    BenchKind{"reduce", "sums, products, extremes, bitwise combinations of arrays", run_reduce},
    BenchKind{"copy", "memory copies, an upper bound for the others", run_copy},
    BenchKind{"parallel", "how many work-items fill a device", run_parallel},
    BenchKind{"access", "strides, banks, branches, images, compared with a copy", run_access},
    BenchKind{"histogram", "atomic counters and contention", run_histogram},
    BenchKind{"scan", "prefix sums, whose results depend on each other", run_scan},
    BenchKind{"pipeline", "a picture from file to file", run_pipeline},
};

std::string list_of_kinds() {
  std::string list = "Benchmarks ('gpufilter help bench blur' explains one):\n";
  for (const BenchKind& kind : kinds)
    list += formatted("  {:<12}{}\n", kind.name, kind.summary);
  return list +
         "\nExamples:\n"
         "  gpufilter bench copy --bytes 1M --trials 2\n"
         "  gpufilter bench matmul --sizes 64,127 --trials 2\n";
}

[[noreturn]] void refuse_kind(const std::string& name) {
  const auto near = words_like(name, bench_names());
  throw UsageError(formatted("bench {}: unknown; {}", printable(name),
                             near.empty()
                                 ? formatted("choose one of {}", fmt::join(bench_names(), ", "))
                                 : formatted("did you mean {}?", enumerated(near, "or"))));
}

}  // namespace

std::vector<std::string> bench_names() {
  std::vector<std::string> names;
  names.reserve(kinds.size());
  for (const BenchKind& kind : kinds)
    names.emplace_back(kind.name);
  return names;
}

int run_bench_command(int argc, const char* const* argv) {
  const std::string name = argc > 1 ? argv[1] : "";
  for (const BenchKind& kind : kinds) {
    if (kind.name == name) return kind.run(argc - 1, argv + 1);
  }
  if (!name.empty() && !name.starts_with('-')) refuse_kind(name);
  if (name.empty()) {
    throw UsageError(formatted("bench: name what to measure: {}", fmt::join(bench_names(), ", ")));
  }
  Arguments app(
      "Measures the processor and an OpenCL device. Every result is compared with a reference; if "
      "a bit differs, the exit code is 1.",
      "gpufilter bench");
  std::string what;
  app.add_option("WHAT", what, "One of the benchmarks below.")
      ->required()
      ->suggests({.words = bench_names()});
  add_color_output(app);
  app.footer(list_of_kinds());
  return parse_command_line(app, argc, argv).value_or(0);
}

}  // namespace gpufilter
