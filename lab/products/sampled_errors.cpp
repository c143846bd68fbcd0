#include "lab/products/sampled_errors.hpp"

#include <algorithm>
#include <bit>
#include <cmath>

#include "base/format.hpp"
#include "host/parallel.hpp"
#include "lab/products/low_product.hpp"

namespace gpufilter::lab {
namespace {

constexpr std::size_t samples_a_side = 32;

// Up to 32 numbers from 0 to count - 1, evenly spread, the first and the last among them.
std::vector<std::size_t> spread_over(std::size_t count) {
  const std::size_t wanted = std::min(count, samples_a_side);
  std::vector<std::size_t> places(wanted, 0);
  for (std::size_t i = 1; i < wanted; ++i)
    places[i] = i * (count - 1) / (wanted - 1);
  return places;
}

}  // namespace

SampledErrors::SampledErrors(const LowProduct& product) : type_(product.type()) {
  struct Element {
    std::size_t a_row;
    std::size_t b_row;
  };
  std::vector<Element> elements;
  for (const ProductPart& part : product.parts()) {
    for (const std::size_t row : spread_over(part.rows)) {
      for (const std::size_t column : spread_over(product.shape.columns)) {
        elements.push_back({part.a_row + row, part.b_row + column});
        samples_.push_back({(part.a_row + row) * product.shape.columns + column, 0, 0});
      }
    }
  }
  const NumberSource a(seed_of_a);
  const NumberSource b(seed_of_b);
  const bool is_plain = type_ == NumberType::int8;
  run_parts(static_cast<int>(elements.size()), [&](int index) {
    const auto [a_row, b_row] = elements[static_cast<std::size_t>(index)];
    Sample& sample = samples_[static_cast<std::size_t>(index)];
    for (std::size_t k = 0; k < product.shape.depth; ++k) {
      sample.rounded += product.a.value(a_row, k) * product.b.value(b_row, k);
      if (!is_plain) sample.exact += double{a.number(a_row, k)} * double{b.number(b_row, k)};
    }
    if (is_plain) sample.exact = sample.rounded;
  });
}

ProductErrors SampledErrors::of(const std::vector<std::uint32_t>& c) const {
  double squares = 0;
  ProductErrors errors;
  for (const Sample& sample : samples_) {
    const std::uint32_t bits = c[sample.index];
    const double is = type_ == NumberType::int8
                          ? static_cast<double>(std::bit_cast<std::int32_t>(bits))
                          : static_cast<double>(std::bit_cast<float>(bits));
    squares += sample.exact * sample.exact;
    errors.rms += (is - sample.exact) * (is - sample.exact);
    errors.of_sums += (is - sample.rounded) * (is - sample.rounded);
    errors.largest = std::max(errors.largest, std::abs(is - sample.exact));
  }
  if (squares == 0) return {};
  const double scale = std::sqrt(squares / static_cast<double>(samples_.size()));
  return {std::sqrt(errors.rms / squares), errors.largest / scale,
          std::sqrt(errors.of_sums / squares)};
}

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
