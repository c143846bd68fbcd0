// One loop instead of loops in loops.
#pragma once

#include <iterator>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "image/image.hpp"

namespace gpufilter::test {

using Sizes = std::vector<ImageSize>;
using Formats = std::vector<PixelFormat>;

template <typename T>
[[nodiscard]] const T& element_of(const T& element) {
  return element;
}
template <typename T>
[[nodiscard]] T* element_of(const std::unique_ptr<T>& element) {
  return element.get();
}

// Every combination of an element of each range, the last range's changing fastest. Elements are
// copied, and pointers to them where they are owned.
template <typename First, typename... Rest>
[[nodiscard]] auto each_of(const First& first, const Rest&... rest) {
  using Element = std::tuple<std::decay_t<decltype(element_of(*std::begin(first)))>>;
  if constexpr (sizeof...(rest) == 0) {
    std::vector<Element> all;
    for (const auto& element : first)
      all.emplace_back(element_of(element));
    return all;
  } else {
    const auto others = each_of(rest...);
    std::vector<decltype(std::tuple_cat(std::declval<Element>(), others.front()))> all;
    for (const auto& element : first) {
      for (const auto& other : others)
        all.push_back(std::tuple_cat(Element(element_of(element)), other));
    }
    return all;
  }
}

}  // namespace gpufilter::test
