#include "lab/tune/low_product_oracle.hpp"

#include <algorithm>

#include "base/format.hpp"
#include "lab/products/host_low_product.hpp"

namespace gpufilter::lab {

LowProductOracle::LowProductOracle(const LowProduct& product)
    : product_(product),
      errors_(product),
      expected_(product.elements(), DeviceLowProduct::poisoned) {
  const Bits reference = reference_low_product(product);
  const auto columns = static_cast<std::ptrdiff_t>(product.shape.columns);
  for (const ProductPart& part : product.parts()) {
    const auto first = static_cast<std::ptrdiff_t>(part.a_row) * columns;
    std::copy_n(reference.begin() + first, static_cast<std::ptrdiff_t>(part.rows) * columns,
                expected_.begin() + first);
  }
}

std::optional<std::string> LowProductOracle::difference(const DeviceMethod& method, const Bits& c) {
  if (method.is_exact) return difference_from(expected_, c);
  if (const auto same = close_.find(method.algorithm); same != close_.end())
    return difference_from(same->second, c);
  const double error = errors_.of(c).of_sums;
  if (!(error <= largest_error_of_sums))  // nor a NaN
    return formatted("the error of the sums is {:.2g}", error);
  close_[method.algorithm] = c;
  return std::nullopt;
}

std::optional<std::string> LowProductOracle::difference_from(const Bits& expected,
                                                             const Bits& found) const {
  const auto [is, should_be] = std::mismatch(found.begin(), found.end(), expected.begin());
  if (is == found.end()) return std::nullopt;
  const LowShape& shape = product_.shape;
  const auto place = static_cast<std::size_t>(is - found.begin());
  return formatted("{}x{}x{}: row {}, column {}: bits {:08x} instead of {:08x}", shape.rows,
                   shape.depth, shape.columns, place / shape.columns, place % shape.columns, *is,
                   *should_be);
}

}  // namespace gpufilter::lab
