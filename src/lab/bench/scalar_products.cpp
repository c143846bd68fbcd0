// Products without vector instructions: src/CMakeLists.txt has this file compiled without them.
#include <algorithm>
#include <array>

#include "host/arithmetic.hpp"
#include "host/loops.hpp"
#include "lab/bench/host_products.hpp"

namespace gpufilter::lab {
namespace {

using std::size_t;

struct PlainLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Product* product) {
    const size_t n = product->side;
    for (size_t row = 0; row < n; ++row) {
      for (size_t column = 0; column < n; ++column) {
        float sum = 0;
        for (size_t k = 0; k < n; ++k) {
          sum = fused_multiply_add<set>(product->a[row * n + k], product->b[k * n + column], sum);
        }
        product->c[row * n + column] = sum;
      }
    }
  }
};

struct InterchangedLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Product* product) {
    const size_t n = product->side;
    for (size_t row = 0; row < n; ++row) {
      float* const c = product->c + row * n;
      std::fill_n(c, n, 0.0F);
      for (size_t k = 0; k < n; ++k) {
        const float factor = product->a[row * n + k];
        const float* const b = product->b + k * n;
        for (size_t column = 0; column < n; ++column)
          c[column] = fused_multiply_add<set>(factor, b[column], c[column]);
      }
    }
  }
};

// A block of B of 64 KiB stays in the second cache, 4 columns of it in the first.
constexpr size_t block_depth = 128;
constexpr size_t block_width = 128;
constexpr size_t tile = 4;

// Continues the chains of `height` x `width` sums of C by the block's part of k.
template <InstructionSet set, size_t height, size_t width>
[[gnu::always_inline]] inline void continue_sums(const Product& product, size_t row, size_t column,
                                                 size_t k_begin, size_t k_end) {
  const size_t n = product.side;
  std::array<std::array<float, width>, height> sums;
  for (size_t y = 0; y < height; ++y) {
    for (size_t x = 0; x < width; ++x)
      sums[y][x] = k_begin == 0 ? 0 : product.c[(row + y) * n + column + x];
  }
  for (size_t k = k_begin; k < k_end; ++k) {
    for (size_t y = 0; y < height; ++y) {
      const float factor = product.a[(row + y) * n + k];
      for (size_t x = 0; x < width; ++x)
        sums[y][x] = fused_multiply_add<set>(factor, product.b[k * n + column + x], sums[y][x]);
    }
  }
  for (size_t y = 0; y < height; ++y) {
    for (size_t x = 0; x < width; ++x)
      product.c[(row + y) * n + column + x] = sums[y][x];
  }
}

struct BlockedLoop {
  template <InstructionSet set>
  [[gnu::always_inline]] static void run(const Product* product) {
    const size_t n = product->side;
    for (size_t left = 0; left < n; left += block_width) {
      const size_t right = std::min(left + block_width, n);
      for (size_t k = 0; k < n; k += block_depth) {
        const size_t k_end = std::min(k + block_depth, n);
        for (size_t row = 0; row < n; row += tile) {
          if (row + tile <= n) {
            walk<set, tile>(*product, row, left, right, k, k_end);
          } else {
            for (size_t y = row; y < n; ++y)
              walk<set, 1>(*product, y, left, right, k, k_end);
          }
        }
      }
    }
  }

 private:
  template <InstructionSet set, size_t height>
  [[gnu::always_inline]] static void walk(const Product& product, size_t row, size_t left,
                                          size_t right, size_t k_begin, size_t k_end) {
    size_t column = left;
    for (; column + tile <= right; column += tile)
      continue_sums<set, height, tile>(product, row, column, k_begin, k_end);
    for (; column < right; ++column)
      continue_sums<set, height, 1>(product, row, column, k_begin, k_end);
  }
};

}  // namespace

void multiply_plainly(const Product& product) {
  run_loop<PlainLoop>(&product);
}

void multiply_interchanged(const Product& product) {
  run_loop<InterchangedLoop>(&product);
}

void multiply_blocked(const Product& product) {
  run_loop<BlockedLoop>(&product);
}

}  // namespace gpufilter::lab
