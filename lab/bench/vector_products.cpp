#include <algorithm>
#include <array>
#include <vector>

#include "host/arithmetic.hpp"
#include "host/loops.hpp"
#include "host/parallel.hpp"
#include "lab/bench/host_products.hpp"

namespace gpufilter::lab {
namespace {

using std::size_t;

// Rows and columns of sums that are kept in registers. With fewer than 32 columns, GCC splits the
// arrays into scalars and does not vectorise.
template <InstructionSet set>
constexpr size_t width_of = set == InstructionSet::avx512 ? 64 : 32;
template <InstructionSet set>
constexpr size_t height_of = set == InstructionSet::avx512 ? 6 : 3;

// Rows of B that are packed at a time: with the widest panel 64 KiB.
constexpr size_t panel_depth = 256;

constexpr size_t widest_panel = 64;
using PackedPanel = std::array<float, panel_depth * widest_panel>;

// A panel's columns of C.
struct Columns {
  size_t begin;
  size_t end;
};

// Rows k_begin ... k_end - 1 of the panel's columns of B one after the other; columns that do not
// exist are 0.
template <size_t width>
[[gnu::always_inline]] inline void pack(const Product& product, Columns columns, size_t k_begin,
                                        size_t k_end, float* packed) {
  const size_t count = columns.end - columns.begin;
  for (size_t k = k_begin; k < k_end; ++k) {
    float* const row = packed + (k - k_begin) * width;
    std::copy_n(product.b + k * product.columns + columns.begin, count, row);
    std::fill(row + count, row + width, 0.0F);
  }
}

// Continues the chains of `height` rows of a panel of C by the packed rows of B.
template <InstructionSet set, size_t height>
[[gnu::always_inline]] inline void continue_rows(const Product& product, Columns columns,
                                                 size_t row, size_t k_begin, size_t k_end,
                                                 const float* packed) {
  constexpr size_t width = width_of<set>;
  const size_t pitch = product.columns;
  const size_t count = columns.end - columns.begin;
  std::array<std::array<float, width>, height> sums;
  for (size_t y = 0; y < height; ++y) {
    sums[y].fill(0);
    if (k_begin > 0)
      std::copy_n(product.c + (row + y) * pitch + columns.begin, count, sums[y].data());
  }
  for (size_t k = 0; k < k_end - k_begin; ++k) {
    const float* const b = packed + k * width;
    for (size_t y = 0; y < height; ++y) {
      const float factor = product.a[(row + y) * product.depth + k_begin + k];
      for (size_t x = 0; x < width; ++x)
        sums[y][x] = fused_multiply_add<set>(factor, b[x], sums[y][x]);
    }
  }
  for (size_t y = 0; y < height; ++y)
    std::copy_n(sums[y].data(), count, product.c + (row + y) * pitch + columns.begin);
}

// Panels first ... last - 1 of C.
struct PanelLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Product* product, size_t first, size_t last) {
    constexpr size_t width = width_of<set>;
    const size_t rows = product->rows;
    const size_t depth = product->depth;
    alignas(64) PackedPanel packed;
    for (size_t panel = first; panel < last; ++panel) {
      const Columns columns{panel * width, std::min((panel + 1) * width, product->columns)};
      for (size_t k = 0; k < depth; k += panel_depth) {
        const size_t k_end = std::min(k + panel_depth, depth);
        pack<width>(*product, columns, k, k_end, packed.data());
        size_t row = 0;
        for (; row + height_of<set> <= rows; row += height_of<set>)
          continue_rows<set, height_of<set>>(*product, columns, row, k, k_end, packed.data());
        for (; row < rows; ++row)
          continue_rows<set, 1>(*product, columns, row, k, k_end, packed.data());
      }
    }
  }
};

size_t panels_of(const Product& product) {
  const size_t width = instruction_set() >= InstructionSet::avx512
                           ? width_of<InstructionSet::avx512>
                           : width_of<InstructionSet::baseline>;
  return (product.columns + width - 1) / width;
}

void multiply_with_vectors(const Product& product) {
  run_loop<PanelLoop>(&product, size_t{0}, panels_of(product));
}

void multiply_on_all_cores(const Product& product) {
  run_parts(static_cast<int>(panels_of(product)), [&product](int part) {
    const auto panel = static_cast<size_t>(part);
    run_loop<PanelLoop>(&product, panel, panel + 1);
  });
}

// One row of C.
struct ReferenceLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Product* product, size_t row) {
    const size_t columns = product->columns;
    float* const c = product->c + row * columns;
    for (size_t k = 0; k < product->depth; ++k) {
      const float factor = product->a[row * product->depth + k];
      const float* const b = product->b + k * columns;
      for (size_t column = 0; column < columns; ++column)
        c[column] = fused_multiply_add<set>(factor, b[column], c[column]);
    }
  }
};

// The loop in double precision, where the product of two floats is exact.
struct DoubleLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Product* product, size_t row, double* all) {
    const size_t columns = product->columns;
    double* const c = all + row * columns;
    for (size_t k = 0; k < product->depth; ++k) {
      const double factor = product->a[row * product->depth + k];
      const float* const b = product->b + k * columns;
      for (size_t column = 0; column < columns; ++column)
        c[column] += factor * b[column];
    }
  }
};

}  // namespace

std::span<const HostProduct> host_products() {
  static const std::vector<HostProduct> products = [] {
    std::vector<HostProduct> all(scalar_products().begin(), scalar_products().end());
    all.push_back({"vectors", "the best instruction set, packed blocks", multiply_with_vectors});
    all.push_back({"all cores", "the same on every core", multiply_on_all_cores});
    return all;
  }();
  return products;
}

std::vector<float> reference_product(const Product& product) {
  std::vector<float> c(product.rows * product.columns);
  Product of_reference = product;
  of_reference.c = c.data();
  run_parts(static_cast<int>(product.rows), [&of_reference](int row) {
    run_loop<ReferenceLoop>(&of_reference, static_cast<size_t>(row));
  });
  return c;
}

std::vector<double> product_in_double(const Product& product) {
  std::vector<double> c(product.rows * product.columns);
  run_parts(static_cast<int>(product.rows),
            [&](int row) { run_loop<DoubleLoop>(&product, static_cast<size_t>(row), c.data()); });
  return c;
}

}  // namespace gpufilter::lab
