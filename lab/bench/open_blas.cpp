#include "lab/bench/open_blas.hpp"

#include <algorithm>

#include <dlfcn.h>

#include "host/parallel.hpp"

namespace gpufilter::lab {
namespace {

// Rows and columns of a tile whose lines stay in the first cache.
constexpr std::size_t cached_tile = 32;

}  // namespace

Layout layout_of(const std::string& letters) {
  return {letters.front() == 't', letters.back() == 't'};
}

void transpose(const float* from, std::size_t rows, std::size_t columns, float* to) {
  const std::size_t parts = (rows + cached_tile - 1) / cached_tile;
  run_parts(static_cast<int>(parts), [=](int part) {
    const std::size_t top = static_cast<std::size_t>(part) * cached_tile;
    const std::size_t bottom = std::min(top + cached_tile, rows);
    for (std::size_t left = 0; left < columns; left += cached_tile) {
      const std::size_t right = std::min(left + cached_tile, columns);
      for (std::size_t y = top; y < bottom; ++y) {
        for (std::size_t x = left; x < right; ++x)
          to[x * rows + y] = from[y * columns + x];
      }
    }
  });
}

namespace {

// From cblas.h.
constexpr int row_major = 101;
constexpr int not_transposed = 111;
constexpr int transposed = 112;

using Sgemm = void(int order, int transpose_a, int transpose_b, int rows, int columns, int depth,
                   float alpha, const float* a, int row_of_a, const float* b, int row_of_b,
                   float beta, float* c, int row_of_c);

template <typename Function>
Function* find(void* library, const char* name) {
  return reinterpret_cast<Function*>(dlsym(library, name));
}

}  // namespace

struct OpenBlas::Functions {
  Sgemm* sgemm;
  void (*set_threads)(int);
  char* (*config)();
};

std::unique_ptr<OpenBlas> OpenBlas::load() {
  for (const char* name : {"libopenblas.so.0", "libopenblas.so"}) {
    void* library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) continue;
    std::unique_ptr<OpenBlas> blas(new OpenBlas);
    blas->functions_ = std::make_unique<Functions>(Functions{
        find<Sgemm>(library, "cblas_sgemm"), find<void(int)>(library, "openblas_set_num_threads"),
        find<char*()>(library, "openblas_get_config")});
    const Functions& found = *blas->functions_;
    if (found.sgemm == nullptr || found.set_threads == nullptr || found.config == nullptr) continue;
    blas->version_ = found.config();
    return blas;
  }
  return nullptr;
}

// The library is never unloaded: its threads may still be running its code.
OpenBlas::~OpenBlas() = default;

void OpenBlas::multiply(const Product& product, const Layout& layout, int threads) const {
  const auto rows = static_cast<int>(product.rows);
  const auto columns = static_cast<int>(product.columns);
  const auto depth = static_cast<int>(product.depth);
  functions_->set_threads(threads);
  functions_->sgemm(row_major, layout.a_transposed ? transposed : not_transposed,
                    layout.b_transposed ? transposed : not_transposed, rows, columns, depth, 1.0F,
                    product.a, layout.a_transposed ? rows : depth, product.b,
                    layout.b_transposed ? depth : columns, 0.0F, product.c, columns);
}

}  // namespace gpufilter::lab
