// The benchmarks. Each measures one kind of work by every method that this program has, and
// compares the bits of every result with a reference.
#pragma once

#include <string>
#include <vector>

#include "compute/matrix_product.hpp"
#include "image/rows.hpp"
#include "lab/bench/report.hpp"
#include "pipeline/plan/plan.hpp"

namespace gpufilter::lab {

// Products of square matrices of float32.
struct MatmulOptions {
  std::vector<int> sides{128, 256, 512, 1024, 2048};
  std::vector<int> tiles{8, 16, 32};
  bool plain_always = false;  // the plain loop for sides above 1024 too
  int show = 0;               // rows and columns of corners to show; 0: none
  std::string explain = {};   // "naive" or "tiled": the kernel to show beside its reads
};
[[nodiscard]] Report bench_matmul(const TestBed& bed, const MatmulOptions& options);

// Products of integer-valued matrices of any shape and layout: they are exact in any order of the
// additions, and so equal everywhere.
struct ShapeOptions {
  std::vector<MatrixShape> shapes;
  std::vector<std::string> layouts{"nn"};  // as layout_of() takes them
};
[[nodiscard]] Report bench_shapes(const TestBed& bed, const ShapeOptions& options);

// Pictures that stages are measured with.
struct PictureOptions {
  ImageSize size;  // of nothing: 8192x8192 for a GPU, else 2048x1536
  std::vector<int> channels{4};
  std::vector<int> depths{8};
};
// One measured variant of a stage. Cases of one name differ only in the kernel, and the processor
// measures only the first.
struct StageCase {
  std::string name;    // "blur", "sepia", "3-16-16-3"
  std::string kernel;  // "naive", "tiled 16", "auto"
  std::shared_ptr<const Stage> stage;
  double operations_a_pixel = 0;  // multiply-adds, where those are worth a column
};
[[nodiscard]] Report bench_stages(const TestBed& bed, const std::string& bench,
                                  const PictureOptions& pictures,
                                  const std::vector<StageCase>& cases);

// Operations a second of each case beside what memory and arithmetic allow.
[[nodiscard]] Report bench_roofline(const TestBed& bed, const PictureOptions& pictures,
                                    const std::vector<StageCase>& cases);

// Memory: copies on the device and on the processor, and between them.
struct CopyOptions {
  std::vector<std::uint64_t> bytes;  // empty: 256 MiB for a GPU, else 64 MiB
};
[[nodiscard]] Report bench_copy(const TestBed& bed, const CopyOptions& options);

// Chains of dependent multiply-adds: how many work-items it takes to fill a device.
struct ParallelOptions {
  std::vector<int> items{1, 10, 100, 1000, 10000, 100000, 1000000};
  std::vector<int> group_sizes{1, 4, 16, 64, 256, 1024};
};
[[nodiscard]] Report bench_parallel(const TestBed& bed, const ParallelOptions& options);

// Access patterns of neighbouring work-items, compared with a copy: strides, columns of local
// memory, different branches, images.
struct AccessOptions {
  std::uint64_t bytes = 0;  // that each kernel reads; 0: 256 MiB for a GPU, else 16 MiB
  std::vector<int> strides{1, 2, 4, 8, 16, 32, 64};
  std::vector<int> branches{1, 2, 4, 8, 16, 32};
};
[[nodiscard]] Report bench_access(const TestBed& bed, const AccessOptions& options);

// Histograms of bytes, and prefix sums of whole numbers.
struct PatternOptions {
  std::uint64_t values = 0;  // 0: 16 million for a GPU, else one million
};
[[nodiscard]] Report bench_histogram(const TestBed& bed, const PatternOptions& options);
[[nodiscard]] Report bench_scan(const TestBed& bed, const PatternOptions& options);

// Sums, products, extremes and bit combinations of arrays.
struct ReduceOptions {
  std::vector<std::uint64_t> counts{std::uint64_t{1} << 20U};  // values
  std::vector<int> group_sizes{31, 32, 64};
  bool accuracy_alone = false;  // only sums of 1.1, added up in several ways
};
[[nodiscard]] Report bench_reduce(const TestBed& bed, const ReduceOptions& options);

// Filters a picture from file to file: the first run, which compiles programs, and later ones.
struct PipelineOptions {
  std::string input;
  StageChain chain;
  std::string device;  // as for a filter run
  bool require_device = false;
};
[[nodiscard]] Report bench_pipeline(const TestBed& bed, const PipelineOptions& options);

}  // namespace gpufilter::lab
