#include <algorithm>
#include <array>

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
    std::copy_n(product.b + k * product.side + columns.begin, count, row);
    std::fill(row + count, row + width, 0.0F);
  }
}

// Continues the chains of `height` rows of a panel of C by the packed rows of B.
template <InstructionSet set, size_t height>
[[gnu::always_inline]] inline void continue_rows(const Product& product, Columns columns,
                                                 size_t row, size_t k_begin, size_t k_end,
                                                 const float* packed) {
  constexpr size_t width = width_of<set>;
  const size_t n = product.side;
  const size_t count = columns.end - columns.begin;
  std::array<std::array<float, width>, height> sums;
  for (size_t y = 0; y < height; ++y) {
    sums[y].fill(0);
    if (k_begin > 0) std::copy_n(product.c + (row + y) * n + columns.begin, count, sums[y].data());
  }
  for (size_t k = 0; k < k_end - k_begin; ++k) {
    const float* const b = packed + k * width;
    for (size_t y = 0; y < height; ++y) {
      const float factor = product.a[(row + y) * n + k_begin + k];
      for (size_t x = 0; x < width; ++x)
        sums[y][x] = fused_multiply_add<set>(factor, b[x], sums[y][x]);
    }
  }
  for (size_t y = 0; y < height; ++y)
    std::copy_n(sums[y].data(), count, product.c + (row + y) * n + columns.begin);
}

// Panels first ... last - 1 of C.
struct PanelLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Product* product, size_t first, size_t last) {
    constexpr size_t width = width_of<set>;
    const size_t n = product->side;
    alignas(64) PackedPanel packed;
    for (size_t panel = first; panel < last; ++panel) {
      const Columns columns{panel * width, std::min((panel + 1) * width, n)};
      for (size_t k = 0; k < n; k += panel_depth) {
        const size_t k_end = std::min(k + panel_depth, n);
        pack<width>(*product, columns, k, k_end, packed.data());
        size_t row = 0;
        for (; row + height_of<set> <= n; row += height_of<set>)
          continue_rows<set, height_of<set>>(*product, columns, row, k, k_end, packed.data());
        for (; row < n; ++row)
          continue_rows<set, 1>(*product, columns, row, k, k_end, packed.data());
      }
    }
  }
};

size_t panels_of(const Product& product) {
  const size_t width = instruction_set() == InstructionSet::avx512
                           ? width_of<InstructionSet::avx512>
                           : width_of<InstructionSet::baseline>;
  return (product.side + width - 1) / width;
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
    const size_t n = product->side;
    float* const c = product->c + row * n;
    for (size_t k = 0; k < n; ++k) {
      const float factor = product->a[row * n + k];
      const float* const b = product->b + k * n;
      for (size_t column = 0; column < n; ++column)
        c[column] = fused_multiply_add<set>(factor, b[column], c[column]);
    }
  }
};

}  // namespace

std::span<const HostProduct> host_products() {
  static const std::array products{
      HostProduct{"plain loop", "three loops, B read down its columns", multiply_plainly, true},
      HostProduct{"loops interchanged", "B and C read along their rows", multiply_interchanged},
      HostProduct{"blocked", "blocks in the caches, 4x4 sums in registers", multiply_blocked},
      HostProduct{"vectors", "the best instruction set, packed blocks", multiply_with_vectors},
      HostProduct{"all cores", "the same on every core", multiply_on_all_cores},
  };
  return products;
}

std::vector<float> reference_product(std::size_t side, const std::vector<float>& a,
                                     const std::vector<float>& b) {
  std::vector<float> c(side * side);
  const Product product{side, a.data(), b.data(), c.data()};
  run_parts(static_cast<int>(side),
            [&product](int row) { run_loop<ReferenceLoop>(&product, static_cast<size_t>(row)); });
  return c;
}

}  // namespace gpufilter::lab
