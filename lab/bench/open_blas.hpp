// OpenBLAS, if it is installed. It is loaded at run time and not needed to build the program.
#pragma once

#include <memory>
#include <string>

#include "lab/bench/host_products.hpp"
#include "lab/bench/layout.hpp"

namespace gpufilter::lab {

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
