// Products without vector instructions: src/CMakeLists.txt has this file compiled without them.
#include <algorithm>
#include <array>
#include <limits>

#include "host/arithmetic.hpp"
#include "host/loops.hpp"
#include "lab/bench/host_products.hpp"

namespace gpufilter::lab {
namespace {

using std::size_t;

template <InstructionSet set, bool fused>
[[gnu::always_inline]] inline float add_product(float a, float b, float sum) {
  if constexpr (fused) return fused_multiply_add<set>(a, b, sum);
  return sum + a * b;
}

template <bool fused>
struct PlainLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Product* product) {
    const size_t columns = product->columns;
    const size_t depth = product->depth;
    for (size_t row = 0; row < product->rows; ++row) {
      for (size_t column = 0; column < columns; ++column) {
        float sum = 0;
        for (size_t k = 0; k < depth; ++k) {
          sum = add_product<set, fused>(product->a[row * depth + k],
                                        product->b[k * columns + column], sum);
        }
        product->c[row * columns + column] = sum;
      }
    }
  }
};

template <bool fused>
struct InterchangedLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Product* product) {
    const size_t columns = product->columns;
    const size_t depth = product->depth;
    for (size_t row = 0; row < product->rows; ++row) {
      float* const c = product->c + row * columns;
      std::fill_n(c, columns, 0.0F);
      for (size_t k = 0; k < depth; ++k) {
        const float factor = product->a[row * depth + k];
        const float* const b = product->b + k * columns;
        for (size_t column = 0; column < columns; ++column)
          c[column] = add_product<set, fused>(factor, b[column], c[column]);
      }
    }
  }
};

// Rows and columns of sums in registers.
constexpr size_t tile = 4;
// Steps of k between the request for a row of B and its use.
constexpr size_t prefetch_distance = 8;

// Continues the chains of `height` x `width` sums of C by a part of k.
template <InstructionSet set, size_t height, size_t width, bool prefetched>
[[gnu::always_inline]] inline void continue_sums(const Product& product, size_t row, size_t column,
                                                 size_t k_begin, size_t k_end) {
  const size_t columns = product.columns;
  const size_t depth = product.depth;
  std::array<std::array<float, width>, height> sums;
  for (size_t y = 0; y < height; ++y) {
    for (size_t x = 0; x < width; ++x)
      sums[y][x] = k_begin == 0 ? 0 : product.c[(row + y) * columns + column + x];
  }
  for (size_t k = k_begin; k < k_end; ++k) {
    if constexpr (prefetched) {
      const size_t later = std::min(k + prefetch_distance, k_end - 1);
      __builtin_prefetch(product.b + later * columns + column);
    }
    for (size_t y = 0; y < height; ++y) {
      const float factor = product.a[(row + y) * depth + k];
      for (size_t x = 0; x < width; ++x) {
        sums[y][x] =
            fused_multiply_add<set>(factor, product.b[k * columns + column + x], sums[y][x]);
      }
    }
  }
  for (size_t y = 0; y < height; ++y) {
    for (size_t x = 0; x < width; ++x)
      product.c[(row + y) * columns + column + x] = sums[y][x];
  }
}

// The block of a step: `depth` rows and `columns` columns of B, `rows` rows of A.
constexpr size_t whole = std::numeric_limits<size_t>::max();
struct Blocks {
  size_t columns = whole;
  size_t depth = whole;
  size_t rows = whole;
};
// Four columns of 256 rows of B, each in a line of 64 bytes: 16 KiB.
constexpr Blocks for_l1{.depth = 256};
// In addition, 64 rows of A: 64 KiB.
constexpr Blocks for_l2{.depth = 256, .rows = 64};
// In addition, 1024 columns of B: 1 MiB.
constexpr Blocks for_l3{.columns = 1024, .depth = 256, .rows = 64};

struct Part {
  size_t begin;
  size_t end;
};

template <typename Work>
[[gnu::always_inline]] inline void for_parts(Part all, size_t size, const Work& work) {
  for (size_t begin = all.begin; begin < all.end;) {
    const size_t end = begin + std::min(size, all.end - begin);
    work(Part{begin, end});
    begin = end;
  }
}

template <bool prefetched>
struct BlockedLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Product* product, Blocks blocks) {
    for_parts(
        {0, product->columns}, blocks.columns, [&](Part columns) __attribute__((always_inline)) {
          for_parts(
              {0, product->depth}, blocks.depth, [&](Part depth) __attribute__((always_inline)) {
                for_parts(
                    {0, product->rows}, blocks.rows, [&](Part rows) __attribute__((always_inline)) {
                      size_t column = columns.begin;
                      for (; column + tile <= columns.end; column += tile)
                        walk_down<set, tile>(*product, rows, column, depth);
                      for (; column < columns.end; ++column)
                        walk_down<set, 1>(*product, rows, column, depth);
                    });
              });
        });
  }

 private:
  template <InstructionSet set, size_t width>
  [[gnu::always_inline]] static void walk_down(const Product& product, Part rows, size_t column,
                                               Part depth) {
    size_t row = rows.begin;
    for (; row + tile <= rows.end; row += tile)
      continue_sums<set, tile, width, prefetched>(product, row, column, depth.begin, depth.end);
    for (; row < rows.end; ++row)
      continue_sums<set, 1, width, prefetched>(product, row, column, depth.begin, depth.end);
  }
};

template <bool fused>
void multiply_plainly(const Product& product) {
  run_loop<PlainLoop<fused>>(&product);
}

template <bool fused>
void multiply_interchanged(const Product& product) {
  run_loop<InterchangedLoop<fused>>(&product);
}

template <bool prefetched>
void multiply_in(const Product& product, const Blocks& blocks) {
  run_loop<BlockedLoop<prefetched>>(&product, blocks);
}

}  // namespace

std::span<const HostProduct> scalar_products() {
  static const std::array products{
      HostProduct{"plain loop, no FMA", "three loops; products are rounded, then added",
                  multiply_plainly<false>, true, false},
      HostProduct{"plain loop", "products and sums in one rounding", multiply_plainly<true>, true},
      HostProduct{"loops interchanged, no FMA", "B and C read along their rows",
                  multiply_interchanged<false>, false, false},
      HostProduct{"loops interchanged", "the same with one rounding", multiply_interchanged<true>},
      HostProduct{"in registers", "4x4 sums in registers",
                  [](const Product& product) { multiply_in<false>(product, {}); }},
      HostProduct{"in registers, L1", "256 rows of B at a time stay in the first cache",
                  [](const Product& product) { multiply_in<false>(product, for_l1); }},
      HostProduct{"in registers, L1, L2", "64 rows of A stay in the second",
                  [](const Product& product) { multiply_in<false>(product, for_l2); }},
      HostProduct{"in registers, L1, L2, L3", "1024 columns of B stay in the third",
                  [](const Product& product) { multiply_in<false>(product, for_l3); }},
      HostProduct{"prefetched", "rows of B are requested 8 steps ahead",
                  [](const Product& product) { multiply_in<true>(product, for_l3); }},
  };
  return products;
}

}  // namespace gpufilter::lab
