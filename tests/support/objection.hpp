// What a refusal says.
#pragma once

#include <string>

#include "base/error.hpp"

namespace gpufilter::test {

// The message of the UsageError that `action` ends with; "none" if it does not.
template <typename Action>
[[nodiscard]] std::string objection_to(const Action& action) {
  try {
    static_cast<void>(action());
  } catch (const UsageError& error) {
    return error.what();
  }
  return "none";
}

}  // namespace gpufilter::test
