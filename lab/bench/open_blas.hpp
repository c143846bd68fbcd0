// OpenBLAS, if it is installed, and how operands are stored. It is loaded at run time and not
// needed to build the program.
#pragma once

#include <cstddef>
#include <memory>
#include <string>

#include "lab/bench/host_products.hpp"

namespace gpufilter::lab {

// A transposed matrix is stored column by column.
struct Layout {
  bool a_transposed = false;
  bool b_transposed = false;
};

// "nn", "nt", "tn", "tt": a letter for A and one for B, t if it is transposed.
[[nodiscard]] Layout layout_of(const std::string& letters);

// Transposes the `rows` x `columns` matrix in `from` to `to`, which must not overlap it, on all
// cores.
void transpose(const float* from, std::size_t rows, std::size_t columns, float* to);

class OpenBlas {
 public:
  // nullptr if the library cannot be loaded.
  [[nodiscard]] static std::unique_ptr<OpenBlas> load();
  ~OpenBlas();
  OpenBlas(const OpenBlas&) = delete;
  OpenBlas& operator=(const OpenBlas&) = delete;

  // The library's own description: "OpenBLAS 0.3.21 ... Haswell".
  [[nodiscard]] const std::string& version() const { return version_; }

  // By cblas_sgemm on that many threads. It adds in its own order, so the last bits differ.
  void multiply(const Product& product, const Layout& layout, int threads) const;

 private:
  OpenBlas() = default;

  struct Functions;
  std::unique_ptr<Functions> functions_;
  std::string version_;
};

}  // namespace gpufilter::lab
