// OpenBLAS, where it is installed: looked for when the program runs, and not needed to build it.
#pragma once

#include <memory>
#include <string>

#include "bench/host_products.hpp"

namespace gpufilter::bench {

class OpenBlas {
 public:
  // nullptr where no library of that name can be loaded.
  [[nodiscard]] static std::unique_ptr<OpenBlas> load();
  ~OpenBlas();
  OpenBlas(const OpenBlas&) = delete;
  OpenBlas& operator=(const OpenBlas&) = delete;

  // What the library says of itself: "OpenBLAS 0.3.21 ... Haswell".
  [[nodiscard]] const std::string& version() const { return version_; }

  // By cblas_sgemm on so many threads. It adds in an order of its own: the last bits differ.
  void multiply(const Product& product, int threads) const;

 private:
  OpenBlas() = default;

  struct Functions;
  std::unique_ptr<Functions> functions_;
  std::string version_;
};

}  // namespace gpufilter::bench
