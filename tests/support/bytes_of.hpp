// A text as bytes.
#pragma once

#include <string_view>

#include "image/metadata.hpp"

namespace gpufilter::test {

[[nodiscard]] inline Bytes bytes_of(std::string_view text) {
  return {text.begin(), text.end()};
}

}  // namespace gpufilter::test
